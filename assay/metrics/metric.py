"""Declaration of a metric, and a metric bound to its cutoff and parameters.

Each metric's file contains a `Metric`. The name parser, the command help, the API's choices and docs/metrics.md use it,
so that each fact about a metric is written only once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from assay.metrics.means import MeanKind

if TYPE_CHECKING:
    from assay.metrics.grade_response import Response
    from assay.metrics.judged_rankings import Floats, JudgedRankings

Value = float | int | bool | str
PerQuery = Callable[..., "Floats"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a metric."""

    name: str
    default: Value | None
    description: str
    choices: tuple[str, ...] = ()
    also: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    required: bool = False
    below: float | None = None
    read: Callable[[str], Value] | None = None
    trec: Callable[[Value | None], str] | None = None


REL = Parameter("rel", 1, "The lowest grade that counts as relevant.")
JUDGED_ONLY = Parameter("judged_only", False, "Drop unjudged documents and negative grades first, then renumber ranks.")


@dataclass(frozen=True)
class Metric:
    """Declaration of a metric.

    Parameters
    ----------
    name, title, description : str
        Canonical name (``nDCG``), readable name, and a sentence about its meaning.
    formula, source : str
        The definition per query, and its source.
    per_query : callable
        ``per_query(rankings, cutoff, **parameters)`` returns one float64 for each query of a `JudgedRankings`; `cutoff`
        is None if the name has none.
    cutoff : {"optional", "required", "none", "level"}
        Whether the name takes ``@k``; a level is a share between 0 and 1 instead of a rank.
    parameters : tuple of Parameter
        Parameters in the order of the canonical name. ``judged_only`` is applied before `per_query` is called.
    aliases : mapping of str to dict
        Other names in lower case, with the parameters that each of them sets.
    trec_name, trec_name_at : str
        trec_eval's name without and with a cutoff (``{k}``); empty if trec_eval has none.
    mean : {"arithmetic", "geometric", "sum"}
        How to combine the values of the queries.
    bounded : bool
        Whether every value, and therefore every mean and interval, is between 0 and 1.
    scale_top : str
        The parameter that defaults to the top grade of the scale, if any.
    by_subtopic : bool
        Whether it needs labels that distinguish subtopics.
    response : Response or None
        How the value changes if an unjudged document gets a grade; None if this is not modeled, so that there are no
        bounds and no decision-critical pairs.
    example : str
        A valid name of this metric.
    """

    name: str
    title: str
    description: str
    formula: str
    source: str
    per_query: PerQuery
    cutoff: Literal["optional", "required", "none", "level"] = "optional"
    parameters: tuple[Parameter, ...] = ()
    aliases: Mapping[str, Mapping[str, Value]] = field(default_factory=lambda: MappingProxyType({}))
    trec_name: str = ""
    trec_name_at: str = ""
    mean: MeanKind = "arithmetic"
    bounded: bool = True
    scale_top: str = ""
    by_subtopic: bool = False
    response: Response | None = None
    example: str = ""

    def __post_init__(self) -> None:
        if not self.example:
            object.__setattr__(self, "example", self.name if self.cutoff == "none" else f"{self.name}@10")

    @property
    def pattern(self) -> str:
        """Return the pattern of its name: ``P@k``, ``nDCG, @k`` if the cutoff is optional, ``RBP(p=...), @k``."""
        required = ",".join(f"{parameter.name}=..." for parameter in self.parameters if parameter.required)
        at = {"required": "@k", "optional": ", @k", "none": "", "level": "@r"}[self.cutoff]
        return self.name + (f"({required})" if required else "") + at


@dataclass(frozen=True)
class BoundMetric:
    """A metric with its cutoff and all parameters, such as ``P(rel=2)@10``."""

    metric: Metric
    cutoff: int | float | None
    parameters: Mapping[str, Value | None]
    assumed: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))

    @cached_property
    def name(self) -> str:
        """Return the canonical name; parameters at their defaults are left out."""
        settings = ",".join(f"{p.name}={self.parameters[p.name]}" for p in self._changed())
        at = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.metric.name}({settings}){at}" if settings else f"{self.metric.name}{at}"

    @property
    def trec_name(self) -> str:
        """Return trec_eval's name, or the canonical name if trec_eval has none."""
        changed = self._changed()
        if self.cutoff is not None:
            # In trec_eval's names, a cutoff replaces the parameters.
            theirs = "" if changed else self.metric.trec_name_at.format(k=self.cutoff)
        else:
            flags = [p.trec(self.parameters[p.name]) for p in changed if p.trec]
            theirs = self.metric.trec_name if len(flags) == len(changed) else ""
            theirs += "".join(flags) if theirs else ""
        return theirs or self.name

    @property
    def settings(self) -> dict[str, Value | None]:
        """Return the cutoff and all parameters used to compute the metric."""
        return {"cutoff": self.cutoff, **self.parameters, **self.assumed}

    @property
    def arguments(self) -> dict[str, Value | None]:
        """Return all parameters by name, as `Metric.per_query` takes them."""
        return {**self.parameters, **self.assumed}

    @property
    def response(self) -> Response | None:
        """Return its response to new grades; None over condensed lists, where a judgment moves all other documents."""
        return None if self.parameters.get("judged_only") else self.metric.response

    def condensed(self) -> BoundMetric:
        """Return the same metric over judged documents only, or the metric itself if that is meaningless."""
        if "judged_only" not in self.parameters:
            return self
        return replace(self, parameters={**self.parameters, "judged_only": True})

    def on_scale(self, top: float) -> BoundMetric:
        """Return the same metric with the top grade of the scale set."""
        missing = self.metric.scale_top
        if not missing or self.parameters[missing] is not None:
            return self
        return replace(self, assumed={missing: int(top) if float(top).is_integer() else top})

    def __call__(self, rankings: JudgedRankings) -> Floats:
        """Compute the metric for every query."""
        parameters = self.arguments
        if parameters.pop("judged_only", False):
            rankings = rankings.condensed()
        return self.metric.per_query(rankings, self.cutoff, **parameters)

    def _changed(self) -> list[Parameter]:
        return [p for p in self.metric.parameters if self.parameters[p.name] != p.default]
