"""Kinds of machine judge: what each kind calls, what it needs, and what it returns."""

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
# Judges made from pairwise comparisons, which are not started in a round here.
BATTLES = "pairwise"
# Libraries of an extra, without which a judge cannot be loaded.
BROUGHT = {"semantic": "sentence_transformers"}


@dataclass(frozen=True)
class Kind:
    """A kind of judge, as shown on pages and in the API.

    Parameters
    ----------
    name, title, description : str
        Its name in the API, its readable name, and a one-line description.
    asks : {"model", "machine", "judges"}
        A model at a provider, within caps; a local computation; or the answers of other judges.
    says : {"grade", "yes", "usefulness"}
        A grade of the round's scale; yes or no, which become grades; or how well a system answers with the document,
        which is no grade.
    needs : tuple of str
        The data that a pair must have.
    parameters : tuple of Parameter
        Further settings.
    missing : str
        What must be installed to use it here; empty if nothing is missing.
    """

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
        """Whether it compares with accepted answers, which a user has to provide."""
        return "expected" in self.needs

    def check_installed(self) -> None:
        """Refuse a judge whose libraries are not installed.

        Raises
        ------
        NotValid
            The message names what to install.
        """
        if self.missing:
            raise NotValid(self.missing, {"kind": self.missing})


TOGETHER = Kind(
    ENSEMBLE,
    "Ensemble of judges",
    "Combines the answers of several judges of the round by a rule. Judges with similar errors agree on them too.",
    "judges",
    "grade",
    parameters=(
        Parameter("rule", "Rule", "How their grades are combined.", "median"),
        Parameter("least", "Minimum number of grades", "With fewer grades the pair is undecided.", 2, 2, 12),
    ),
)


def kinds() -> list[Kind]:
    """Return all kinds: those that call a model, local ones, and the ensemble."""
    # A scale of two grades uses a prompt of the first kind.
    models = [_asking(MODEL_JUDGES[name]) for name in MODEL_JUDGES if name != "binary"]
    return [*models, *(_local(JUDGES[name]) for name in JUDGES), TOGETHER]


def find(name: str) -> Kind:
    """Return the kind with this name.

    Raises
    ------
    UnknownName
        The name is unknown; the message lists the known ones.
    """
    there = kinds()
    for kind in there:
        if kind.name == name:
            return kind
    known = ", ".join(kind.name for kind in there)
    raise UnknownName(f"Unknown judge {name!r}. Available judges: {known}.")


def says_grades(name: str) -> bool:
    """Return whether a judge of this kind gives grades, as do kinds that are not started in a round here."""
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
