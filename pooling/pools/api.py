"""API of pools: preview, create and list them."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, QuerySet
from drf_spectacular.utils import OpenApiExample
from rest_framework import serializers
from rest_framework.response import Response

from assay.core.text_rules import id_fault
from assay.strategies import STRATEGIES
from assay.strategies.pooled_pair import KINDS, OFF, SIMILARITY
from assay.strategies.rating_budget import Budget
from judgments.jobs.api import Started, started
from judgments.web import access
from judgments.web.endpoints import InCollection, Listed, Rows, call, listed, rows_called
from judgments.web.serializers import Seed
from pooling.models import Pool
from pooling.pools import pools, previews
from pooling.pools.duplicates import groups_of, judge_separately
from pooling.pools.effort import pace


class PoolBody(serializers.Serializer):
    """A pool: its settings and its summary."""

    id = serializers.UUIDField(source="uuid")
    strategy = serializers.CharField()
    parameters = serializers.JSONField()
    seed = serializers.IntegerField()
    runs = serializers.SerializerMethodField()
    pairs = serializers.IntegerField(source="pair_count")
    summary = serializers.JSONField(
        help_text="Pairs per query and tier, each system's share, common pairs of two systems, and pairs by best rank."
    )
    created_at = serializers.DateTimeField()

    def get_runs(self, pool: Pool) -> list[uuid_module.UUID]:
        return [run.uuid for run in pool.runs.all()]


class PairInput(serializers.Serializer):
    """One pair of the strategy `list`."""

    query_id = serializers.CharField(trim_whitespace=False)
    doc_id = serializers.CharField(trim_whitespace=False)


class Pairs(serializers.Field):
    """Many pairs, each ``{"query_id", "doc_id"}``; validated without serializers, because one per pair takes
    seconds."""

    def to_internal_value(self, data: Any) -> list[tuple[str, str]]:
        if not isinstance(data, list):
            raise serializers.ValidationError('Send a list of objects {"query_id", "doc_id"}.')
        return [self._pair(number, pair) for number, pair in enumerate(data, 1)]

    def _pair(self, number: int, pair: Any) -> tuple[str, str]:
        ids = (pair.get("query_id"), pair.get("doc_id")) if isinstance(pair, dict) else ()
        texts = [str(value) if type(value) is int else value for value in ids]
        if len(texts) != 2 or not all(isinstance(text, str) for text in texts):
            raise serializers.ValidationError(f"Pair {number} needs query_id and doc_id as strings.")
        if fault := id_fault(texts[0]) or id_fault(texts[1]):
            raise serializers.ValidationError(f"Pair {number} has an id that {fault[1]}.")
        return texts[0], texts[1]


class Draw(serializers.Serializer):
    """How to choose the pairs. The parameters of a strategy (`depth`, `p`, ...) are additional fields."""

    strategy = serializers.CharField(
        default="depth", help_text="; ".join(f"`{name}`: {STRATEGIES[name].description}" for name in STRATEGIES)
    )
    runs = serializers.ListField(child=serializers.UUIDField(), default=list)
    seed = Seed()
    budget = serializers.IntegerField(default=None, allow_null=True, min_value=1, help_text="Maximum pairs per query.")
    total = serializers.IntegerField(
        default=None,
        allow_null=True,
        min_value=1,
        help_text="Maximum pairs in total; every query gets the same number.",
    )
    hours = serializers.FloatField(
        default=None,
        allow_null=True,
        help_text="Instead of `total`: hours per rater; the pool gets the pairs that `raters` can judge in this time.",
    )
    raters = serializers.IntegerField(
        default=1, min_value=1, max_value=1_000, help_text="Raters for `hours` and `effort`."
    )
    ratings_per_pair = serializers.IntegerField(
        default=2, min_value=1, max_value=20, help_text="For `hours` and `effort`."
    )
    residual = serializers.IntegerField(
        default=0,
        min_value=0,
        help_text="Random pairs per query from below the pool; they estimate the number "
        "of relevant documents it misses.",
    )
    by = serializers.ChoiceField(
        choices=pools.ORDERS,
        default="score",
        help_text="`score`: trec_eval's order, in which metrics break ties; `rank`: the order that the system showed.",
    )
    leave_out_judged = serializers.BooleanField(
        default=False,
        help_text="Whether to leave out judged pairs. An adaptive strategy learns from judged pairs and always leaves "
        "them out.",
    )

    relevant_from = serializers.FloatField(
        default=1.0, help_text="The lowest grade that an adaptive strategy counts as relevant."
    )
    duplicates = serializers.ChoiceField(
        choices=KINDS,
        default=OFF,
        help_text="`exact` and `near`: only one of a query's duplicates is judged.",
    )
    similarity = serializers.FloatField(
        default=SIMILARITY,
        help_text="For `near`: the smallest share of common three-word shingles, above 0.5 and at most 1.",
    )
    apart = PairInput(
        many=True, default=list, help_text="Documents that are judged separately even if they are duplicates."
    )
    preview = serializers.BooleanField(default=False, help_text="Whether to preview the pool without storing it.")
    token = serializers.UUIDField(
        default=None,
        allow_null=True,
        help_text="A UUID for the pool's `id`; a repeated request with it creates no second pool.",
    )

    def validate_strategy(self, value: str) -> str:
        if value not in STRATEGIES:
            raise serializers.ValidationError(
                f"Unknown pool strategy {value!r}. Known strategies: {', '.join(STRATEGIES)}."
            )
        return value


def _own_fields() -> dict[str, serializers.Field]:
    """Return a field for each parameter that a built-in strategy declares."""
    kinds = {int: serializers.IntegerField, float: serializers.FloatField}
    declared = [one for name in STRATEGIES for one in STRATEGIES[name].parameters if not one.is_list]
    return {one.name: kinds[one.type](required=False, help_text=one.description) for one in declared}


class DrawShown(type("DrawOwn", (Draw,), _own_fields())):  # type: ignore[misc]
    """The request body in the OpenAPI document, with the parameters of the built-in strategies."""

    pairs = PairInput(many=True, required=False)


class Duplicate(serializers.Serializer):
    """A document that is judged through another document of the same query."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField(help_text="The document that is judged.")
    rank = serializers.IntegerField(allow_null=True)
    copy_id = serializers.CharField(help_text="The duplicate. A snapshot gives it the same grade, marked as carried.")
    copy_rank = serializers.IntegerField(allow_null=True)
    why = serializers.ChoiceField(choices=KINDS[1:])
    similarity = serializers.FloatField()


