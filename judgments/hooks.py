"""Hooks of the judgments app: registrations by its features and by the apps above it.

An app registers members by name in its `AppConfig`. A member that should be imported on first use is given as
"module:attribute".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from assay.core.registry import Family
from judgments.models import Collection, Job, Provider, Role, Round, Snapshot, User

if TYPE_CHECKING:
    from assay.llm.judges.model_families import System
    from judgments.agreement.conflicts import Effects
    from judgments.imports.kinds import ImportKind
    from judgments.jobs.jobs import Work
    from judgments.navigation.search import Hit, Scope
    from judgments.snapshots.baselines import Freezing

# The function of a background job, by the kind in its row.
JOBS: Family[Callable[[Work], dict[str, Any]]] = Family("job kind", {})
# By kind of job: whether a job that has just ended has more to do and is queued again.
UNFINISHED_JOBS: Family[Callable[[Job], bool]] = Family("unfinished job", {})
# Functions that a worker runs every minute.
PERIODIC_WORK: Family[Callable[[], Any]] = Family("periodic work", {})

# The kinds of file that a collection accepts.
IMPORT_KINDS: Family[ImportKind] = Family("kind of import", {})

# The state of the collection that a snapshot records, so that later changes can be detected.
BASELINES: Family[Callable[[Freezing], dict[str, Any]]] = Family("baseline", {})
# Called after a snapshot is committed.
SNAPSHOT_LISTENERS: list[Callable[[Snapshot, User], object]] = []

# The users, among some, who have seen whole result lists of a round's queries and cannot rate its pairs blind.
LISTS_SEEN: list[Callable[[Round, Sequence[User]], set[int]]] = []

# The collection's systems that may be of the same model family as a judge.
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
    """A kind of row that can be archived."""

    model: type[Any]
    page: str
    goes: frozenset[str] = frozenset()
    in_use: Callable[[Any], str] = lambda row: ""
    needed: Callable[[Any], str] = lambda row: ""
    file: Callable[[Any], str] = lambda row: ""


ARCHIVE_KINDS: dict[str, ArchiveKind] = {}


@dataclass(frozen=True)
class ConflictAppraiser:
    """Functions that compute the effects of conflicts on metrics."""

    effects: Callable[[Round], Effects | None]
    detail: Callable[[Any, list[int]], list[dict[str, Any]]] | None = None
    why_not: Callable[[Round], str] | None = None


CONFLICT_APPRAISERS: Family[ConflictAppraiser] = Family("source of conflict effects", {})


@dataclass(frozen=True)
class Chooser:
    """Functions that choose pairs for an open round, and add them with `rounds.append_pairs`."""

    wake: Callable[[Round], None]
    status: Callable[[Round], dict[str, Any] | None]


CHOOSERS: Family[Chooser] = Family("source of additional pairs", {})


def notify_choosers(round_: Round) -> None:
    """Notify the choosers of a round that depends on its answers after the current transaction commits."""
    if not round_.depends_on_answers:
        return
    for name in CHOOSERS:
        transaction.on_commit(lambda chooser=CHOOSERS[name]: chooser.wake(round_), robust=True)


def status(round_: Round) -> dict[str, Any] | None:
    """Return the status of the round's chooser; None for a round with fixed pairs."""
    if round_.most_pairs is None:
        return None
    return next((status for name in CHOOSERS if (status := CHOOSERS[name].status(round_)) is not None), None)


@dataclass(frozen=True)
class Doubt:
    """A doubt about a pair's machine grade that no single answer shows."""

    reason: str
    doubt: float


# The doubts by pair key. Doubts that depend on pairs that the viewer may still grade are left out; without a viewer,
# all are returned.
DOUBTS: Family[Callable[[Round, Any], Mapping[int, Sequence[Doubt]]]] = Family(
    "source of doubts about machine grades", {}
)


STAFF = (Role.LEAD, Role.ENGINEER)


@dataclass(frozen=True)
class PageEntry:
    """A page in the navigation: its title, the page above it, its part of the docs, and its group in the menu."""

    title: str
    # The route of the page above.
    parent: str = ""
    # A page of the docs with an anchor, such as "rounds#scales"; by default the one of the page above.
    help: str = ""
    # The group of the collection's menu; empty if the menu does not show the page.
    group: str = ""
    roles: tuple[str, ...] = STAFF
    # Its name as a page above, from the template context, such as the name of a row; by default the title.
    name: Callable[[Mapping[str, Any]], str] | None = None
    # Whether the page has the head of a round with its tabs, which say where it is.
    tabs: bool = False
    # The query string of its address as a page above.
    query: Callable[[Mapping[str, Any]], str] = lambda context: ""


# The pages by the name of their route.
PAGES: dict[str, PageEntry] = {}


@dataclass(frozen=True)
class RoundTab:
    """A tab on the pages of a round: a main tab, or an entry of the tab More."""

    key: str
    name: str
    route: str
    main: bool = False
    roles: tuple[str, ...] = STAFF
    shown: Callable[[Round], bool] = lambda round_: True


ROUND_TABS: list[RoundTab] = []


@dataclass(frozen=True)
class Search:
    """A kind of row that the command palette finds: at most `limit` rows of one collection that match a text."""

    name: str
    find: Callable[[Scope, str, int], Iterable[Hit]]
    roles: tuple[str, ...] = STAFF


SEARCHES: list[Search] = []
