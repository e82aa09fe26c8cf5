"""Model family options and warnings: a judge's model from the same family as a system it judges."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.llm.judges.model_families import Kin


def add_family(parser: argparse.ArgumentParser) -> None:
    """Declare ``--family``."""
    parser.add_argument(
        "--family",
        metavar="RUN=FAMILY",
        action="append",
        default=[],
        help="the model family of a run (GPT, Llama, ...; none); default: guessed from its name",
    )


def add_under_test(parser: argparse._ActionsContainer) -> None:
    """Declare ``--under-test``, for commands that call a model and have no runs."""
    parser.add_argument(
        "--under-test",
        metavar="NAME[=FAMILY]",
        action="append",
        help="a system whose documents are judged; warn if it uses the same model family as a judge",
    )


def warn_same_family(models: Iterable[str], under_test: Sequence[str] | None) -> None:
    """Warn about systems from the same model family as one of these models."""
    from assay.llm.judges.model_families import System, kin_of, warning

    systems = []
    for one in under_test or ():
        name, equals, family = one.rpartition("=")
        systems.append(System(name, _declared(f"--under-test {one}", family)) if equals else System(one))
    related = dict.fromkeys(kin for model in models for kin in kin_of(model, systems))
    if related:
        sys.stderr.write(f"warning: {warning(list(related))}\n")


def kin_of_runs(judge: str, runs: Sequence[str], declared: Sequence[str]) -> list[Kin]:
    """Return the runs of the same family as the judge's model."""
    from assay.llm.judges.model_families import System, kin_of

    known: dict[str, str] = {}
    for one in declared:
        name, equals, family = one.rpartition("=")
        if not equals or name not in runs:
            raise NotValid(f"--family {one}: write RUN=FAMILY with one of the runs: {', '.join(runs) or 'none given'}")
        known[name] = _declared(f"--family {one}", family)
    return kin_of(judge, [System(name, known.get(name, "")) for name in runs])


def _declared(option: str, family: str) -> str:
    from assay.llm.judges.model_families import declared_family

    try:
        return declared_family(family)
    except NotValid as error:
        raise NotValid(f"{option}: {' '.join(error.fields.values()) or error}") from error
