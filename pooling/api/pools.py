"""How is a pool drawn, and which pools are there?"""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from django.db.models import Count, QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments.api.endpoint import Rows, rows_called
from judgments.api.jobs import Started, started
from judgments.api.seeds import Seed
from judgments.core.ids import id_fault
from pooling import pools
from pooling.models import Pool
from pooling.strategies import STRATEGIES


class PoolBody(serializers.Serializer):
    """A pool: how it was drawn, and what it looks like."""

    id = serializers.UUIDField(source="uuid")
    strategy = serializers.CharField()
    parameters = serializers.JSONField()
    seed = serializers.IntegerField()
    runs = serializers.SerializerMethodField()
    pairs = serializers.IntegerField(source="pair_count")
    summary = serializers.JSONField(help_text="Pairs per query, each system's part, pairs by best rank.")
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
    residual = serializers.IntegerField(
        default=0, min_value=0, help_text="Random pairs per query from below the pool: they show what it misses."
    )
    by = serializers.ChoiceField(
        choices=pools.ORDERS,
        default="rank",
        help_text="`rank`: as the system showed them; `score`: trec_eval's order, in which metrics read ties.",
    )
    leave_out_judged = serializers.BooleanField(
        default=False, help_text="An adaptive strategy learns from what is judged, and always leaves it out."
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
        responses={201: PoolBody, 202: Started},
        examples=[
            OpenApiExample(
                "Depth 10 of two runs",
                {"strategy": "depth", "depth": 10, "runs": ["<id>", "<id>"], "seed": 1},
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
        if pools.is_large(asked["runs"]):
            return started(pools.draw_later(self.collection, actor=request.user, **asked))
        drawn = pools.draw_pool(self.collection, actor=request.user, **asked)
        return self.told(PoolBody, shown_pools().get(pk=drawn.pk), 201)

    def _parameters(self) -> dict[str, Any]:
        """What is the strategy's own: all that is not everybody's. It refuses by itself what it does not know."""
        own = {name: value for name, value in self.request.data.items() if name not in Draw().fields}
        if "pairs" in own:
            try:
                own["pairs"] = Pairs().to_internal_value(own["pairs"])
            except serializers.ValidationError as error:
                raise serializers.ValidationError({"pairs": error.detail}) from error
        return own
