"""Hooks of the judgments app: what each feature and each app above registers.

An app registers in its `AppConfig`, by name. A member that can wait to be imported is given as "module:attribute".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from assay.core.registry import Family
from judgments.models import Collection, Job, Provider, Round, Snapshot, User

if TYPE_CHECKING:
    from assay.llm.judges.model_families import System
    from judgments.agreement.conflict_effects import Effects
    from judgments.imports.kinds import ImportKind
    from judgments.jobs.jobs import Work
    from judgments.snapshots.baselines import Freezing

# What a background job does, by the kind in its row.
JOBS: Family[Callable[[Work], dict[str, Any]]] = Family("job kind", {})
# By kind of job, whether one that has just ended has more to do and is queued again.
UNFINISHED_JOBS: Family[Callable[[Job], bool]] = Family("unfinished job", {})
# What a worker runs every minute.
PERIODIC_WORK: Family[Callable[[], Any]] = Family("periodic work", {})

# The kinds of file that a collection accepts.
IMPORT_KINDS: Family[ImportKind] = Family("kind of import", {})

# What a snapshot records of the collection at its time, so that later changes can be detected.
BASELINES: Family[Callable[[Freezing], dict[str, Any]]] = Family("baseline", {})
# Called once a snapshot is committed.
SNAPSHOT_LISTENERS: list[Callable[[Snapshot, User], object]] = []

# The systems of a collection that a judge may be kin to.
SYSTEM_LISTS: Family[Callable[[Collection], Sequence[System]]] = Family("list of systems", {})
# Whether runs of another app are calling a provider.
PROVIDER_USERS: list[Callable[[Provider], bool]] = []
# The leverage of pairs, given the round, its labels and the possible grades of each pair.
LEVERAGE: Family[
    Callable[
        [Round, Mapping[tuple[str, str], float], Mapping[tuple[str, str], tuple[int, int]]],
        Mapping[tuple[str, str], float],
    ]
] = Family("leverage", {})


@dataclass(frozen=True)
class ArchiveKind:
    """A kind of row that can be archived.

    Parameters
    ----------
    model : type of Model
        Its table.
    page : str
        The name of the page that shows or lists the rows.
    goes : frozenset of str
        Names of the models whose rows are deleted with it.
    in_use : callable
        Why a row cannot be archived now; empty if it can.
    needed : callable
        Why a row cannot be deleted; empty if nothing depends on it.
    file : callable
        The stored file that is deleted with a row; empty if there is none.
    """

    model: type[Any]
    page: str
    goes: frozenset[str] = frozenset()
    in_use: Callable[[Any], str] = lambda row: ""
    needed: Callable[[Any], str] = lambda row: ""
    file: Callable[[Any], str] = lambda row: ""


ARCHIVE_KINDS: dict[str, ArchiveKind] = {}


@dataclass(frozen=True)
class ConflictAppraiser:
    """Functions that compute the effects of conflicts.

    Attributes
    ----------
    effects : callable
        ``effects(round_)``: for all conflicts of the round; None if unknown (no runs, for example).
        Pages call it, so it has to cache expensive results.
    detail : callable
        ``detail(pair, grades)``: for one conflict a row per run: ``{"run": name, "rank": int or None, "values": {grade:
        float}}``, with the run's mean as ``effects`` counts it for each of the grades; the runs that move most first.
        Empty if unknown.
    why_not : callable
        ``why_not(round_)``: the reason why effects that could be computed are missing; "" otherwise.
    """

    effects: Callable[[Round], Effects | None]
    detail: Callable[[Any, list[int]], list[dict[str, Any]]] | None = None
    why_not: Callable[[Round], str] | None = None


CONFLICT_APPRAISERS: Family[ConflictAppraiser] = Family("appraiser of conflicts", {})


@dataclass(frozen=True)
class Chooser:
    """Functions that choose pairs for a round while it is open, and add them by `rounds.append_pairs`.

    Attributes
    ----------
    wake : callable
        ``wake(round_)``: check whether pairs are needed. It runs inside a rater's request, so it only queues work.
    status : callable
        ``status(round_)``: the progress of choosing as plain JSON; None for a round of another chooser.
    """

    wake: Callable[[Round], None]
    status: Callable[[Round], dict[str, Any] | None]


CHOOSERS: Family[Chooser] = Family("chooser of pairs", {})


def notify_choosers(round_: Round) -> None:
    """Notify the choosers of a round after the current transaction commits.

    An error in a chooser is logged and affects nothing else: the answer is stored already.
    """
    if not round_.growing:
        return
    for name in CHOOSERS:
        transaction.on_commit(lambda chooser=CHOOSERS[name]: chooser.wake(round_), robust=True)


def status(round_: Round) -> dict[str, Any] | None:
    """Return the status of the round's chooser; None for a round whose pairs are fixed."""
    if round_.most_pairs is None:
        return None
    return next((status for name in CHOOSERS if (status := CHOOSERS[name].status(round_)) is not None), None)


@dataclass(frozen=True)
class Doubt:
    """A reason to doubt a pair that no single answer shows.

    Parameters
    ----------
    reason : str
        One of `judgments.machines.calibration.routing.REASONS`.
    doubt : float
        From 0 to 1.
    """

    reason: str
    doubt: float


# The doubts by pair key. Doubts that depend on pairs the viewer may still grade are left out; viewer None gets all.
DOUBTS: Family[Callable[[Round, Any], Mapping[int, Sequence[Doubt]]]] = Family("source of doubts", {})
