"""BLEU of all answers together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from assay.core.errors import NotValid
from assay.rag.metric import Floats, Metric, MetricResult, Skip, check_pairs, counts, option
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory
from assay.rag.words import ngrams, response_text

SMOOTHING = ("exp", "floor", "add-k", "none")


@dataclass(frozen=True)
class BleuScore(Metric):
    """Corpus BLEU computed with sacrebleu, from 0 to 100."""

    target = TargetCategory.GENERATION_CORRECTNESS
    title = "BLEU"
    description = "The share of the n-grams of all answers that also occur in the reference answers, from 0 to 100."
    formula = (
        "100 BP exp(mean over n of log p_n), where p_n is the clipped n-gram precision over all answers and BP "
        "the brevity penalty"
    )
    source = "Papineni et al. 2002; Post 2018 (sacrebleu); Auepora metrics specification, 4.2.2"
    differs = (
        "As in sacrebleu, a sample may have several reference answers, and BLEU is computed over all answers "
        "together. It is not the mean of the samples' values."
    )
    pattern = "bleu"
    extra = "rag"
    needs = ("reference_answer", "response")

    max_order: int = option(4, "The maximum length of the n-grams.", minimum=1, maximum=10)
    smooth_method: str = option("exp", "The smoothing method for a precision of 0.", choices=SMOOTHING)

    def compute(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> MetricResult:
        """Compute BLEU over all answers with a reference; ``per_sample`` contains sentence BLEU, which is not
        averaged.
        """
        check_pairs(samples, outputs)
        tokenizer = _tokenizer()
        rows: list[list[float]] = []
        values: list[float | Skip] = []
        for sample, output in zip(samples, outputs, strict=True):
            why = "no_reference" if not sample.references else "no_response" if _silent(output) else None
            if why is not None:
                rows.append([np.nan] * (2 * self.max_order + 2))
                values.append(Skip(why))
                continue
            references = [tokenizer(text.rstrip()).split() for text in sample.references]
            rows.append(self._counts(tokenizer(response_text(output).rstrip()).split(), references))
            values.append(self._score(np.array(rows[-1]), effective_order=True))
        columns = np.array(rows, dtype=float).reshape(len(rows), 2 * self.max_order + 2)
        known = ~np.isnan(columns[:, 0])
        number = int(known.sum())

        def combine(means: Floats) -> Floats:
            return np.array([self._score(row * number) for row in means])

        value = float(combine(columns[known].mean(axis=0, keepdims=True))[0]) if number else 0.0
        per_sample = tuple(None if isinstance(one, Skip) else float(one) for one in values)
        return MetricResult(value, counts(values), per_sample, columns=columns, combine=combine)

    def _counts(self, answer: list[str], references: list[list[str]]) -> list[float]:
        """Return the shared n-grams by length, the answer's n-grams by length, its length, and the length of the
        nearest reference."""
        shared, total = [], []
        for n in range(1, self.max_order + 1):
            own = Counter(ngrams(answer, n))
            most = Counter(ngrams(references[0], n))
            for other in references[1:]:
                most |= Counter(ngrams(other, n))
            shared.append(sum(min(count, most[one]) for one, count in own.items() if one in most))
            total.append(own.total())
        _, nearest = min((abs(len(one) - len(answer)), len(one)) for one in references)
        return [*shared, *total, len(answer), nearest]

    def _score(self, sums: Floats, effective_order: bool = False) -> float:
        from sacrebleu.metrics.bleu import BLEU

        whole = np.rint(sums).astype(int).tolist()
        order = self.max_order
        return float(
            BLEU.compute_bleu(
                correct=whole[:order],
                total=whole[order : 2 * order],
                sys_len=whole[-2],
                ref_len=whole[-1],
                smooth_method=self.smooth_method,
                max_ngram_order=order,
                effective_order=effective_order,
            ).score
        )


def _tokenizer() -> Any:
    if find_spec("sacrebleu") is None:
        raise NotValid("BleuScore needs sacrebleu; install it with: pip install 'assay[rag]'")
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    made: Any = Tokenizer13a
    return made()


def _silent(output: SystemOutputs) -> bool:
    return output.response is None and not output.missing
