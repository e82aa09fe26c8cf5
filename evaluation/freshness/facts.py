"""Facts behind the freshness signals: the state at the freeze of a snapshot and the current state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Q
from django.utils import timezone

from assay.core.errors import AssayError
from assay.core.unjudged import DEPTH
from assay.sampling.tiers import cut_tiers
from assay.staleness import rank_eval
from assay.staleness.baseline import count_searches, cuts, known_then, values, window
from assay.staleness.signal import NO_INDEX, Declared, Facts, Known, Missing, RunHoles, Traffic, Values
from assay.staleness.unjudged_documents import Judged, count_holes, first_ones
from evaluation.models import FreshnessCheck
from judgments.members import recorded_changes
from judgments.models import Collection, Declaration, Judgment, Snapshot
from judgments.snapshots import baselines, snapshots
from judgments.snapshots.baselines import Freezing
from pooling.logs import traffic
from pooling.models import QueryLog, Run
from pooling.runs import runs as stored_runs

# The user who freezes waits for this. Larger runs are only named with their hash, and the first check counts them from
# the same files.
BASELINE_ROWS = 1_000_000
UNREADABLE = "its file cannot be read from storage"
TOO_LARGE = "too large to read during the freeze"


def holes_of(judged: Judged, run: Run) -> RunHoles:
    """Count the unjudged documents among a run's first ranks; a missing file is reported and does not stop the
    others."""
    try:
        return count_holes(judged, first_ones(stored_runs.ranked(run)), run.name, run.sha256)
    except AssayError:
        return RunHoles(run.name, run.sha256, 0, 0, 0, None, None, reason=UNREADABLE)


def runs(freezing: Freezing) -> dict[str, Any]:
    """Return the unjudged share of each run of the collection, smallest runs first up to the size limit."""
    rows, room = [], BASELINE_ROWS
    for run in freezing.collection.runs.defer("report", "health").order_by("rows", "sha256"):
        room -= run.rows
        if room < 0:
            rows.append(RunHoles(run.name, run.sha256, 0, 0, 0, None, None, reason=TOO_LARGE))
        else:
            rows.append(holes_of(freezing.judged, run))
    return {"depth": DEPTH, "runs": [run.as_json() for run in sorted(rows, key=lambda run: run.sha256)]}


# Reading more takes too long for a page; a check, which is a job, reads everything.
ROWS_AT_ONCE = 400_000
SEARCHES_AT_ONCE = 50_000
DOCUMENTS_AT_ONCE = 100_000
JUDGED_AT_ONCE = 20_000
DAY = 24 * 3600
LATER = "too large for this page; the next check will read it"
TOO_MANY = Missing(LATER)
Watch = Callable[[int, int], None]
Kind = Declaration.Kind


@dataclass
class Looked:
    """A snapshot with its last check; ``whole`` allows reading everything, which may take long."""

    snapshot: Snapshot
    whole: bool = False
    watch: Watch = lambda done, total: None

    @property
    def collection(self) -> Collection:
        return self.snapshot.collection

    @cached_property
    def baseline(self) -> dict[str, Any]:
        return self.snapshot.manifest.get("baseline") or {}

    @cached_property
    def last(self) -> FreshnessCheck | None:
        return self.snapshot.freshness_checks.first()

    @cached_property
    def judged(self) -> dict[str, dict[str, float]]:
        return {query_id: dict(grades) for query_id, grades in snapshots.labels_of(self.snapshot).items()}

    @cached_property
    def judged_documents(self) -> set[str]:
        return {doc_id for grades in self.judged.values() for doc_id in grades}

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Return the judged pairs from the bundle, or from ratings for snapshots without that file."""
        path = snapshots.FILES["document-hashes-csv"]
        if any(entry["path"] == path for entry in self.snapshot.manifest["files"]):
            from assay.formats import FORMATS

            read = FORMATS["document-hashes-csv"].read
            rows = read(self.snapshot.read_file(path), path=path).rows
            # An imported bundle contains no documents: until they are added, it is unknown whether they changed.
            unknown = set[str]()
            if "imported" in self.snapshot.manifest:
                unknown.update(self.collection.documents.filter(stub=True).values_list("doc_id", flat=True))
            return {row.doc_id: row.content_sha256 for row in rows if row.doc_id not in unknown}
        until = {"created_at__lte": self.snapshot.created_at}
        return baselines.judged_hashes(self.collection, self.judged_documents, self.snapshot.rounds.all(), **until)

    @cached_property
    def replies(self) -> dict[str, Declaration]:
        """Return the newest response of each system since the freeze, by system name."""
        return {row.note or rank_eval.NAME: row for row in reversed(self.declarations_since(Kind.UNRATED))}

    @property
    def hashes_then(self) -> dict[str, str] | Missing:
        return self.hashes if self.whole or len(self.judged_documents) <= JUDGED_AT_ONCE else TOO_MANY

    @cached_property
    def hashes_now(self) -> dict[str, str] | Missing:
        then = self.hashes_then
        return then if isinstance(then, Missing) else baselines.hashes_now(self.collection, then)

    @property
    def ratings(self) -> Any:
        """Return the human grades behind the snapshot."""
        rows = Judgment.objects.counted().filter(pair__round__in=self.snapshot.rounds.all())
        return rows.filter(created_at__lte=self.snapshot.created_at)

    @cached_property
    def standing(self) -> list[Declaration]:
        """Return the recorded changes that were not withdrawn, newest first."""
        return list(recorded_changes.standing(self.collection))

    def declared(self, *kinds: str) -> list[Declaration]:
        return [row for row in self.standing if row.kind in kinds]

    def declarations_since(self, kind: str) -> list[Declaration]:
        """Return the uploads since the freeze, newest first."""
        rows = [row for row in self.declared(kind) if row.created_at > self.snapshot.created_at]
        return sorted(rows, key=lambda row: (row.created_at, row.pk), reverse=True)


