"""Declaration of a metric, and a metric bound to its cutoff and parameters.

Each metric's file holds one `Metric`. The name parser, the command help, the API's choices and docs/metrics.md read
it, so that nothing about a metric is written anywhere else.
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
    """One parameter of a metric.

    Parameters
    ----------
    name : str
        As it is written in a metric's name: ``rel`` in ``P(rel=2)@10``.
    default : float, int, bool, str or None
        Its value where the name leaves it out; its type is the parameter's type. None: it has no value then, and is a
        number.
    description : str
        One sentence for help and docs.
    choices : tuple of str
        The values that a text parameter may take.
    also : mapping of str to str
        Other tools' ways of writing it, ``"name=value"`` to the value here.
    required : bool
        Whether a name without it is refused.
    below : float or None
        The number that it must stay below.
    read : callable or None
        How a written text becomes its value, where that is no single number; it raises ValueError with what is wrong.
    trec : callable or None
        What trec_eval appends to its own name for a value; None if trec_eval has no such parameter.
    """

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
        ``per_query(rankings, cutoff, **parameters)`` returns one float64 for each query of a `JudgedRankings`; `cutoff`
        is None if the name has none.
    cutoff : {"optional", "required", "none", "level"}
        Whether the name takes ``@k``; a level is a share between 0 and 1 instead of a rank.
    parameters : tuple of Parameter
        In the order in which the canonical name prints them. ``judged_only`` is applied before `per_query` is called.
    aliases : mapping of str to dict
        Other names, lower case, with the parameters that each of them fixes.
    trec_name, trec_name_at : str
        trec_eval's name without and with a cutoff (``{k}``), empty where trec_eval has none.
    mean : {"arithmetic", "geometric", "sum"}
        How the values of the queries become one.
    bounded : bool
        Whether every value is between 0 and 1, and with it every mean: no interval leaves these bounds.
    scale_top : str
        The parameter that is the top grade of the scale where the name leaves it out, if there is one.
    by_subtopic : bool
        Whether it needs labels that distinguish subtopics.
    response : Response or None
        How the value changes when an unjudged document gets a grade; None if this is not modeled: it then
        has no bounds, and nothing shows which judgments could turn its decisions.
    example : str
        A name of this metric that parses.
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
        """How its name is written: ``P@k``, ``nDCG, @k`` where the cutoff may be left out, ``RBP(p=...), @k``."""
        required = ",".join(f"{parameter.name}=..." for parameter in self.parameters if parameter.required)
        at = {"required": "@k", "optional": ", @k", "none": "", "level": "@r"}[self.cutoff]
        return self.name + (f"({required})" if required else "") + at


@dataclass(frozen=True)
class BoundMetric:
    """A metric with its cutoff and all its parameters: what ``P(rel=2)@10`` means.

    Parameters
    ----------
    metric : Metric
        The declaration.
    cutoff : int, float or None
        The ``k`` of ``@k``.
    parameters : mapping of str to value
        Every parameter of the metric, the defaults included.
    assumed : mapping of str to value
        What the labels or their scale told about parameters that the name leaves out.
    """

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
        """trec_eval's name for it, or the canonical one where trec_eval has none."""
        changed = self._changed()
        if self.cutoff is not None:
            # In trec_eval's names a cutoff takes the place of the parameters.
            theirs = "" if changed else self.metric.trec_name_at.format(k=self.cutoff)
        else:
            flags = [p.trec(self.parameters[p.name]) for p in changed if p.trec]
            theirs = self.metric.trec_name if len(flags) == len(changed) else ""
            theirs += "".join(flags) if theirs else ""
        return theirs or self.name

    @property
    def settings(self) -> dict[str, Value | None]:
        """Cutoff and all parameters, as the metric is computed."""
        return {"cutoff": self.cutoff, **self.parameters, **self.assumed}

    @property
    def arguments(self) -> dict[str, Value | None]:
        """Return all parameters under their names, as `Metric.per_query` takes them."""
        return {**self.parameters, **self.assumed}

    @property
    def response(self) -> Response | None:
        """What is known of its answers to new grades; None over condensed lists, where a judgment moves all others."""
        return None if self.parameters.get("judged_only") else self.metric.response

    def condensed(self) -> BoundMetric:
        """The same metric over judged documents only; the metric itself where that makes no sense."""
        if "judged_only" not in self.parameters:
            return self
        return replace(self, parameters={**self.parameters, "judged_only": True})

    def on_scale(self, top: float) -> BoundMetric:
        """The same metric where the top grade of the scale is known."""
        missing = self.metric.scale_top
        if not missing or self.parameters[missing] is not None:
            return self
        return replace(self, assumed={missing: int(top) if float(top).is_integer() else top})

    def __call__(self, rankings: JudgedRankings) -> Floats:
        """Compute the metric for every query.

        Returns
        -------
        float64 array, shape (queries,)
        """
        parameters = self.arguments
        if parameters.pop("judged_only", False):
            rankings = rankings.condensed()
        return self.metric.per_query(rankings, self.cutoff, **parameters)

    def _changed(self) -> list[Parameter]:
        return [p for p in self.metric.parameters if self.parameters[p.name] != p.default]
