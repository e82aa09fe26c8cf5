"""Effect of each rater of a round on the ranking of the systems."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotAllowed, NotValid
from evaluation.effects import job
from evaluation.effects.round_runs import METRIC, all_runs, answering_tables, metric_named, state_key, takes_a_job
from judgments.jobs.single_flight import compute_once
from judgments.labels import grade_visibility
from judgments.labels.round_labels import RatedRound, read_rounds
from judgments.models import Round
from judgments.snapshots.freeze_preview import SLOW
from pooling.models import Run

if TYPE_CHECKING:
    from assay.effects.rater_effects import RaterEffect
    from assay.metrics.metric import BoundMetric

DAY = 24 * 3600
# Part of cache keys: increase this number when the format of the result changes, so that older entries are ignored.
FORM = 1
# Rules that fit a model are fitted twice per rater; above this product of grades and raters only vote rules are
# allowed.
MOST_FITTED = 20_000


@dataclass(frozen=True)
class RaterEffects:
    """The effect of each rater of a round."""

    metric: str
    rule: str
    runs: tuple[str, ...]
    raters: tuple[RaterEffect, ...]
    newer: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the effects as a dict."""
        return asdict(self)


def look(round_: Round, *, metric: str = METRIC, rule: str = "median") -> RaterEffects:
    """Rank the collection's runs by the round's labels without each rater, and by each rater's grades alone."""
    from assay.aggregation import RULES

    if rule not in RULES:
        raise NotValid(f"Unknown label rule {rule!r}.", {"rule": f"One of {', '.join(RULES)}."})
    bound, runs = metric_named(metric, round_), all_runs(round_)
    if not takes_a_job(round_, runs):
        key = f"raters:{FORM}:{state_key(round_, runs, bound.name, rule)}"
        return compute_once(key, lambda: _computed(round_, runs, bound, rule), keep=DAY)
    if rule in SLOW and rule not in rules_for(round_):
        raise _too_slow(rule)
    latest = job.look(round_, runs, "raters", metric=bound.name, rule=rule)
    return _read(latest.effects, latest.newer)


def counted(round_: Round, runs: list[Run], *, metric: str, rule: str) -> dict[str, Any]:
    """Return the effects of a large round as a dict, for a job."""
    return _computed(round_, runs, metric_named(metric, round_), rule).as_json()


def _read(effects: dict[str, Any], newer: int) -> RaterEffects:
    from assay.effects.rater_effects import Ranking, RaterEffect

    raters = tuple(
        RaterEffect(row["rater"], row["pairs"], Ranking(**row["without"]), Ranking(**row["alone"]))
        for row in effects["raters"]
    )
    return RaterEffects(effects["metric"], effects["rule"], tuple(effects["runs"]), raters, newer)


def _computed(round_: Round, runs: list[Run], bound: BoundMetric, rule: str) -> RaterEffects:
    from assay.effects.rater_effects import rater_effects

    (rated,) = read_rounds([round_])
    _check(rated, rule)
    answering = answering_tables(runs, set(rated.ratings.query_ids))
    if len(answering) < 2:
        raise NotValid("A ranking needs at least two runs with results for this round's queries.")
    scale = round_.scale.values()
    effects = rater_effects(rated.ratings, rated.resolved, answering, bound, rule=rule, scale=scale)
    return RaterEffects(bound.name, rule, tuple(table.name for table in answering), tuple(effects))


def rules_for(round_: Round) -> list[str]:
    """Return the label rules that `look` supports for a round of this size."""
    from assay.aggregation import RULES

    given = [tally.graded for tally in round_.tallies.all() if tally.graded]
    few = sum(given) * len(given) <= MOST_FITTED
    return [name for name in RULES if few or name not in SLOW]


def check_reader(round_: Round, reader: Any) -> None:
    """Refuse a reader whom the ranking by one rater would show grades of pairs they may still grade."""

    def judged() -> dict[str, set[str]]:
        doc_ids: dict[str, set[str]] = {}
        for query_id, doc_id in round_.pairs.values_list("query__query_id", "document__doc_id"):
            doc_ids.setdefault(query_id, set()).add(doc_id)
        return doc_ids

    if grade_visibility.hiding_round(reader, round_.collection, judged) is not None:
        raise NotAllowed(
            "You may still have to grade pairs of this round, and the effect of a rater would reveal other raters' "
            "grades. You can see the effect after you have finished rating, or after the round is closed."
        )


def _check(rated: RatedRound, rule: str) -> None:
    if len(rated.ratings.raters) < 2:
        raise NotValid("Fewer than two raters have graded in this round, so no rater can be left out.")
    if rule in SLOW and len(rated.rows) * len(rated.ratings.raters) > MOST_FITTED:
        raise _too_slow(rule)


def _too_slow(rule: str) -> NotValid:
    message = (
        f"The rule {rule} must be fitted twice per rater, which takes too long for this round. Choose another rule."
    )
    return NotValid(message, "rule")