def facts_of(looked: Looked) -> Facts:
    """Return all data that the signals read, as tables."""
    return Facts(
        then=known_then(looked.baseline, looked.hashes_then, looked.snapshot.queries()),
        now=_now(looked),
        gone=_gone(looked),
        declared=_declared(looked),
        judged=len(looked.judged_documents),
        days=(timezone.now() - _median_rating(looked)).total_seconds() / DAY,
    )


def _now(looked: Looked) -> Known:
    collection = looked.collection
    count = collection.documents.filter(stub=False).count()
    values_by_kind = {
        kind: _values_now(looked, name, count) for kind, name in recorded_changes.fields_among(looked.standing).items()
    }
    return Known(
        runs=[*_runs(looked), *_fed(looked)],
        documents=count or Missing("no document has content"),
        hashes=looked.hashes_now,
        traffic=_traffic_now(looked),
        category=values_by_kind["category"],
        language=values_by_kind["language"],
    )


def _values_now(looked: Looked, name: str, documents: int) -> Values | Missing:
    if not looked.whole and documents > DOCUMENTS_AT_ONCE:
        return TOO_MANY
    return values(baselines.values_of(looked.collection, name), "now")


def _runs(looked: Looked) -> list[RunHoles]:
    """Return each run of the collection, with counts that are cached by labels and file."""
    runs = list(looked.collection.runs.active().defer("report", "health"))
    known = _counted_before(looked)
    room, rows = ROWS_AT_ONCE, []
    for done, run in enumerate(sorted(runs, key=lambda run: (run.rows, run.name))):
        looked.watch(done, len(runs))
        counts = known.get(run.sha256) or cache.get(_key(looked, run))
        if counts is None:
            room -= run.rows
            counts = _count(looked, run) if looked.whole or room >= 0 else None
        missing = RunHoles(run.name, run.sha256, 0, 0, 0, None, None, reason=LATER)
        rows.append(RunHoles.from_json({**counts, "name": run.name}) if counts else missing)
    return sorted(rows, key=lambda one: one.name)


