"""The base classes of RAG metrics, and their results."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from keyword import iskeyword
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.parameters import Parameter
from assay.rag.records import EvaluationSample, SystemOutputs, TargetCategory

Floats = npt.NDArray[np.float64]
Field = Literal["reference_answer", "relevant_docs", "response"]
# Reasons for a sample without a value although its fields are present. A metric may add its own reasons.
REASONS = {
    "empty_gold": "no relevant document is known",
    "no_reference": "the sample has no reference answer",
    "no_response": "the output has no response",
    "empty_answer": "the answer is empty",
    "short_answer": "the answer has fewer words than an n-gram",
    "no_evidence": "the evidence has no text",
    "no_timing": "the output has no timing for this stage",
    "missing_output": "the system has no output",
    "missing_embedding": "a document has no embedding",
    "zero_vector": "an embedding has length 0",
    "fewer_than_two_documents": "fewer than two documents were retrieved",
    "unknown_parent": "`variant_of` names a sample that is not in the set",
    "circular_variant": "`variant_of` leads back to the sample",
    "not_selected": "the metric does not apply to this sample",
    "critic_error": "the critic failed",
    "critic_unparseable": "the critic's reply has no score",
    "critic_off_scale": "the critic's score is off its scale",
    "critic_not_asked": "the critic was not asked",
}
# Reasons for a sample without a value because a field is missing.
LACKING: dict[Field, str] = {
    "relevant_docs": "empty_gold",
    "reference_answer": "no_reference",
    "response": "no_response",
}


# A parameter in the pattern of a name: (?P<k>\d+), or the optional (?:@(?P<k>\d+))? that stands for its default.
_GROUP = re.compile(r"(?:\(\?:(?P<mark>.))?\(\?P<(?P<name>\w+)>[^()]*\)(?P<optional>\)\?)?")


class Skip(NamedTuple):
    """Reason why a sample has no value: a key of `REASONS`."""

    reason: str


def option(
    default: Any, description: str, *, minimum: float | None = None, maximum: float | None = None, choices: Any = ()
) -> Any:
    """Declare a parameter of a metric: its default, description and limits."""
    about = {"description": description, "minimum": minimum, "maximum": maximum, "choices": tuple(choices)}
    return field(default=default, metadata=about)


@dataclass(frozen=True)
class MetricResult:
    """The value of a metric over a set of samples.

    Parameters
    ----------
    value : float
        The value, which is 0.0 if nothing could be measured; ``details["defined"]`` distinguishes this from a measured
        0.
    details : dict
        ``num_samples`` (with a value), ``num_skipped``, ``skipped`` (reason to count), ``skipped_REASON``, ``defined``,
        ``reason`` (why it is undefined, otherwise None), and details of the metric.
    per_sample : tuple of float or None
        The value of each sample; None if it was skipped.
    reasons : tuple of str or None
        Why each sample was skipped, for a mean over samples.
    columns : float64 array, shape (samples, columns), or None
        The numbers whose means over the samples determine the value; NaN if a sample does not count.
    combine : callable or None
        Converts means of the columns, shape (draws, columns), to values, shape (draws,). None if the value is the mean
        of a single column, or there are no columns.
    """

    value: float
    details: dict[str, Any]
    per_sample: tuple[float | None, ...] = ()
    reasons: tuple[str | None, ...] = field(default=(), repr=False)
    columns: Floats | None = field(default=None, compare=False, repr=False)
    combine: Callable[[Floats], Floats] | None = field(default=None, compare=False, repr=False)

    @property
    def defined(self) -> bool:
        """Return whether the metric is defined."""
        return bool(self.details["defined"])

    @property
    def is_mean(self) -> bool:
        """Return whether the value is the mean of the sample values."""
        return self.columns is not None and self.combine is None


@dataclass(frozen=True)
class Metric(ABC):
    """A metric over samples and outputs.

    A subclass is a frozen dataclass whose fields are its parameters, declared with `option`.
    """

    target: ClassVar[TargetCategory]
    title: ClassVar[str]
    description: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    # The value of -m in the documentation; empty for the label.
    example: ClassVar[str] = ""
    # How and why it differs from a metric with the same name.
    differs: ClassVar[str] = ""
    # The name as a regular expression whose groups are parameters; empty to accept only the class name.
    pattern: ClassVar[str] = ""
    # None if neither is better.
    higher_is_better: ClassVar[bool | None] = True
    # The extra with its dependencies; empty for none.
    extra: ClassVar[str] = ""
    # Parameters that the label always contains.
    shown: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[Field, ...]] = ()
    # The name before the parentheses, for a metric with an inner metric.
    called: ClassVar[str] = ""
    # Whether the value of a sample depends on other samples, which a slice may lack.
    across_samples: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for one in fields(self):
            if one.metadata:
                object.__setattr__(self, one.name, _checked(type(self).__name__, one, getattr(self, one.name)))

    @property
    def name(self) -> str:
        """Return the stable, machine-readable name, such as ``recall@5``: the pattern with the parameters."""
        return _GROUP.sub(self._filled, self.pattern)

    def _filled(self, group: re.Match[str]) -> str:
        value = getattr(self, group["name"])
        if group["optional"] and value == getattr(type(self), group["name"]):
            return ""
        return f"{group['mark'] or ''}{value:g}" if isinstance(value, float) else f"{group['mark'] or ''}{value}"

    @property
    def category(self) -> TargetCategory:
        """Return the target with these parameters."""
        return self.target

    @property
    def label(self) -> str:
        """Return the class name with the parameters that differ from their defaults, such as ``RecallAtK(k=5)``."""
        parameters = []
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, Metric):
                parameters.append(value.label)
            elif one.metadata and (one.name in self.shown or value != one.default):
                parameters.append(f"{one.name}={_written(value)}")
        return f"{type(self).__name__}({', '.join(parameters)})" if parameters else type(self).__name__

    def required_fields(self) -> list[str]:
        """Return the fields that a sample needs to have a value."""
        return list(self.needs)

    @abstractmethod
    def compute(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> MetricResult:
        """Compute the metric.

        Parameters
        ----------
        samples, outputs : sequence
            Sequences of the same length; each output belongs to the sample at its position.

        Raises
        ------
        NotValid
            When they do not match, or an input cannot be used.
        """

    @classmethod
    def from_name(cls, text: str) -> Self | None:
        """Return the metric with this name, or None."""
        match = re.fullmatch(cls.pattern, text) if cls.pattern else None
        if match is None:
            return None
        return cls(
            **{key: float(value) if "." in value else int(value) for key, value in match.groupdict().items() if value}
        )


class SampleMetric(Metric):
    """A metric whose value is the mean over samples."""

    def compute(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> MetricResult:
        """Compute the mean; a sample without a required field is skipped and counted."""
        check_pairs(samples, outputs)
        values = self.values(samples, outputs)
        # The count of each required field is included even if it is 0.
        return mean_result(values, possible=[LACKING[name] for name in self.needs])

    def values(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> list[float | Skip]:
        """Return the value of each sample, or why it has no value. A missing output counts as 0."""
        values: list[float | Skip | None] = [self.skip(*pair) for pair in zip(samples, outputs, strict=True)]
        open_ = []
        for place, output in enumerate(outputs):
            if values[place] is None and output.missing:
                values[place] = self.missing_value()
            if values[place] is None:
                open_.append(place)
        scored = self.scores([samples[place] for place in open_], [outputs[place] for place in open_])
        for place, value in zip(open_, scored, strict=True):
            values[place] = value
        return cast("list[float | Skip]", values)

    def skip(self, sample: EvaluationSample, output: SystemOutputs) -> Skip | None:
        """Return why the sample has no value, before any computation."""
        lacks: dict[Field, bool] = {
            "relevant_docs": not sample.relevant_docs,
            "reference_answer": not sample.references,
            "response": output.response is None and not output.missing,
        }
        return next((Skip(LACKING[name]) for name, lacking in lacks.items() if lacking and name in self.needs), None)

    def missing_value(self) -> float | Skip:
        """Return the value of a missing output."""
        return 0.0

    def scores(self, samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> Sequence[float | Skip]:
        """Return the values of samples with all required fields; override this method to compute them together."""
        return [self.score(sample, output) for sample, output in zip(samples, outputs, strict=True)]

    def score(self, sample: EvaluationSample, output: SystemOutputs) -> float | Skip:
        """Return the value of a sample."""
        raise NotImplementedError


def mean_result(
    values: Sequence[float | Skip], more: Mapping[str, Any] | None = None, possible: Iterable[str] = ()
) -> MetricResult:
    """Build the result of a mean from the sample values; ``possible`` reasons are listed even if their count is 0."""
    per_sample = tuple(None if isinstance(value, Skip) else float(value) for value in values)
    column = np.array([[np.nan if value is None else value] for value in per_sample]).reshape(len(per_sample), 1)
    known = [value for value in per_sample if value is not None]
    from assay.metrics.metric import mean

    reasons = tuple(value.reason if isinstance(value, Skip) else None for value in values)
    about = counts(values) | dict(more or {})
    for reason in possible:
        about.setdefault(f"skipped_{reason}", 0)
    return MetricResult(mean(known) or 0.0, about, per_sample, reasons, column)


def part_of(result: MetricResult, places: Sequence[int]) -> MetricResult:
    """Return a mean over the samples at these positions, from values that were computed for all samples."""
    reasons = [key.removeprefix("skipped_") for key in result.details if key.startswith("skipped_")]
    return mean_result([_value_or_skip(result, at) for at in places], possible=reasons)


def _value_or_skip(result: MetricResult, at: int) -> float | Skip:
    value, reason = result.per_sample[at], result.reasons[at]
    return Skip(reason or "") if value is None else value


def counts(values: Sequence[float | Skip]) -> dict[str, Any]:
    """Count samples with and without a value, by reason."""
    skipped = Counter(value.reason for value in values if isinstance(value, Skip))
    number = len(values) - skipped.total()
    return details(number, skipped)


def details(number: int, skipped: Mapping[str, int], undefined: str | None = None) -> dict[str, Any]:
    """Return the details that every result has."""
    if not number and undefined is None:
        # Samples outside the metric's scope say nothing about the others.
        most = max(skipped, key=lambda reason: (reason != "not_selected", skipped[reason]), default="")
        undefined = REASONS.get(most, most) if most else "there are no samples"
    return {
        "num_samples": number,
        "num_skipped": sum(skipped.values()),
        "skipped": dict(skipped),
        **{f"skipped_{reason}": count for reason, count in skipped.items()},
        "defined": undefined is None,
        "reason": undefined,
    }


def check_pairs(samples: Sequence[EvaluationSample], outputs: Sequence[SystemOutputs]) -> None:
    """Raise an error if samples and outputs do not match."""
    if len(samples) != len(outputs):
        raise NotValid(f"there are {len(samples):,} samples and {len(outputs):,} outputs; pass one output per sample")
    for sample, output in zip(samples, outputs, strict=True):
        if sample.sample_id != output.sample_id:
            what = f"the output of sample {output.sample_id!r} is at the position of sample {sample.sample_id!r}"
            raise NotValid(f"{what}; sort the outputs in the order of the samples, or use assay.rag.evaluate")


def _checked(owner: str, one: Any, value: Any) -> Any:
    about = one.metadata
    choices = about["choices"]
    default = one.default if one.default is not MISSING else value
    if isinstance(default, tuple):
        given = (value,) if isinstance(value, str) else value
        if not isinstance(given, list | tuple) or not given or not all(isinstance(part, str) for part in given):
            raise NotValid(f"{owner}: {one.name} is {value!r}; use a list of texts", {one.name: "use a list of texts"})
        if choices and (odd := [part for part in given if part not in choices]):
            raise NotValid(f"{owner}: {one.name} has no {odd[0]!r}; choose from {', '.join(choices)}")
        return tuple(given)
    if value is None and default is None:
        return None
    if choices and value not in choices:
        raise NotValid(f"{owner}: {one.name} is {value!r}; choose from {', '.join(map(str, choices))}")
    if default is None:
        default = about["minimum"] if about["minimum"] is not None else ""
        default = int(default) if default != "" else ""
    parameter = Parameter(one.name, one.name, about["description"], default, about["minimum"], about["maximum"])
    try:
        return parameter.check(value)
    except NotValid as error:
        raise NotValid(f"{owner}: {error}") from None


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_written, value)) + "]"
    if not isinstance(value, str):
        return str(value)
    # In the notation of `parse_metric`: a word needs no quotation marks unless it is a Python keyword.
    plain = re.fullmatch(r"[^\W\d]\w*", value) and not iskeyword(value.title()) and not iskeyword(value)
    return value if plain else repr(value)
