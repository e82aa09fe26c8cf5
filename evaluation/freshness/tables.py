"""Table rows of freshness signals, runs and checks."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.text import capfirst

from assay.core.text_rules import amount
from assay.staleness.actions import ACTIONS
from assay.staleness.report import report_from_json
from assay.staleness.signal import DAYS, INDEX, SHARE, Finding, percent
from evaluation.freshness import refresh
from evaluation.freshness.freshness import LOOKS, WORDS, Freshness, word_of
from judgments.models import Snapshot
from judgments.web.columns import Column
from judgments.web.lists import Listing

MOST_NAMED = 3
MOST_LINES = 20
# Short names in files and the API.
DETAILS = {"p90": "90th percentile", "doc_id": "document", "query_id": "query", "reason": "reason"}
SHARES = ("now", "baseline", "p90")
SIGNALS = Listing(
    name="freshness",
    noun=("signal", "signals"),
    columns=tuple(
        Column(key, key) for key in ("signal", "title", "state", "now", "baseline", "warn", "stale", "words", "reason")
    ),
    order="",
)
RUNS = Listing(
    name="freshness-runs",
    noun=("run", "runs"),
    columns=(
        Column("name", "Run", order="name", head=True, style="name"),
        Column("mean", "Unjudged", order="mean", numeric=True, show=lambda row: _share(row["mean"])),
        Column(
            "baseline",
            "Unjudged at the freeze",
            order="baseline",
            numeric=True,
            show=lambda row: _share(row["baseline"]),
        ),
        Column("p90", "90th percentile", order="p90", numeric=True, show=lambda row: _share(row["p90"])),
        Column("holes", "Unjudged documents", order="holes", numeric=True),
        Column("queries", "Queries", order="queries", numeric=True),
        Column("worst", "Queries with the most unjudged", value=lambda row: _worst(row), style="clip"),
        Column("reason", "Reason", order="reason", style="why"),
    ),
    order="-mean",
    search=("name",),
)
CHECKS = Listing(
    name="freshness-checks",
    noun=("check", "checks"),
    columns=(
        Column("at", "Checked", order="at", head=True),
        Column("snapshot", "Snapshot", order="snapshot", style="name"),
        Column("word", "State", order="word"),
        Column("unjudged", "Unjudged", order="unjudged", numeric=True, show=lambda row: _share(row["unjudged"])),
        Column("asking", "Signals", order="asking", show=lambda row: row["few"], style="why"),
        Column("by", "Checked by", order="by"),
    ),
    order="-at",
    search=("snapshot", "asking", "by"),
)


def signal_rows(reading: Freshness) -> list[dict[str, Any]]:
    """Return one row per signal, most severe first, for tables and files."""
    order = {state: place for place, state in enumerate(("stale", "warn", "unknown", "fresh"))}
    return [_row(one) for one in sorted(reading.report.findings, key=lambda one: order[one.state])]


def _row(one: Finding) -> dict[str, Any]:
    signal, action = one.signal, ACTIONS[one.signal.action]
    return {
        **one.as_json(),
        "look": LOOKS[one.state],
        "word": WORDS[one.state],
        "measures": signal.measures,
        "source": signal.source,
        "shown": _number(one.now, signal.unit),
        "then": _number(one.then, signal.unit),
        "limits": _limits(one),
        "act": action if one.asks else None,
        **_detail(one),
    }


def _detail(one: Finding) -> dict[str, Any]:
    """Return the facts behind a signal as a table; rows of several kinds share it, each with its own columns."""
    names = list(dict.fromkeys(name for line in one.detail for name in line if line[name] not in (None, "")))
    shown = one.detail[:MOST_LINES]
    return {
        "columns": [capfirst(DETAILS.get(name, name)) for name in names],
        "lines": [[_cell(name, line.get(name), one.signal.unit) for name in names] for line in shown],
        "more": len(one.detail) - len(shown),
    }


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit == SHARE:
        return percent(value)
    return amount(round(value), "day") if unit == DAYS else f"{value:.3f}" if unit == INDEX else f"{value:,.0f}"


def _limits(one: Finding) -> str:
    limits = (("warns above", one.signal.warn), ("stale above", one.signal.stale))
    return ", ".join(
        f"{word} {_number(limit, one.signal.unit)}" for word, limit in limits if limit is not None
    ).replace("above 0%", "at any")


def _cell(name: str, value: Any, unit: str) -> tuple[str, bool]:
    """Return a formatted value, and whether it is a number."""
    if isinstance(value, float):
        return percent(value) if unit == SHARE and name in SHARES else f"{value:.3f}", True
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value), isinstance(value, int)


def _worst(row: dict[str, Any]) -> str:
    return ", ".join(f"{query_id} {holes}/{returned}" for query_id, holes, returned in row["worst"][:5])


def _share(value: float | None) -> str:
    return "" if value is None else percent(value)


def acts(snapshot: Snapshot, reading: Freshness) -> list[dict[str, Any]]:
    """Return the suggested actions, most urgent first, each once with its signals and URL."""
    return [
        {
            "act": action,
            "signals": [one.signal.title for one in reading.report.asking if one.signal.action == action.name],
            "state": next(LOOKS[one.state] for one in reading.report.asking if one.signal.action == action.name),
            "url": "" if action.pools else _address(snapshot, action.name),
            "needs_runs": action.since and not refresh.runs_for(snapshot, action.name),
            "made": refresh.made(snapshot, action.name) if action.pools else None,
            "token": uuid.uuid4(),
        }
        for action in reading.report.actions
    ]


def _address(snapshot: Snapshot, action: str) -> str:
    """Return the URL where queries are drawn: from the newest log, or from a stratum of new values."""
    slug = snapshot.collection.slug
    if action == "new-stratum":
        return f"{reverse('freshness_stratum', args=[slug])}?{urlencode({'snapshot': snapshot.uuid})}"
    log = snapshot.collection.query_logs.first()
    return reverse("query_log", args=[slug, log.uuid]) if log else reverse("query_logs_new", args=[slug])


def run_rows(reading: Freshness) -> list[dict[str, Any]]:
    """Return the runs, those with the most unjudged documents first."""
    before = {one["run"]: one["baseline"] for one in reading.report["unjudged"].detail}
    rows = [run.as_json() | {"baseline": before.get(run.name)} for run in reading.report.runs]
    return sorted(rows, key=lambda row: (row["mean"] is None, -(row["mean"] or 0.0), row["name"]))


def _few(titles: list[str]) -> str:
    """Return some of the names, and the number of others."""
    more = len(titles) - MOST_NAMED
    return ", ".join(titles[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def check_rows(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Return every check of the collection, newest first."""
    rows = snapshot.collection.freshness_checks.select_related("snapshot", "created_by").defer("snapshot__manifest")
    return [
        {
            "at": row.created_at,
            "snapshot": row.snapshot.name,
            "state": row.state,
            "look": LOOKS[row.state],
            "word": word_of(report_from_json(row.report, "")),
            "unjudged": next((one["now"] for one in row.report["signals"] if one["signal"] == "unjudged"), None),
            "asking": ", ".join(one["title"] for one in row.report["signals"] if one["action"]),
            "few": _few([one["title"] for one in row.report["signals"] if one["action"]]),
            "by": str(row.created_by) if row.created_by else "the server",
        }
        for row in rows
    ]
