"""Freshness of a snapshot: whether its labels still fit the current runs, documents and queries.

Pages, exports and the API that show the signals call `look`. It reads cheap facts now and takes expensive ones from the
last check, a job that reads everything (`evaluation.freshness.job`). Parts of every page, such as the navigation, call
`glance`, which returns the stored state and computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from assay.core.text_rules import amount
from assay.staleness.report import Report, report_from_json
from assay.staleness.report import look as read_signals
from assay.staleness.signal import FRESH, STALE, UNKNOWN, WARN, Finding, Missing, Traffic
from evaluation.freshness.facts import JUDGED_AT_ONCE, LATER, Looked, Watch, facts_of
from evaluation.models import FreshnessCheck, FreshnessReading
from judgments.events.events import emit
from judgments.models import AuditRow, Snapshot, User, audit

# How long a stored reading is valid if nothing that the signals read has changed; ages keep growing.
HOLDS = timedelta(hours=1)
# Modules whose actions can change a signal. Others, such as logins, rounds and judges, do not affect it.
CHANGING = (
    "archive", "baselines", "copies", "declarations", "documents", "fetched", "fetching", "freshness", "ingestion",
    "old_logs", "pausing", "query_logs", "runs", "start",
)  # fmt: skip
UNREAD = "not checked yet; open the freshness page to check it"
# State of the freshness step for each freshness state.
LOOKS = {FRESH: "done", WARN: "warn", STALE: "fail", UNKNOWN: "todo"}
INCOMPLETE = "incomplete"
WORDS = {FRESH: "fresh", WARN: "ageing", STALE: "stale", UNKNOWN: "unknown"}


@dataclass(frozen=True)
class Freshness:
    """The freshness of a snapshot."""

    report: Report
    checked_at: datetime | None

    @property
    def state(self) -> str:
        """Return the state of the freshness step."""
        return LOOKS[self.report.state]

    @property
    def word(self) -> str:
        return word_of(self.report)

    @property
    def headline(self) -> str:
        """Return the summary sentence if any signal suggests an action."""
        so_then = ", as they already were when they were frozen" if self.report.incomplete else ""
        return f"are {self.word}{so_then}"

    @property
    def unjudged(self) -> float | None:
        """Return the largest mean share of unjudged documents in a run's first ten."""
        return self.report["unjudged"].now

    @property
    def holes(self) -> int:
        return sum(run.holes for run in self.report.runs)

    @property
    def changed(self) -> int:
        """Return the judged documents that changed."""
        first_word = self.report["changed"].words.split(" ", 1)[0].replace(",", "")
        return int(first_word) if first_word.isdigit() else 0

    @property
    def warnings(self) -> list[str]:
        """Return a sentence for each signal that suggests an action, most severe first."""
        return [f"{one.signal.title}: {one.words}" for one in self.report.asking]

    def as_json(self) -> dict[str, Any]:
        """Return the freshness summary shown with scores in files and in the API."""
        at = self.checked_at.isoformat() if self.checked_at else None
        unknown = [one.signal.name for one in self.report.unknown]
        return {"state": self.report.state, "warnings": self.warnings, "unknown": unknown, "checked_at": at}


def word_of(report: Report) -> str:
    """Return the state in one word; labels that never covered the runs well enough are not called stale."""
    return INCOMPLETE if report.incomplete else WORDS[report.state]


def look(snapshot: Snapshot) -> Freshness:
    """Return the freshness of a snapshot, reading only facts that are cheap to read."""
    last = _last_check(snapshot)
    state = _state(snapshot, last)
    stored = FreshnessReading.objects.filter(snapshot=snapshot).first()
    if stored is None or stored.state != state or timezone.now() - stored.read_at > HOLDS:
        looked = Looked(_whole(snapshot))
        if last is None:
            looked.last = None  # nothing suggests an action
        report = _with_last(read_signals(facts_of(looked)), looked).as_json()
        stored = FreshnessReading(snapshot=snapshot, state=state, report=report, read_at=timezone.now())
        fields = ["state", "report", "read_at"]
        FreshnessReading.objects.bulk_create(
            [stored], update_conflicts=True, unique_fields=["snapshot"], update_fields=fields
        )
    return Freshness(report_from_json(stored.report, UNREAD), last[1] if last else None)


def shown(snapshot: Snapshot) -> Freshness:
    """Return a current reading for a small snapshot and the stored one for a large snapshot."""
    return look(snapshot) if snapshot.summary["labels"] <= JUDGED_AT_ONCE else glance(snapshot)


