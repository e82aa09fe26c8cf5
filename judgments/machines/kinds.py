"""Kinds of machine judge: the service that each kind calls, its requirements, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from assay.core.errors import NotValid, UnknownName
from assay.core.parameters import Parameter
from assay.llm.judge import JudgeKind, Need
from assay.llm.judges import JUDGES, MODEL_JUDGES
from assay.llm.judges.model_judge import ModelJudgeKind

Asks = Literal["model", "machine", "judges"]
Says = Literal["grade", "yes", "usefulness"]
GRADED, ENSEMBLE = "graded", "ensemble"
# Judges based on pairwise comparisons, which are not started in a round here.
BATTLES = "pairwise"
# Libraries of an extra, without which a judge cannot be loaded.
BROUGHT = {"semantic": "sentence_transformers"}


@dataclass(frozen=True)
class Kind:
    """A kind of judge, as shown on pages and in the API."""

    name: str
    title: str
    description: str
    asks: Asks
    says: Says
    needs: tuple[Need, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    missing: str = ""

    @property
    def needs_expected(self) -> bool:
        """Whether the judge compares with accepted answers, which a user has to provide."""
        return "expected" in self.needs

    def check_installed(self) -> None:
        """Refuse a judge whose libraries are not installed."""
        if self.missing:
            raise NotValid(self.missing, "kind")


TOGETHER = Kind(
    ENSEMBLE,
    "Ensemble of judges",
    "Combines the answers of several judges of the round by a rule. Judges that make similar errors also agree on "
    "them.",
    "judges",
    "grade",
    parameters=(
        Parameter("rule", "Rule", "The rule that combines the grades.", "median"),
        Parameter("least", "Minimum number of grades", "With fewer grades, the pair is undecided.", 2, 2, 12),
    ),
)


def kinds() -> list[Kind]:
    """Return all kinds: those that call a model, local ones, and the ensemble."""
    # A scale of two grades uses a prompt of the first kind.
    models = [_asking(MODEL_JUDGES[name]) for name in MODEL_JUDGES if name != "binary"]
    return [*models, *(_local(JUDGES[name]) for name in JUDGES), TOGETHER]


def find(name: str) -> Kind:
    """Return the kind with this name."""
    there = kinds()
    for kind in there:
        if kind.name == name:
            return kind
    known = ", ".join(kind.name for kind in there)
    raise UnknownName(f"Unknown judge {name!r}. Available judges: {known}.")


def says_grades(name: str) -> bool:
    """Return whether a judge of this kind gives grades, including kinds that are not started in a round here."""
    return all(kind.says != "usefulness" for kind in kinds() if kind.name == name)


def _asking(kind: ModelJudgeKind) -> Kind:
    own = "scale" in kind.takes
    says: Says = "grade" if own else "yes" if kind.scale else "usefulness"
    return Kind(kind.name, kind.title, kind.description, "model", says, kind.needs)


def _local(kind: JudgeKind) -> Kind:
    missing = ""
    module = BROUGHT.get(kind.extra, "")
    if module and find_spec(module) is None:
        missing = (
            f"{kind.title} needs the extra {kind.extra}, which is not installed on this server. "
            f"The operator can install it: pip install 'assay[{kind.extra}]'."
        )
    return Kind(kind.name, kind.title, kind.description, "machine", "yes", kind.needs, kind.parameters, missing)