def _counted_before(looked: Looked) -> dict[str, dict[str, Any]]:
    rows = [*looked.baseline.get("runs", {}).get("runs", ())]
    rows += looked.last.report.get("runs", ()) if looked.last else ()
    return {row["sha256"]: row for row in rows if row["sha256"] and row["mean"] is not None}


def _count(looked: Looked, run: Run) -> dict[str, Any]:
    holes = holes_of(looked.judged, run)
    if holes.mean is not None:
        cache.set(_key(looked, run), holes.as_json(), DAY)
    return holes.as_json()


def _key(looked: Looked, run: Run) -> str:
    return f"unjudged:{DEPTH}:{looked.snapshot.content_sha256}:{run.sha256}"


def _fed(looked: Looked) -> list[RunHoles]:
    """Return the newest response of each engine since the freeze."""
    return [
        rank_eval.holes_of(rank_eval.of(row.data), looked.judged, name, str(row.uuid))
        for name, row in looked.replies.items()
    ]


def _gone(looked: Looked) -> list[str] | Missing:
    declarations = looked.declarations_since(Kind.INDEX)
    return sorted(set(declarations[0].data["gone"]) & looked.judged_documents) if declarations else NO_INDEX


def _declared(looked: Looked) -> list[Declared]:
    """Return the recorded changes, each with the number of ratings before it."""
    rows = looked.declared(*recorded_changes.SPOKEN)
    days = {f"before_{row.pk}": Count("pk", filter=Q(created_at__lt=row.happened_at)) for row in rows}
    counts: dict[str, int] = looked.ratings.aggregate(ratings=Count("pk"), **days) if rows else {}
    return [declared for row in rows if (declared := _one(looked, row, counts)) is not None]


def _one(looked: Looked, row: Declaration, counts: Mapping[str, int]) -> Declared | None:
    later = row.happened_at > looked.snapshot.created_at
    if row.kind in (Kind.CATEGORY, Kind.LANGUAGE) and not later:
        return None  # existed when the labels were frozen
    if not counts["ratings"]:  # imported labels have no date
        return Declared(row.kind, row.happened_at, row.note, None if later else 0, None)
    return Declared(row.kind, row.happened_at, row.note, counts[f"before_{row.pk}"], counts["ratings"])


def _median_rating(looked: Looked) -> datetime:
    rows = looked.ratings.order_by("created_at").values_list("created_at", flat=True)
    count = rows.count()
    return rows[count // 2] if count else looked.snapshot.created_at


def _traffic_now(looked: Looked) -> Traffic | Missing:
    """Return the newest log imported after the log from which the queries were drawn."""
    then = looked.baseline.get("traffic", {}).get("log_sha256", "")
    logs = looked.collection.query_logs
    first = logs.filter(sha256=then).first()
    later = (
        logs.filter(created_at__gt=first.created_at)
        if first
        else logs.filter(created_at__gt=looked.snapshot.created_at)
    )
    newest = later.exclude(sha256=then).first()
    if newest is None:
        return Missing("no query log was imported since the freeze; import a recent log")
    baseline = looked.baseline.get("traffic")
    large = traffic.is_large(newest)
    seen = traffic.traffic(newest) if large else traffic.traffic(newest, window_days=window(baseline))
    coverage = _coverage(looked, newest, baseline)
    return Traffic(newest.sha256, seen.curve, coverage.get("covered"), coverage.get("tiers", {}))


def _coverage(looked: Looked, log: QueryLog, baseline: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return how often the judged queries occur in a log, and their tiers there."""
    if looked.last and looked.last.traffic.get("log_sha256") == log.sha256:
        return looked.last.traffic
    if not looked.whole and log.searches > SEARCHES_AT_ONCE:
        return {}

    def count() -> dict[str, Any]:
        cut = cut_tiers(traffic.counted(log, window_days=window(baseline)).queries, **cuts(baseline))
        covered, tiers = count_searches(cut, looked.snapshot.queries())
        return {"log_sha256": log.sha256, "covered": covered, "tiers": tiers}

    coverage: dict[str, Any] = cache.get_or_set(f"asked:{looked.snapshot.content_sha256}:{log.sha256}", count, DAY)
    return coverage