def glance(snapshot: Snapshot) -> Freshness:
    """Return the stored reading and compute nothing; a snapshot without a reading is unknown."""
    last = _last_check(snapshot)
    stored = FreshnessReading.objects.filter(snapshot=snapshot).first()
    if stored is not None and (last is None or last[1] <= stored.read_at):
        return Freshness(report_from_json(stored.report, UNREAD), last[1] if last else None)
    report = snapshot.freshness_checks.values_list("report", flat=True).first()
    return Freshness(report_from_json(report or {}, UNREAD), last[1] if last else None)


def _last_check(snapshot: Snapshot) -> tuple[int, datetime] | None:
    return snapshot.freshness_checks.order_by("-created_at", "-pk").values_list("pk", "created_at").first()


def _state(snapshot: Snapshot, last: tuple[int, datetime] | None) -> str:
    """Return a key of a reading: the last check, and the last action that could change it."""
    acts = AuditRow.objects.filter(collection=snapshot.collection_id)
    changing = Q()
    for module in CHANGING:
        changing |= Q(verb__startswith=f"{module}.")
    newest = acts.filter(changing).order_by("-pk").values_list("pk", flat=True).first()
    return f"{newest or 0}:{last[0] if last else 0}"


def _with_last(report: Report, looked: Looked) -> Report:
    """Replace signals that are too large to read now by those of the last check."""
    if looked.last is None or not any(one.reason == LATER for one in report.findings):
        return report
    last_findings = {one["signal"]: one for one in looked.last.report["signals"]}
    later = [one.signal.name for one in report.findings if one.reason == LATER and one.signal.name in last_findings]
    return replace(
        report,
        findings=tuple(
            Finding.from_json(last_findings[one.signal.name]) if one.signal.name in later else one
            for one in report.findings
        ),
    )


@dataclass(frozen=True)
class Read:
    """The result of a complete reading, before it is stored."""

    report: Report
    traffic: Traffic | Missing


def read_all(snapshot: Snapshot, watch: Watch = lambda done, total: None) -> Read:
    """Read every signal completely, which may take long."""
    facts = facts_of(Looked(_whole(snapshot), whole=True, watch=watch))
    return Read(read_signals(facts), facts.now.traffic)


@transaction.atomic
def check(snapshot: Snapshot, read: Read, *, actor: User | None) -> FreshnessCheck:
    """Store the result of `read_all`; without an actor the server started the check."""
    log_traffic, traffic = read.traffic, {}
    if not isinstance(log_traffic, Missing) and log_traffic.covered is not None:
        traffic = {"log_sha256": log_traffic.sha256, "covered": log_traffic.covered, "tiers": dict(log_traffic.tiers)}
    before = snapshot.freshness_checks.values_list("report", flat=True).first()
    row = FreshnessCheck.objects.create(
        collection=snapshot.collection,
        snapshot=snapshot,
        state=read.report.state,
        report=read.report.as_json(),
        traffic=traffic,
        created_by=actor,
    )
    sentence = f"{actor or 'the server'} checked the freshness of {snapshot}: {word_of(read.report)}"
    audit.record("freshness.check", sentence, actor=actor, target=snapshot)
    stale = WORDS[STALE]
    if word_of(read.report) == stale and (before is None or word_of(report_from_json(before, UNREAD)) != stale):
        emit(
            "labels.stale",
            snapshot.collection,
            text=f"The labels of snapshot {snapshot} are stale.",
            page=page_of(snapshot),
            data={"snapshot": str(snapshot.uuid), "name": snapshot.name},
            actor=actor,
        )
    return row


def _whole(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with its manifest, which lists load without it."""
    if "manifest" in snapshot.get_deferred_fields():
        return Snapshot.objects.select_related("collection").get(pk=snapshot.pk)
    return snapshot


def page_of(snapshot: Snapshot) -> str:
    """Return the URL of a snapshot's signals."""
    return f"{reverse('freshness', args=[snapshot.collection.slug])}?snapshot={snapshot.uuid}"


def age_in_words(moment: datetime) -> str:
    """Return an age in days."""
    days = (timezone.now() - moment).days
    return "today" if days == 0 else f"{amount(days, 'day')} ago"


def as_json(snapshot: Snapshot, reading: Freshness) -> dict[str, Any]:
    """Return the format of ``assay freshness --format json``, with the snapshot."""
    head = {"snapshot": str(snapshot.uuid), "name": snapshot.name, "content_sha256": snapshot.content_sha256}
    return head | reading.report.as_json() | {"checked_at": reading.as_json()["checked_at"]}
