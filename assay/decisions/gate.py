"""Gate: check a candidate run against rules, alone and against a baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from assay.core.errors import NotValid
from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.core.text_rules import agree, amount
from assay.decisions.gate_rules import DROP_EXAMPLE, EXAMPLE, Rule, equal, parse_rule
from assay.decisions.gate_verdicts import Drop, GateResult, Verdict, decide
from assay.formats.trec_run import RunFile
from assay.metrics.metric import BoundMetric, MeanKind, mean, parse_metric
from assay.scoring.evaluate import evaluate
from assay.scoring.results import Evaluation
from assay.significance.paired_differences import PERMUTATIONS, paired_p_values
from assay.significance.results import effect
from assay.significance.sign_flips import Floats

COVERAGE = "Judged@10"
MOST_PERMUTATIONS = 10_000_000


def gate(
    qrels: Qrels,
    baseline: Run | RunFile | None,
    candidate: Run | RunFile,
    rules: str | Rule | Iterable[str | Rule],
    *,
    missing: Literal["zero", "skip"] = "zero",
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    scale_top: float | None = None,
) -> GateResult:
    """Check a candidate run against rules.

    Examples
    --------
    >>> qrels = Qrels.from_dict({f"q{n}": {"good": 1} for n in range(8)})
    >>> old = Run.from_dict({f"q{n}": {"good": 2.0, "bad": 1.0} for n in range(8)}, name="old")
    >>> new = Run.from_dict({f"q{n}": {"good": 2.0} if n else {"bad": 2.0, "good": 1.0} for n in range(8)}, name="new")
    >>> result = gate(qrels, old, new, ["RR >= 0.9", "drop(RR) <= 0.01", "drop(RR) <= 0.01 unless p >= 0.05"])
    >>> result.passed, [verdict.passed for verdict in result.verdicts]
    (False, [True, False, True])
    >>> result.verdicts[2].value, result.verdicts[2].p
    (0.0625, 1.0)
    """
    chosen = _read(rules)
    check(chosen, baseline is not None, permutations, seed)
    named = [cast(BoundMetric, rule.metric) for rule in chosen]
    metrics = [*named, parse_metric(COVERAGE)]
    # Score each run separately, because the outputs of two pipeline branches often have the same name.
    of_candidate = evaluate(qrels, candidate, metrics, missing, scale_top=scale_top, ranges=False)
    of_baseline = (
        None if baseline is None else evaluate(qrels, baseline, metrics, missing, scale_top=scale_top, ranges=False)
    )
    dropped = {metric.name: metric.metric.mean for rule, metric in zip(chosen, named, strict=True) if rule.drop}
    drops = _drops(of_baseline, of_candidate, dropped, permutations, seed) if of_baseline else {}
    verdicts = tuple(_verdict(rule, of_baseline, of_candidate, drops) for rule in chosen)
    return GateResult(
        verdicts=verdicts,
        warnings=(
            *cautions(_facts(qrels, of_baseline, of_candidate, missing), verdicts),
            *of_candidate.unreached_notes,
        ),
        queries=qrels.queries,
        missing=missing,
        permutations=permutations,
        seed=seed,
        scale_top=scale_top,
    )


def _read(rules: str | Rule | Iterable[str | Rule]) -> list[Rule]:
    many = [rules] if isinstance(rules, str | Rule) else list(rules)
    if not many:
        raise NotValid(f"there are no rules; write a rule such as {EXAMPLE!r} or {DROP_EXAMPLE!r}")
    return [parse_rule(rule) if isinstance(rule, str) else rule for rule in many]


def check(rules: Sequence[Rule], baseline: bool, permutations: int, seed: int) -> None:
    """Reject rules that cannot be decided for any run; `gate` calls this itself."""
    without = next((rule for rule in rules if rule.drop and not baseline), None)
    if without is not None:
        raise NotValid(f"the rule {without.text!r} needs a baseline; add --baseline RUN")
    if not 1 <= permutations <= MOST_PERMUTATIONS:
        raise NotValid(f"permutations is {permutations:,}; use a number from 1 to {MOST_PERMUTATIONS:,}")
    if seed < 0:
        raise NotValid(f"the seed is {seed}; use a whole number, 0 or more")


def _drops(
    baseline: Evaluation, candidate: Evaluation, kinds: Mapping[str, MeanKind], permutations: int, seed: int
) -> dict[str, Drop]:
    """Compare the runs on the queries that count for both; metrics with the same queries share a set of draws."""
    groups: dict[bytes, list[str]] = {}
    values: dict[str, Floats] = {}
    tested: dict[str, Floats] = {}
    for name in kinds:
        pair = np.column_stack([of.runs[0].per_query[name] for of in (baseline, candidate)])
        both = ~np.isnan(pair).any(axis=1)
        groups.setdefault(both.tobytes(), []).append(name)
        values[name] = pair[both]
        tested[name] = np.column_stack([of.tested(of.runs[0], name) for of in (baseline, candidate)])[both]
    by_metric: dict[str, Drop] = {}
    for group in groups.values():
        scores = np.concatenate([tested[name] for name in group], axis=1)
        pairs = [(2 * at, 2 * at + 1) for at in range(len(group))]
        p = paired_p_values(scores, pairs, permutations=permutations, seed=seed)
        for at, name in enumerate(group):
            by_metric[name] = _drop(values[name], kinds[name], p.values[at], p.reasons[at], p.smallest)
    return by_metric


def _drop(scores: Floats, kind: MeanKind, p: float | None, reason: str | None, smallest: float | None) -> Drop:
    if not len(scores):
        return Drop(0, None, None, None, "no judged query is answered by both runs")
    size = effect(scores[:, 0], scores[:, 1])
    return Drop(
        queries=len(scores),
        baseline=mean(scores[:, 0].tolist(), kind),
        candidate=mean(scores[:, 1].tolist(), kind),
        p=p,
        reason=reason,
        smallest_p=smallest,
        differing=size.wins + size.losses,
        # It refers to the difference of arithmetic means.
        detectable=size.detectable if kind == "arithmetic" else None,
    )


def _verdict(rule: Rule, baseline: Evaluation | None, candidate: Evaluation, drops: Mapping[str, Drop]) -> Verdict:
    name = rule.metric.name
    return decide(
        rule,
        candidate=candidate.runs[0].metrics[name],
        baseline=None if baseline is None else baseline.runs[0].metrics[name],
        drop=drops.get(name) if rule.drop else None,
    )


def _facts(qrels: Qrels, baseline: Evaluation | None, candidate: Evaluation, missing: str) -> Facts:
    return Facts(
        queries=qrels.queries,
        missing=missing,
        unanswered=candidate.runs[0].diagnostics.queries_missing,
        unanswered_by_baseline=None if baseline is None else baseline.runs[0].diagnostics.queries_missing,
        judged=_judged(candidate),
        judged_of_baseline=None if baseline is None else _judged(baseline),
    )


def _judged(evaluation: Evaluation) -> float | None:
    """Return Judged@10 over the queries that the run answers, because unanswered queries have no unjudged documents."""
    run = evaluation.runs[0]
    answered = len(evaluation.query_ids) - run.diagnostics.queries_missing
    return float(np.nansum(run.per_query[COVERAGE])) / answered if answered else None


# Below 25 queries two systems are often ranked the wrong way round. Source: Buckley and Voorhees 2000.
FEW_QUERIES = 25
GAP = 0.05
LEAST_JUDGED = 0.8


@dataclass(frozen=True)
class Facts:
    """Facts about the runs that the rules do not cover."""

    queries: int
    missing: str
    unanswered: int
    unanswered_by_baseline: int | None
    judged: float | None
    judged_of_baseline: float | None


def cautions(facts: Facts, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return warnings about the reliability of the verdicts.

    Examples
    --------
    >>> cautions(Facts(200, "zero", 0, 0, 0.95, 0.96), [])
    ()
    >>> cautions(Facts(200, "zero", 0, None, 0.7, None), [])
    ("70% of the candidate's top 10 is judged; unjudged documents count as not relevant; judge them first",)
    """
    sentences = [_holes(facts), *_unanswered(facts), _few(facts, verdicts), *(_cheap_excuse(one) for one in verdicts)]
    return tuple(text for text in sentences if text)