class PreviewBody(serializers.Serializer):
    """A preview of a pool, which is not stored."""

    summary = serializers.JSONField()
    duplicates = Duplicate(many=True, source="groups", help_text="The first 200 duplicates.")
    effort = serializers.JSONField(
        help_text="Ratings, minutes, minutes per rater, and the timing on which they are based."
    )


def shown_pools() -> QuerySet[Pool]:
    """Return pools with the related rows that their serializer needs."""
    return Pool.objects.prefetch_related("runs").annotate(pair_count=Count("entries"))


@listed("List pools", "Return the pools, newest first.")
class Pools(Rows):
    """The pools of a collection."""

    queryset = shown_pools().order_by("-created_at", "-pk")
    serializer_class = PoolBody
    filters = {"strategy": "strategy"}
    ordering = {"created_at": "created_at", "strategy": "strategy", "pairs": "pair_count"}
    tag = "pools"

    @call(
        "Create a pool",
        request=DrawShown,
        responses={200: PreviewBody, 201: PoolBody, 202: Started},
        examples=[
            OpenApiExample(
                "Depth 10 of two runs",
                {"strategy": "depth", "depth": 10, "runs": ["<id>", "<id>"], "seed": 1},
                request_only=True,
            ),
            OpenApiExample(
                "As many pairs as three raters can judge in two hours, duplicates once",
                {"runs": ["<id>"], "hours": 2, "raters": 3, "duplicates": "exact", "preview": True},
                request_only=True,
            ),
            OpenApiExample(
                "A list of pairs",
                {"strategy": "list", "pairs": [{"query_id": "q1", "doc_id": "d1"}]},
                request_only=True,
            ),
        ],
    )
    def post(self) -> Response:
        """Each pair records its runs, its ranks in them, and the reason it was chosen."""
        options = self.read_body(Draw)
        options["runs"] = rows_called(self.collection.runs.all(), options["runs"], "runs", "run")
        options["parameters"] = self._parameters()
        options["apart"] = [(pair["query_id"], pair["doc_id"]) for pair in options["apart"]]
        people = {"raters": options.pop("raters"), "ratings_per_pair": options.pop("ratings_per_pair")}
        planned = self._planned(options, people)
        depth = options["parameters"].get("depth")
        large = pools.is_large(
            options["runs"], depth=depth if type(depth) is int else None, duplicates=options["duplicates"]
        )
        token = options.pop("token")
        if options.pop("preview"):
            return self._preview(options, people, large=large)
        also = {"actor": self.user, "planned": planned.as_json() if planned else None, "token": token}
        if large:
            return started(pools.draw_later(self.collection, **also, **options))
        drawn = pools.draw_pool(self.collection, **also, **options)
        return self.respond(PoolBody, shown_pools().get(pk=drawn.pk), 201)

    def _planned(self, options: dict[str, Any], people: dict[str, int]) -> Budget | None:
        """Return the number of pairs that fit into the hours, at most the total."""
        hours = options.pop("hours")
        if hours is None:
            return None
        planned = Budget(hours, seconds=pace(self.collection).seconds, **people)
        options["total"] = min(options["total"] or planned.pairs, planned.pairs)
        return planned

    def _preview(self, options: dict[str, Any], people: dict[str, int], *, large: bool) -> Response:
        if large:
            return started(previews.start(self.collection, actor=self.request.user, page="", **options))
        summary = previews.summarize(self.collection, **options)
        effort = pace(self.collection).of(summary["summary"]["pairs"], **people)
        return self.respond(PreviewBody, {**summary, "effort": effort})

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of the strategy, which rejects unknown parameters itself."""
        own = {name: value for name, value in self.request.data.items() if name not in Draw().fields}
        if "pairs" in own:
            try:
                own["pairs"] = Pairs().to_internal_value(own["pairs"])
            except serializers.ValidationError as error:
                raise serializers.ValidationError({"pairs": error.detail}) from error
        return own


@listed(
    "List the duplicates of a pool",
    "Return each duplicate with the document that is judged instead, in the order of the pool.",
)
class PoolDuplicates(Listed, InCollection):
    """The documents of a pool that are judged through another document."""

    serializer_class = Duplicate
    queryset = None
    ordering = {name: name for name in ("query_id", "doc_id", "rank", "similarity")}
    tag = "pools"
    also = (409,)

    def _pool(self, uuid: uuid_module.UUID) -> Pool:
        return access.reach(Pool.objects.filter(collection=self.collection), self.request.user, self.roles, uuid=uuid)

    def rows(self) -> Sequence[Any]:
        return groups_of(self._pool(self.kwargs["uuid"]))

    @call("Judge a duplicate separately", PoolBody, PairInput)
    def post(self, body: dict[str, Any]) -> Any:
        """The duplicate becomes the last pair of the pool. The status is 409 if a round uses the pool."""
        pair, pool = body, self._pool(self.kwargs["uuid"])
        judge_separately(pool, query_id=pair["query_id"], doc_id=pair["doc_id"], actor=self.user)
        return shown_pools().get(pk=pool.pk)
