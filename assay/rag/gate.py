"""A gate for RAG systems: rules that the outputs of a candidate must satisfy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.decisions.gate import FEW_QUERIES, check
from assay.decisions.gate_rules import Rule, parse_rule
from assay.decisions.gate_verdicts import Drop, GateResult, decide
from assay.metrics.metric import mean
from assay.rag.comparison import NO_COMMON, NO_MEAN, of_samples, paired_values
from assay.rag.evaluation import RagEvaluation, SystemScores, evaluate
from assay.rag.metric import Metric
from assay.rag.metric_names import parse_metrics
from assay.rag.reader import Missing
from assay.scoring.results import Summary
from assay.significance.paired_differences import PERMUTATIONS, paired_p_values
from assay.significance.results import effect

EXAMPLE = "TokenF1 >= 0.6"
DROP_EXAMPLE = "drop(TokenF1) <= 0.02 unless p >= 0.05"
BASELINE, CANDIDATE = "baseline", "candidate"


@dataclass(frozen=True)
class RuleMetric:
    """A RAG metric in a rule, named by its label."""

    name: str
    metric: Metric


def read_rules(rules: str | Rule | Iterable[str | Rule]) -> list[Rule]:
    """Parse the rules of a RAG gate."""
    many = [rules] if isinstance(rules, str | Rule) else list(rules)
    if not many:
        raise NotValid(f"there are no rules; write a rule such as {EXAMPLE!r} or {DROP_EXAMPLE!r}")
    return [parse_rule(rule, _read_metrics) if isinstance(rule, str) else rule for rule in many]


def gate(
    samples: Any,
    baseline: Any,
    candidate: Any,
    rules: str | Rule | Iterable[str | Rule],
    *,
    missing: Missing = "error",
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    critic: Any = None,
    embed_fn: Any = None,
) -> GateResult:
    """Decide whether the outputs of a candidate satisfy rules.

    Examples
    --------
    >>> samples = [{"id": str(n), "question": "Where?", "ground_truth": "in the box"} for n in range(8)]
    >>> outputs = [{"id": str(n), "answer": "in a box"} for n in range(8)]
    >>> [verdict.passed for verdict in gate(samples, None, outputs, ["TokenF1 >= 0.7", "MeanLatency <= 2"]).verdicts]
    [True, False]
    """
    chosen = read_rules(rules)
    check(chosen, baseline is not None, permutations, seed)
    systems = ({} if baseline is None else {BASELINE: baseline}) | {CANDIDATE: candidate}
    metrics = [metric_of(rule) for rule in chosen]
    # Rules need no intervals.
    evaluation = evaluate(
        samples, systems, metrics, missing=missing, resamples=1, seed=seed, critic=critic, embed_fn=embed_fn
    )
    before, after = evaluation.systems[0] if baseline is not None else None, evaluation.systems[-1]
    verdicts = tuple(
        decide(
            rule,
            candidate=_summary(after, rule.metric.name),
            baseline=None if before is None else _summary(before, rule.metric.name),
            drop=_drop(before, after, rule.metric.name, permutations, seed) if rule.drop and before else None,
        )
        for rule in chosen
    )
    warnings = [*evaluation.notes, *_few([verdict.queries for verdict in verdicts]), *_skipped(evaluation)]
    return GateResult(verdicts, tuple(warnings), len(evaluation.samples), missing, permutations, seed, unit="sample")


def _read_metrics(text: str) -> list[RuleMetric]:
    return [RuleMetric(metric.label, metric) for metric in parse_metrics([text])]


def metric_of(rule: Rule) -> Metric:
    """Return the metric of a rule from `read_rules`."""
    if not isinstance(rule.metric, RuleMetric):
        raise NotValid(f"the rule {rule.text!r} has no RAG metric; parse it with assay.rag.gate.read_rules")
    return rule.metric.metric


def _summary(system: SystemScores, label: str) -> Summary:
    score = system.scores[label]
    details = score.result.details
    return Summary(score.value if score.defined else None, details["num_samples"], reason=details["reason"])


def _drop(before: SystemScores, after: SystemScores, label: str, permutations: int, seed: int) -> Drop:
    scores = [system.scores[label] for system in (before, after)]
    if undefined := next((score for score in scores if not score.defined), None):
        return Drop(0, None, None, None, undefined.result.details["reason"])
    if not all(score.result.is_mean for score in scores):
        number = min(score.result.details["num_samples"] for score in scores)
        return Drop(number, scores[0].value, scores[1].value, None, NO_MEAN)
    ids, values = paired_values(label, before, after)
    if not ids:
        return Drop(0, None, None, None, NO_COMMON)
    p = paired_p_values(values, [(0, 1)], permutations=permutations, seed=seed)
    size = effect(values[:, 0], values[:, 1])
    first, second = (mean(column) for column in values.T.tolist())
    differing = size.wins + size.losses
    reason = of_samples(p.reasons[0])
    return Drop(len(ids), first, second, p.values[0], reason, p.smallest, differing, size.detectable)


def _few(numbers: Sequence[int]) -> list[str]:
    fewest = min(numbers)
    if fewest >= FEW_QUERIES:
        return []
    return [
        (f"based on {amount(fewest, 'sample')}, fewer than {FEW_QUERIES}: other samples may give a different result")
    ]


def _skipped(evaluation: RagEvaluation) -> list[str]:
    lines = []
    for system in evaluation.systems:
        for label, score in system.scores.items():
            skipped = {reason: n for reason, n in score.result.details["skipped"].items() if reason != "not_selected"}
            if score.defined and skipped:
                counts = ", ".join(f"{reason} {number:,}" for reason, number in skipped.items())
                lines.append(f"{label} leaves out samples of the {system.name}: {counts}")
    return lines
