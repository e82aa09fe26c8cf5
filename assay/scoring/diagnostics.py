"""Diagnostics of a run: facts that affect the interpretation of its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.core.text_column import SPREAD, Texts
from assay.metrics.judged_rankings import Integers, Match

if TYPE_CHECKING:
    from assay.scoring.score_ranges import Range, TiedRange

TOP = 10
MOST_NAMED = 5


@dataclass(frozen=True)
class Depth:
    """Number of documents returned for the judged queries that the run answers."""

    min: int
    median: float
    max: int


@dataclass(frozen=True)
class Diagnostics:
    """Facts about a run that affect the interpretation of its scores."""

    rows: int
    ties: float
    duplicates: int
    queries_missing: int
    queries_unjudged: int
    queries_without_relevant: int
    holes: int
    missing: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    queries_negative: int = 0
    negative: int = 0
    least_judged: str | None = None
    float32_ties: int = 0
    depth: Depth | None = None
    ranks_contradicted: int = 0
    identical_to: tuple[str, ...] = ()
    fingerprint: int = 0
    ties_at: Mapping[str, TiedRange] = field(default_factory=dict)
    bounds: Mapping[str, Range] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the fields under the names of the JSON output."""
        depth = self.depth
        return {
            "rows": self.rows,
            "ties": self.ties,
            "duplicates": self.duplicates,
            "queries_missing": self.queries_missing,
            "queries_unjudged": self.queries_unjudged,
            "queries_without_relevant": self.queries_without_relevant,
            "queries_negative": self.queries_negative,
            "missing": list(self.missing),
            "unjudged": list(self.unjudged),
            "holes@10": self.holes,
            "negative@10": self.negative,
            "least_judged": self.least_judged,
            "float32_ties": self.float32_ties,
            "ranks_contradicted": self.ranks_contradicted,
            "identical_to": list(self.identical_to),
            "depth": depth and {"min": depth.min, "median": depth.median, "max": depth.max},
            "ties_at": {name: asdict(one) for name, one in self.ties_at.items()},
            "bounds": {name: asdict(one) for name, one in self.bounds.items()},
        }


@dataclass
class Findings:
    """Diagnostics of a run, collected while its parts are processed."""

    rows: int = 0
    tied: int = 0
    negative: int = 0
    float32_ties: int = 0
    fingerprint: int = 0
    unjudged: list[str] = field(default_factory=list)
    queries_unjudged: int = 0
    sizes: list[Integers] = field(default_factory=list)
    holes: list[Integers] = field(default_factory=list)
    codes: list[Integers] = field(default_factory=list)

    @property
    def answered(self) -> int:
        """Return how many judged queries the run answers, as far as processed."""
        return sum(map(len, self.codes))

    def look(self, qrels: Qrels, run: Run, matched: Match) -> None:
        """Process some queries of the run."""
        rankings = matched.rankings
        top = rankings.ranks <= TOP
        self.rows += len(run)
        self.tied += run.tied_rows
        self.float32_ties += _float32_ties(run)
        self.negative += int(np.count_nonzero(rankings.grades[top] < 0))
        self.fingerprint = (self.fingerprint + _fingerprint(run)) % 2**64
        self.sizes.append(rankings.returned)
        self.holes.append(np.minimum(rankings.returned, TOP) - rankings.count(top))
        self.codes.append(matched.codes)
        foreign = run.queries - len(matched.codes)
        self.queries_unjudged += foreign
        if foreign:
            names = (query_id for query_id in run.query_ids if query_id not in qrels.codes)
            self.unjudged = sorted([*self.unjudged, *names])[:MOST_NAMED]

    def unanswered(self, qrels: Qrels) -> list[str]:
        """Return the judged queries that have not been processed."""
        if self.answered == qrels.queries:
            return []
        unanswered_mask = np.ones(qrels.queries, dtype=np.bool_)
        unanswered_mask[_joined(self.codes)] = False
        return [qrels.query_ids[at] for at in np.flatnonzero(unanswered_mask).tolist()]

    def diagnostics(self, qrels: Qrels) -> Diagnostics:
        """Return the diagnostics after the whole run was processed."""
        codes, sizes, holes = (_joined(parts) for parts in (self.codes, self.sizes, self.holes))
        missing = self.unanswered(qrels)
        best = qrels.highest
        return Diagnostics(
            rows=self.rows,
            ties=self.tied / self.rows if self.rows else 0.0,
            duplicates=qrels.duplicates,
            queries_missing=len(missing),
            queries_unjudged=self.queries_unjudged,
            queries_without_relevant=int(np.count_nonzero(best <= 0)),
            holes=int(holes.sum()),
            missing=tuple(missing[:MOST_NAMED]),
            unjudged=tuple(self.unjudged),
            queries_negative=int(np.count_nonzero(best < 0)),
            negative=self.negative,
            least_judged=_least_judged(qrels.query_ids, codes, sizes, holes),
            float32_ties=self.float32_ties,
            fingerprint=self.fingerprint,
            depth=Depth(int(sizes.min()), float(np.median(sizes)), int(sizes.max())) if len(sizes) else None,
        )


def _joined(parts: Sequence[Integers]) -> Integers:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _fingerprint(run: Run) -> int:
    """Return a sum over all rows, which does not depend on the order of the queries."""
    sizes = run.offsets[1:] - run.offsets[:-1]
    keys = run.doc_ids.keys() + np.repeat(Texts.of(run.query_ids).keys(), sizes) * SPREAD
    keys ^= keys >> np.uint64(32)
    ranks = np.arange(len(run)) - np.repeat(run.offsets[:-1], sizes)
    return int((keys * (2 * ranks + 1).astype(np.uint64)).sum(dtype=np.uint64))


def with_twins(named: Sequence[tuple[str, Diagnostics]]) -> list[Diagnostics]:
    """Add to each run the names of other runs with the same rankings."""
    by_fingerprint: dict[int, list[str]] = {}
    for name, one in named:
        by_fingerprint.setdefault(one.fingerprint, []).append(name)
    with_names = []
    for name, one in named:
        twins = tuple(twin for twin in by_fingerprint[one.fingerprint] if twin != name)
        with_names.append(one if one.identical_to == twins else replace(one, identical_to=twins))
    return with_names


def _float32_ties(run: Run) -> int:
    with np.errstate(over="ignore"):
        cut = run.scores.astype(np.float32)
    equal = cut[1:] == cut[:-1]
    if not equal.any():
        return 0
    equal &= run.scores[1:] != run.scores[:-1]
    equal[run.offsets[1:-1] - 1] = False
    return int(np.count_nonzero(equal))


def _least_judged(query_ids: Sequence[str], codes: Integers, sizes: Integers, holes: Integers) -> str | None:
    if not len(codes) or not holes.any():
        return None
    shares = holes / np.minimum(sizes, TOP)
    worst = codes[shares == shares.max()]
    return query_ids[int(worst.min())]