def _holes(facts: Facts) -> str:
    ours, theirs = facts.judged, facts.judged_of_baseline
    if ours is None:
        return ""
    if theirs is not None and abs(ours - theirs) > GAP and not equal(abs(ours - theirs), GAP):
        shares = f"{ours:.0%} of the candidate's top 10 is judged, {theirs:.0%} of the baseline's"
        if ours < theirs:
            return (
                f"{shares}; unjudged documents count as not relevant, so the candidate may be better than its scores "
                "suggest"
            )
        return f"{shares}; unjudged documents count as not relevant, so the baseline may be better and the drop larger"
    if ours < LEAST_JUDGED:
        advice = "unjudged documents count as not relevant; judge them first"
        return f"{ours:.0%} of the candidate's top 10 is judged; {advice}"
    return ""


def _unanswered(facts: Facts) -> list[str]:
    one, several = ("scores 0", "score 0") if facts.missing == "zero" else ("is left out", "are left out")
    return [
        f"{who} does not answer {count} of {amount(facts.queries, 'judged query', 'judged queries')}, "
        f"which {agree(count, one, several)}"
        for who, count in (("the candidate", facts.unanswered), ("the baseline", facts.unanswered_by_baseline))
        if count
    ]


def _few(facts: Facts, verdicts: Sequence[Verdict]) -> str:
    counted = min([facts.queries, *(verdict.queries for verdict in verdicts)])
    if counted >= FEW_QUERIES:
        return ""
    start = f"based on {counted} quer{'y' if counted == 1 else 'ies'}, fewer than {FEW_QUERIES}"
    seen = [one for one in verdicts if one.detectable is not None]
    worst = max(seen, key=lambda one: one.detectable or 0.0, default=None)
    if worst is None:
        return f"{start}: a different sample of queries may give a different result"
    name = worst.rule.metric.name
    return (
        f"{start}: a true difference in {name} of {worst.detectable:.3f} is detected with 80% probability, and "
        "smaller differences less often"
    )


def _cheap_excuse(verdict: Verdict) -> str:
    """Return a warning about a drop that is excused only because it occurs on too few queries to be significant."""
    luck = verdict.rule.luck
    if not verdict.excused or luck is None or 2.0 ** (1 - verdict.differing) < luck:
        return ""
    excuse = (
        f"{verdict.differing} of {amount(verdict.queries, 'query', 'queries')} "
        f"{agree(verdict.differing, 'differs', 'differ')}, too few for any p below {luck:g}"
    )
    return f"{verdict.rule.text!r} is excused, but only because {excuse}: inspect these queries"
