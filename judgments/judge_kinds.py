"""Kinds of machine judge: what each kind calls, what it needs, and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from judgments.core.errors import NotValid, UnknownName
from judgments.core.parameters import Parameter
from judgments.judges import JUDGES, MODEL_JUDGES
from judgments.judges.contract import JudgeKind, Need
from judgments.judges.model_judge import ModelJudgeKind

Asks = Literal["model", "machine", "judges"]
Says = Literal["grade", "yes", "usefulness"]
GRADED, ENSEMBLE = "graded", "ensemble"
# Made of battles, and of nothing that is set to a round here.
BATTLES = "pairwise"
# What an extra of the package brings: without it a judge cannot be loaded.
BROUGHT = {"semantic": "sentence_transformers"}


@dataclass(frozen=True)
class Kind:
    """A kind of judge, as pages and the API offer it.

    Parameters
    ----------
    name, title, description : str
        What the API calls it, its readable name, and one line on what it tells.
    asks : {"model", "machine", "judges"}
        A model at a provider, within caps; nobody but this machine; or what other judges said already.
    says : {"grade", "yes", "usefulness"}
        A grade of the round's scale; yes or no, for which grades of the scale stand; or how well a system answers with
        the document, which is no grade.
    needs : tuple of str
        Without what a pair waits.
    parameters : tuple of Parameter
        What may be chosen beside that.
    missing : str
        What has to be installed before it can be used here; empty where nothing is missing.
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
        """Whether it compares with accepted answers, which somebody has to give."""
        return "expected" in self.needs

    def check_installed(self) -> None:
        """Refuse a judge whose libraries are not here.

        Raises
        ------
        NotValid
            With what to install.
        """
        if self.missing:
            raise NotValid(self.missing, {"kind": self.missing})


TOGETHER = Kind(
    ENSEMBLE,
    "Several judges together",
    "What judges that have been in the round say together, by a rule. Judges with like mistakes agree on them too.",
    "judges",
    "grade",
    parameters=(
        Parameter("rule", "Rule", "How their grades become one.", "median"),
        Parameter("least", "Grades that it takes", "With fewer grades the pair is undecided.", 2, 2, 12),
    ),
)


def kinds() -> list[Kind]:
    """All of them: those that ask a model, those that need nothing but this machine, and the ensemble."""
    # Two grades are a prompt of the first kind, for rounds whose scale has two.
    models = [_asking(MODEL_JUDGES[name]) for name in MODEL_JUDGES if name != "binary"]
    return [*models, *(_local(JUDGES[name]) for name in JUDGES), TOGETHER]


def find(name: str) -> Kind:
    """The kind of this name.

    Raises
    ------
    UnknownName
        There is none, with those that there are.
    """
    there = kinds()
    for kind in there:
        if kind.name == name:
            return kind
    known = ", ".join(kind.name for kind in there)
    raise UnknownName(f"there is no judge {name!r} for a round; known: {known}")


def says_grades(name: str) -> bool:
    """Whether a judge of this kind gives grades; so do kinds that are not set to a round here."""
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
            f"Its operator can add it: pip install 'assay[{kind.extra}]'."
        )
    return Kind(kind.name, kind.title, kind.description, "machine", "yes", kind.needs, kind.parameters, missing)
