"""The share of distinct n-grams in all answers together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.rag.metric import Metric, MetricResult, Skip, check_pairs, counts, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.words import ngrams, response_text, tokens


@dataclass(frozen=True)
class DistinctN(Metric):
    """The share of distinct n-grams in all answers together."""

    target = TargetCategory.DIVERSITY
    title = "Distinct-n"
    description = "The share of distinct n-grams among the n-grams of all answers."
    formula = "distinct n-grams / n-grams, over all answers"
    source = "Li et al. 2016; Auepora metrics specification, 7.2.1"
    pattern = r"distinct_(?P<n>\d+)"
    higher_is_better = None
    shown = ("n",)
    needs = ("response",)

    n: int = option(2, "The length of the n-grams.", minimum=1, maximum=10)

    def compute(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> MetricResult:
        """Compute the share over all answers with n-grams."""
        check_pairs(samples, outputs)
        different: set[tuple[str, ...]] = set()
        total = 0
        values: list[float | Skip] = []
        for output in outputs:
            if output.missing or output.response is None:
                values.append(Skip("missing_output" if output.missing else "no_response"))
                continue
            words = tokens(response_text(output))
            own = list(ngrams(words, self.n))
            different.update(own)
            total += len(own)
            values.append(len(set(own)) / len(own) if own else Skip("short_answer" if words else "empty_answer"))
        details = counts(values) | {"num_ngrams": total, "num_distinct": len(different)}
        per_sample = tuple(None if isinstance(value, Skip) else value for value in values)
        return MetricResult(len(different) / total if total else 0.0, details, per_sample)
