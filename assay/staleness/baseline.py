"""Baseline of the signals: facts in a snapshot's manifest, and counts from current documents and logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from assay.sampling.counted_log import WINDOW_DAYS
from assay.sampling.row_counting import normalize
from assay.staleness.signal import MOST_VALUES, UNTOLD, Known, Missing, RunHoles, Traffic, Values

if TYPE_CHECKING:
    from assay.sampling.tiers import TierCut

FROZEN = "when the labels were frozen"
SHARES, RANKS = ("head_share", "torso_share"), ("head_ranks", "torso_ranks")


class FrozenQuery(Protocol):
    """A query in its frozen state."""

    @property
    def query_id(self) -> str:
        """Return the id."""

    @property
    def query(self) -> str:
        """Return the query text."""

    @property
    def tier(self) -> str:
        """Return head, torso, tail, or an empty string."""


class ReadDocument(Protocol):
    """A document in a file."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Return the fields without their own column."""


def known_then(
    baseline: Mapping[str, Any], hashes: Mapping[str, str] | Missing, queries: Iterable[FrozenQuery]
) -> Known:
    """Return the content of a manifest's ``baseline`` for the signals."""
    documents, runs = baseline.get("documents"), baseline.get("runs")
    fields = documents["fields"] if documents else {}
    return Known(
        runs=[RunHoles.from_json(run) for run in runs["runs"]] if runs else UNTOLD,
        documents=documents["count"] if documents else UNTOLD,
        hashes=hashes,
        category=values(fields.get("category"), FROZEN),
        language=values(fields.get("language"), FROZEN),
        traffic=traffic_then(baseline.get("traffic"), queries),
    )


def values(frozen: Mapping[str, Any] | None, when: str) -> Values | Missing:
    """Return the counted values of a field, or why they are not usable."""
    if frozen is None:
        return UNTOLD
    name, distinct = frozen["field"], frozen["distinct"]
    if distinct > MOST_VALUES:
        return Missing(f"the field {name} has {distinct:,} values; choose a field with fewer values")
    if not frozen["values"]:
        return Missing(f"no document had a field {name} {when}; choose another field, or record the change")
    return Values(name, frozen["values"], frozen["total"], distinct)


def count_values(documents: Sequence[ReadDocument], name: str) -> dict[str, Any]:
    """Return how many documents of a file have each value of a field, as in a manifest. A list counts for each of
    its values; empty values are ignored.
    """
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update({_text(one) for one in _each(document.fields.get(name)) if one not in (None, "")})
    return {"field": name, "total": len(documents), "distinct": len(counts), "values": dict(counts)}


def _each(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    """Return the value as JSON text, as databases do."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def traffic_then(frozen: Mapping[str, Any] | None, queries: Iterable[FrozenQuery]) -> Traffic | Missing:
    """Return the traffic that the queries were drawn from."""
    if frozen is None:
        return UNTOLD
    if "curve" not in frozen:
        return Missing(f"{frozen['reason']} {FROZEN}")
    tiers = {row.query_id: row.tier for row in queries if row.tier}
    return Traffic(frozen["log_sha256"], [(rank, share) for rank, share in frozen["curve"]], frozen["covered"], tiers)


def window(frozen: Mapping[str, Any] | None) -> int:
    """Return the window of a log in days, as for the draw."""
    return int((frozen or {}).get("parameters", {}).get("window_days") or WINDOW_DAYS)


def cuts(frozen: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the tier cuts of the draw: by ranks if ranks were requested, otherwise by shares."""
    parameters = (frozen or {}).get("parameters", {})
    for names in (RANKS, SHARES):
        if all(parameters.get(name) is not None for name in names):
            return {name: parameters[name] for name in names}
    return {}


def count_searches(cut: TierCut, queries: Iterable[FrozenQuery]) -> tuple[float | None, dict[str, str]]:
    """Return the share of a log's searches for these queries, and the tier of each query in the log."""
    wanted = {normalize(row.query): row.query_id for row in queries}
    tier_of: dict[str, str] = {}
    searches = 0
    for query, tier in zip(cut.queries, cut.tier, strict=True):
        if query.query in wanted:
            tier_of[wanted[query.query]] = tier
            searches += query.frequency
    return (searches / cut.traffic if cut.traffic else None), tier_of
