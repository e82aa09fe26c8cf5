"""API of pools: preview, draw and list them."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access
from judgments.api.endpoint import InCollection, Rows, rows_called
from judgments.api.jobs import Started, started
from judgments.api.seeds import Seed
from judgments.core.ids import id_fault
from pooling import copies, pools, previews
from pooling.effort import pace
from pooling.models import Pool
from pooling.strategies import STRATEGIES
from pooling.strategies.budget import Budget
from pooling.strategies.pair import KINDS, OFF, SIMILARITY


class PoolBody(serializers.Serializer):
    """A pool: how it was drawn, and what it looks like."""

    id = serializers.UUIDField(source="uuid")
    strategy = serializers.CharField()
    parameters = serializers.JSONField()
    seed = serializers.IntegerField()
    runs = serializers.SerializerMethodField()
    pairs = serializers.IntegerField(source="pair_count")
    summary = serializers.JSONField(
        help_text="Pairs per query and tier, each system's part, what two of them share, pairs by best rank."
    )
    created_at = serializers.DateTimeField()

    def get_runs(self, pool: Pool) -> list[uuid_module.UUID]:
        return [run.uuid for run in pool.runs.all()]


class PairSent(serializers.Serializer):
    """One pair of the strategy `list`."""

    query_id = serializers.CharField(trim_whitespace=False)
    doc_id = serializers.CharField(trim_whitespace=False)


class Pairs(serializers.Field):
    """Many pairs, each ``{"query_id", "doc_id"}``; looked at by hand, since a serializer a pair takes seconds."""

    def to_internal_value(self, data: Any) -> list[tuple[str, str]]:
        if not isinstance(data, list):
            raise serializers.ValidationError('A list of {"query_id", "doc_id"}.')
        return [self._pair(number, pair) for number, pair in enumerate(data, 1)]

    def _pair(self, number: int, pair: Any) -> tuple[str, str]:
        ids = (pair.get("query_id"), pair.get("doc_id")) if isinstance(pair, dict) else ()
        texts = [str(value) if type(value) is int else value for value in ids]
        if len(texts) != 2 or not all(isinstance(text, str) for text in texts):
            raise serializers.ValidationError(f"Pair {number} needs query_id and doc_id as text.")
        if fault := id_fault(texts[0]) or id_fault(texts[1]):
            raise serializers.ValidationError(f"Pair {number} has an id that {fault[1]}.")
        return texts[0], texts[1]


class Draw(serializers.Serializer):
    """How to choose the pairs. What else a strategy takes (`depth`, `p`, ...) stands beside these."""

    strategy = serializers.CharField(
        default="depth", help_text="; ".join(f"`{name}`: {STRATEGIES[name].description}" for name in STRATEGIES)
    )
    runs = serializers.ListField(child=serializers.UUIDField(), default=list)
    seed = Seed()
    budget = serializers.IntegerField(default=None, allow_null=True, min_value=1, help_text="Pairs per query, at most.")
    total = serializers.IntegerField(
        default=None, allow_null=True, min_value=1, help_text="Pairs in all, at most; every query gets the same number."
    )
    hours = serializers.FloatField(
        default=None,
        allow_null=True,
        help_text="Instead of `total`: what `raters` can judge in so many hours each, at the pace of this collection.",
    )
    raters = serializers.IntegerField(default=1, min_value=1, max_value=1_000, help_text="For hours and effort.")
    ratings_per_pair = serializers.IntegerField(default=2, min_value=1, max_value=20, help_text="And how many a pair.")
    residual = serializers.IntegerField(
        default=0, min_value=0, help_text="Random pairs per query from below the pool: they show what it misses."
    )
    by = serializers.ChoiceField(
        choices=pools.ORDERS,
        default="score",
        help_text="`score`: trec_eval's order, in which metrics read ties; `rank`: as the system showed them.",
    )
    leave_out_judged = serializers.BooleanField(
        default=False, help_text="An adaptive strategy learns from what is judged, and always leaves it out."
    )

    relevant_from = serializers.FloatField(
        default=1.0, help_text="The lowest grade that an adaptive strategy counts as relevant."
    )
    duplicates = serializers.ChoiceField(
        choices=KINDS,
        default=OFF,
        help_text="`exact` and `near`: of a query's documents that say the same, one is judged.",
    )
    similarity = serializers.FloatField(
        default=SIMILARITY, help_text="For `near`: the least share of three-word parts in common, above 0.5, up to 1."
    )
    apart = PairSent(many=True, default=list, help_text="Documents that are judged by themselves, whatever they say.")
    preview = serializers.BooleanField(default=False, help_text="Only tell what would be drawn; nothing is stored.")
    token = serializers.UUIDField(
        default=None, allow_null=True, help_text="A UUID of yours, the pool's `id` to be: sent twice, it is drawn once."
    )

    def validate_strategy(self, value: str) -> str:
        if value not in STRATEGIES:
            raise serializers.ValidationError(f"There is no pool strategy {value!r}. Known: {', '.join(STRATEGIES)}.")
        return value


def _own_fields() -> dict[str, serializers.Field]:
    """A field for each parameter that a built-in strategy declares."""
    kinds = {int: serializers.IntegerField, float: serializers.FloatField}
    declared = [one for name in STRATEGIES for one in STRATEGIES[name].parameters if not one.is_list]
    return {one.name: kinds[one.type](required=False, help_text=one.description) for one in declared}


class DrawShown(type("DrawOwn", (Draw,), _own_fields())):  # type: ignore[misc]
    """For the OpenAPI document: with the parameters of the built-in strategies."""

    pairs = PairSent(many=True, required=False)


class Duplicate(serializers.Serializer):
    """A document that is judged as another one of the same query."""

    query_id = serializers.CharField()
    doc_id = serializers.CharField(help_text="What is judged.")
    rank = serializers.IntegerField(allow_null=True)
    copy_id = serializers.CharField(help_text="What gets its grade when labels are frozen, marked as carried.")
    copy_rank = serializers.IntegerField(allow_null=True)
    why = serializers.ChoiceField(choices=KINDS[1:])
    similarity = serializers.FloatField()


class PreviewBody(serializers.Serializer):
    """What would be drawn: nothing of it is stored."""

    summary = serializers.JSONField()
    duplicates = Duplicate(many=True, source="groups", help_text="The first 200.")
    effort = serializers.JSONField(help_text="Ratings, minutes, and minutes of each rater, with what they rest on.")


def shown_pools() -> QuerySet[Pool]:
    """Pools with all that their body needs."""
    return Pool.objects.prefetch_related("runs").annotate(pair_count=Count("entries"))


class Pools(Rows):
    """The pools of a collection."""

    queryset = shown_pools().order_by("-created_at", "-pk")
    serializer_class = PoolBody
    filters = {"strategy": "strategy"}
    tag = "pools"

    @extend_schema(summary="The pools")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The newest first."""
        return self.list(request)

    @extend_schema(
        summary="Draw a pool",
        request=DrawShown,
        responses={200: PreviewBody, 201: PoolBody, 202: Started},
        examples=[
            OpenApiExample(
                "Depth 10 of two runs",
                {"strategy": "depth", "depth": 10, "runs": ["<id>", "<id>"], "seed": 1},
                request_only=True,
            ),
            OpenApiExample(
                "What three raters can judge in two hours, equal documents once",
                {"runs": ["<id>"], "hours": 2, "raters": 3, "duplicates": "exact", "preview": True},
                request_only=True,
            ),
            OpenApiExample(
                "Given pairs",
                {"strategy": "list", "pairs": [{"query_id": "q1", "doc_id": "d1"}]},
                request_only=True,
            ),
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Each pair keeps why it was chosen, by which runs and at which ranks."""
        asked = self.sent(Draw)
        asked["runs"] = rows_called(self.collection.runs.all(), asked["runs"], "runs", "run")
        asked["parameters"] = self._parameters()
        asked["apart"] = [(pair["query_id"], pair["doc_id"]) for pair in asked["apart"]]
        people = {"raters": asked.pop("raters"), "ratings_per_pair": asked.pop("ratings_per_pair")}
        planned = self._planned(asked, people)
        depth = asked["parameters"].get("depth")
        large = pools.is_large(
            asked["runs"], depth=depth if type(depth) is int else None, duplicates=asked["duplicates"]
        )
        token = asked.pop("token")
        if asked.pop("preview"):
            return self._preview(asked, people, large=large)
        also = {"actor": request.user, "planned": planned.as_json() if planned else None, "token": token}
        if large:
            return started(pools.draw_later(self.collection, **also, **asked))
        drawn = pools.draw_pool(self.collection, **also, **asked)
        return self.told(PoolBody, shown_pools().get(pk=drawn.pk), 201)

    def _planned(self, asked: dict[str, Any], people: dict[str, int]) -> Budget | None:
        """Hours as pairs; the smaller of both where a total is sent too."""
        hours = asked.pop("hours")
        if hours is None:
            return None
        planned = Budget(hours, seconds=pace(self.collection).seconds, **people)
        asked["total"] = min(asked["total"] or planned.pairs, planned.pairs)
        return planned

    def _preview(self, asked: dict[str, Any], people: dict[str, int], *, large: bool) -> Response:
        if large:
            return started(previews.start(self.collection, actor=self.request.user, page="", **asked))
        told = previews.look(self.collection, **asked)
        effort = pace(self.collection).of(told["summary"]["pairs"], **people)
        return self.told(PreviewBody, {**told, "effort": effort})

    def _parameters(self) -> dict[str, Any]:
        """What is the strategy's own: all that is not everybody's. It refuses by itself what it does not know."""
        own = {name: value for name, value in self.request.data.items() if name not in Draw().fields}
        if "pairs" in own:
            try:
                own["pairs"] = Pairs().to_internal_value(own["pairs"])
            except serializers.ValidationError as error:
                raise serializers.ValidationError({"pairs": error.detail}) from error
        return own


class PoolDuplicates(InCollection):
    """The documents of a pool that are judged as another one."""

    serializer_class = Duplicate
    tag = "pools"
    also = (409,)

    def _pool(self, uuid: uuid_module.UUID) -> Pool:
        return access.reach(Pool.objects.filter(collection=self.collection), self.request.user, self.roles, uuid=uuid)

    @extend_schema(summary="Which documents are judged as another one?", responses=Duplicate(many=True))
    def get(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """Each with the document that is judged in its stead, in the order of the pool."""
        groups: Sequence[Any] = copies.groups_of(self._pool(uuid))
        page = self.paginate_queryset(groups)
        return self.get_paginated_response(Duplicate(page, many=True).data)

    @extend_schema(summary="Judge one of them by itself", request=PairSent, responses={200: PoolBody})
    def post(self, request: Request, slug: str, uuid: uuid_module.UUID) -> Response:
        """It becomes the pool's last pair; refused with 409 once a round was made of the pool."""
        pair, pool = self.sent(PairSent), self._pool(uuid)
        copies.take_out(pool, query_id=pair["query_id"], doc_id=pair["doc_id"], actor=request.user)
        return self.told(PoolBody, shown_pools().get(pk=pool.pk))
