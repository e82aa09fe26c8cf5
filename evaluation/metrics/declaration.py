"""What does a metric say about itself, and what is it once its cutoff and parameters are chosen?

A metric's file holds one `Metric`. The parser of names, the help of the command, the API's choices and docs/metrics.md
read it; nothing about a metric is written anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from evaluation.metrics.judged_ranking import JudgedRanking

Value = float | int | bool | str
PerQuery = Callable[..., float]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a metric.

    Parameters
    ----------
    name : str
        As it is written in a metric's name: ``rel`` in ``P(rel=2)@10``.
    default : float, int, bool or str
        Its value where the name leaves it out; its type is the parameter's type.
    description : str
        One sentence for help and docs.
    choices : tuple of str
        The values that a text parameter may take.
    also : mapping of str to str
        Other tools' ways of writing it, ``"name=value"`` to the value here.
    """

    name: str
    default: Value
    description: str
    choices: tuple[str, ...] = ()
    also: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


REL = Parameter("rel", 1, "The lowest grade that counts as relevant.")
JUDGED_ONLY = Parameter("judged_only", False, "Drop unjudged documents and negative grades first, and close the ranks.")


@dataclass(frozen=True)
class Metric:
    """A member of the family: everything that Assay knows about one metric.

    Parameters
    ----------
    name, title, description : str
        Canonical name (``nDCG``), the name in words, one sentence on what it tells.
    formula, source : str
        The definition per query, and where it comes from.
    per_query : callable
        ``per_query(ranking, cutoff, **parameters) -> float``; `cutoff` is None where the name has none.
    cutoff : {"optional", "required", "none"}
        Whether the name takes ``@k``.
    parameters : tuple of Parameter
        In the order in which the canonical name prints them. ``judged_only`` is applied before `per_query` is called.
    aliases : mapping of str to dict
        Other names, lower case, with the parameters that each of them fixes.
    trec_name, trec_name_at : str
        trec_eval's name without and with a cutoff (``{k}``), empty where trec_eval has none.
    """

    name: str
    title: str
    description: str
    formula: str
    source: str
    per_query: PerQuery
    cutoff: Literal["optional", "required", "none"] = "optional"
    parameters: tuple[Parameter, ...] = ()
    aliases: Mapping[str, Mapping[str, Value]] = field(default_factory=lambda: MappingProxyType({}))
    trec_name: str = ""
    trec_name_at: str = ""

    @property
    def example(self) -> str:
        """A name of this metric that parses."""
        return self.name if self.cutoff == "none" or self.name == "AP" else f"{self.name}@10"


@dataclass(frozen=True)
class BoundMetric:
    """A metric with its cutoff and all its parameters: what ``P(rel=2)@10`` means.

    Parameters
    ----------
    metric : Metric
        The declaration.
    cutoff : int or None
        The ``k`` of ``@k``.
    parameters : mapping of str to value
        Every parameter of the metric, the defaults included.
    """

    metric: Metric
    cutoff: int | None
    parameters: Mapping[str, Value]

    @property
    def name(self) -> str:
        """The canonical name; parameters at their defaults are left out."""
        told = ",".join(f"{p.name}={self.parameters[p.name]}" for p in self._changed())
        at = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.metric.name}({told}){at}" if told else f"{self.metric.name}{at}"

    @property
    def trec_name(self) -> str:
        """trec_eval's name for it, or the canonical one where trec_eval has none."""
        theirs = self.metric.trec_name if self.cutoff is None else self.metric.trec_name_at.format(k=self.cutoff)
        return self.name if self._changed() or not theirs else theirs

    def condensed(self) -> BoundMetric:
        """The same metric over judged documents only; the metric itself where that makes no sense."""
        if "judged_only" not in self.parameters:
            return self
        return BoundMetric(self.metric, self.cutoff, {**self.parameters, "judged_only": True})

    def __call__(self, ranking: JudgedRanking) -> float:
        """Compute the metric for one query."""
        parameters = dict(self.parameters)
        if parameters.pop("judged_only", False):
            ranking = ranking.condensed()
        return self.metric.per_query(ranking, self.cutoff, **parameters)

    def _changed(self) -> list[Parameter]:
        return [p for p in self.metric.parameters if self.parameters[p.name] != p.default]
