"""Model family options and warnings: a judge's model from the same family as a system it judges."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.judges.families import Kin


def add_family(parser: argparse.ArgumentParser) -> None:
    """Declare the option."""
    parser.add_argument(
        "--family",
        metavar="RUN=FAMILY",
        action="append",
        default=[],
        help="declare whose language model has a part in a run (GPT, Llama, ...; none); else its name is looked at",
    )


def add_under_test(parser: argparse._ActionsContainer) -> None:
    """Declare the option of those who are about to ask, and have no runs."""
    parser.add_argument(
        "--under-test",
        metavar="NAME[=FAMILY]",
        action="append",
        help="a system whose documents are judged: warn where it is of the family of a model that judges",
    )


def tell_kin(models: Iterable[str], under_test: Sequence[str] | None) -> None:
    """Warn of the systems that one of these models is kin to.

    Parameters
    ----------
    models : iterable of str
        Whom is to be asked.
    under_test : sequence of str
        ``NAME`` or ``NAME=FAMILY``; without a family the name is looked at.

    Raises
    ------
    NotValid
        A family is none.
    """
    from judgments.judges.families import System, kin_of, warning

    systems = []
    for one in under_test or ():
        name, equals, family = one.rpartition("=")
        systems.append(System(name, _declared(f"--under-test {one}", family)) if equals else System(one))
    found = dict.fromkeys(kin for model in models for kin in kin_of(model, systems))
    if found:
        sys.stderr.write(f"warning: {warning(list(found))}\n")


def kin_of_runs(judge: str, runs: Sequence[str], declared: Sequence[str]) -> list[Kin]:
    """The runs that are of the family of the judge's model.

    Raises
    ------
    NotValid
        A declaration names no run, or is none.
    """
    from judgments.judges.families import System, kin_of

    known: dict[str, str] = {}
    for one in declared:
        name, equals, family = one.rpartition("=")
        if not equals or name not in runs:
            raise NotValid(
                f"--family {one}: write RUN=FAMILY with one of the runs: {', '.join(runs) or 'none is given'}"
            )
        known[name] = _declared(f"--family {one}", family)
    return kin_of(judge, [System(name, known.get(name, "")) for name in runs])


def _declared(option: str, family: str) -> str:
    from judgments.judges.families import declared_family

    try:
        return declared_family(family)
    except NotValid as error:
        raise NotValid(f"{option}: {' '.join(error.fields.values()) or error}") from error
