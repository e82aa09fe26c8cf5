"""Test of the migrations that rename fields: rows written under the old names are read under the new ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
BEFORE = [("judgments", "0025_questions_apart"), ("evaluation", "0009_rag_critics")]
AFTER = [("judgments", "0026_standard_field_names"), ("evaluation", "0011_standard_field_names")]


def migrate(targets: list[tuple[str, str]]) -> Any:
    """Migrate to the targets and return the models of that state."""
    MigrationExecutor(connection).migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.fixture
def old_models() -> Iterator[Any]:
    """Yield the models from before the migrations, which are applied again in any case."""
    try:
        yield migrate(BEFORE)
    finally:
        migrate(MigrationExecutor(connection).loader.graph.leaf_nodes())


def create_rows(old: Any) -> None:
    """Create one row of each table under the old names of its fields."""

    def create(model: str, /, **fields: Any) -> Any:
        return old.get_model(model).objects.create(**fields)

    lead = create("judgments.User", username="lead")
    shop = create("judgments.Collection", slug="shop", name="Shop")
    version = create("judgments.GuidelinesVersion", collection=shop, number=1, markdown="Grade.", sha256="0")
    scale = create("judgments.Scale", collection=shop)
    query = create("judgments.Query", collection=shop, query_id="q1", text="rain jacket")
    first, second = (create("judgments.Document", collection=shop, doc_id=name) for name in ("d1", "d2"))
    round_ = create("judgments.Round", collection=shop, name="Round 1", scale=scale, guidelines=version)
    placed: dict[str, Any] = {"round": round_, "query": query, "ratings_wanted": 1}
    pair = create("judgments.Pair", document=first, position=0, settled=True, **placed)
    other = create("judgments.Pair", document=second, position=1, **placed)
    create("judgments.Adjudication", pair=pair, grade=2, reason="It is dry.", settled_by=lead)
    create("judgments.Job", kind="test", title="Test", cancel_asked=True)
    judge = create("judgments.Judge", collection=shop, name="judge", kind="llm", told={"kind": "llm"})
    ended: dict[str, Any] = {"cap_calls": 1, "said": "Cap reached", "pause_asked": True}
    run = create("judgments.JudgeRun", round=round_, judge=judge, **ended)
    call = {"key": "k", "prompt_sha256": "p", "model_asked": "m", "outcome": "refused"}
    create("judgments.ModelCall", run=run, judge=judge, pair=pair, purpose="pair", **call)
    drawn: dict[str, Any] = {"cycles": 1, "both": 0, "seed": 1, "drawn": [], "battles": 1, "ensemble": []}
    battles = create("judgments.BattleRun", round=round_, number=1, told={"file": "f"}, **drawn, **ended)
    create("judgments.Battle", run=battles, a=pair, b=other, swapped=False, **call)
    create("judgments.BattleCanary", run=battles, a=pair, b=other, swapped=False, trap="t", plain=1, **call)
    file = {"filename": "f", "path": "p", "stored_sha256": "0", "rows": 1}
    samples = create("evaluation.RagSampleSet", collection=shop, name="Samples", **file)
    critic = create("evaluation.RagCriticRun", sample_set=samples, model="m", **ended)
    create("evaluation.RagCriticCall", run=critic, **call)


def test_rows_keep_their_values_under_the_new_names(old_models: Any) -> None:
    create_rows(old_models)
    migrate(AFTER)

    def read(name: str, *fields: str) -> list[tuple[Any, ...]]:
        return list(apps.get_model(name).objects.order_by("pk").values_list(*fields))

    assert read("judgments.Pair", "resolved") == [(True,), (False,)]
    assert read("judgments.Adjudication", "resolved_by__username") == [("lead",)]
    assert read("judgments.Job", "cancel_requested") == [(True,)]
    assert read("judgments.Judge", "inputs") == [({"kind": "llm"},)]
    assert read("judgments.BattleRun", "inputs") == [({"file": "f"},)]
    for run in ("judgments.JudgeRun", "judgments.BattleRun", "evaluation.RagCriticRun"):
        assert read(run, "end_message", "pause_requested") == [("Cap reached", True)]
    for call in ("judgments.ModelCall", "judgments.Battle", "judgments.BattleCanary", "evaluation.RagCriticCall"):
        assert read(call, "requested_model") == [("m",)]


def test_the_columns_keep_their_names() -> None:
    loader = MigrationExecutor(connection).loader
    for target in AFTER:
        statements = loader.collect_sql([(loader.graph.nodes[target], False)])
        assert [line for line in statements if not line.startswith(("--", "BEGIN", "COMMIT"))] == []
