"""Tests of the judge effect page and its files."""

from __future__ import annotations

import csv
import io
from typing import Any
from xml.etree import ElementTree

import pytest
from django.urls import reverse

from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall, Provider, Round
from pooling.models import Run
from tests.cached_rows import cached_fixture
from tests.evaluation.stage import Stage
from tests.judgments.charts.vega_lite import layers_of

pytestmark = pytest.mark.django_db


@pytest.fixture
@cached_fixture
def round_(stage: Stage) -> Round:
    """Thirty-six pairs that two people graded."""
    stage.queries()
    stage.documents()
    made = stage.round(runs=0)
    stage.graded(made, lambda pair, place: pair.position % 4)
    return made


def set_to(round_: Round, **fields: Any) -> Judge:
    """A judge that says what people say, but 1 where they say 0."""
    judge = Judge.objects.create(
        collection=round_.collection, name="graded-v1 gpt-4o", kind="graded", model="gpt-4o",
        parameters={"protocol": "openai", "guidelines_version": 1, "temperature": 0.0},
    )  # fmt: skip
    estimate = {"pairs": 40, "usd": [0.4, 0.8]}
    run = JudgeRun.objects.create(
        round=round_, judge=judge, cap_usd=5.0, audit_share=1.0, state="done", estimate=estimate, **fields
    )
    for pair in round_.pairs.order_by("position"):
        word = {"outcome": "graded", "grade": max(1, pair.position % 4)}
        call = {"run": run, "judge": judge, "pair": pair, "prompt_sha256": "", "requested_model": "gpt-4o"}
        row = ModelCall.objects.create(key=f"{pair.pk:064}", purpose="pair", **call, **word)
        MachineJudgment.objects.create(judge=judge, pair=pair, call=row, **word)
        for trap in ("instruction", "query-words"):
            grade = 3 if pair.position == 2 else word["grade"]
            key = f"{trap}{pair.pk:040}"
            ModelCall.objects.create(key=key, purpose="canary", trap=trap, outcome="graded", grade=grade, **call)
    return judge


def page_of(judge: Judge, round_: Round) -> str:
    return reverse("machine_judge", args=[round_.uuid, judge.uuid])


def test_the_page_tells_verdict_people_relevance_flips_and_the_next_batch(
    round_: Round, client_of: Any, lead: Any
) -> None:
    judge = set_to(round_)
    page = " ".join(client_of(lead).get(page_of(judge, round_)).content.decode().split())
    assert "Grade 1 is correct for 50%" in page
    assert "never gives grade 0" in page
    assert "Prompt-injection probes changed 2 grades of 72" in page
    assert "two people: 1.000, 36 pairs" in page
    assert "Share relevant" in page
    assert '<td class="num">0.50<br><small class="muted">' in page
    assert '<td class="num muted">2 of 72</td>' in page
    assert "the next 4 pairs would cost at most $0.0800" in page
    assert "from the same model family" not in page
    assert "View flips" in page
    ledger = reverse("judge_ledger", args=[round_.uuid, judge.uuid])
    counts = {
        value: len(
            b"".join(client_of(lead).get(ledger, {"flipped": value, "format": "csv"}).streaming_content).splitlines()
        )
        for value in ("yes", "no")
    }
    assert counts == {"yes": 1 + 2, "no": 1 + 70}


def test_its_files_hold_what_the_page_shows(round_: Round, client_of: Any, lead: Any) -> None:
    here, client = page_of(set_to(round_), round_), client_of(lead)
    worth = client.get(here, {"format": "json"}).json()["worth"]
    rows = list(csv.DictReader(io.StringIO(client.get(here, {"format": "worth.csv"}).content.decode())))
    assert [row["grade"] for row in rows] == ["0", "1", "2", "3"]
    for row, one in zip(rows, worth, strict=True):
        for name in ("same", "relevant"):
            assert (float(row[name]) if row[name] else None) == one[name]["value"]
            assert (float(row[f"{name}_low"]) if row[f"{name}_low"] else None) == one[name]["low"]
        assert int(row["pairs"]) == one["same"]["n"]
    # Of the eighteen 1s people call half a 1, and those alone relevant.
    assert (rows[0]["same"], rows[1]["same"], rows[1]["relevant"]) == ("", "0.5", "0.5")
    points = layers_of(client.get(here, {"format": "worth.vl.json"}))[1]
    assert [{key: "" if value is None else str(value) for key, value in row.items()} for row in points] == rows
    answer = client.get(here, {"format": "worth.svg"})
    assert "-precision.svg" in answer.headers["Content-Disposition"]
    picture = ElementTree.fromstring(answer.content)
    words = [node.text for node in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert words[:3] == ["grade 0", "never", "grade 1"]


def test_a_run_of_its_family_is_warned_of_on_page_and_api(
    round_: Round, client_of: Any, api_of: Any, lead: Any, stage: Stage
) -> None:
    stage.run("first", "012")
    stage.run("second", "210")
    judge = set_to(round_)
    Run.objects.filter(name="second").update(generator_family="GPT")
    page = client_of(lead).get(page_of(judge, round_)).content.decode()
    assert "second (GPT, declared) is from the same model family" in page
    body = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/judges/{judge.uuid}/effect/").json()
    assert body["kin"] == [{"name": "second", "family": "GPT", "declared": True}]


def test_a_judge_without_people_has_a_page(stage: Stage, client_of: Any, lead: Any) -> None:
    stage.queries()
    stage.documents()
    round_ = stage.round(runs=0)
    judge = set_to(round_)
    page = client_of(lead).get(page_of(judge, round_)).content.decode()
    assert "Not enough pairs." in page
    assert "two people" not in page
    empty = client_of(lead).get(page_of(judge, round_), {"format": "worth.csv"}).content.decode().splitlines()
    assert len(empty) == 5


def test_pairs_a_lead_may_still_grade_are_hidden(stage: Stage, client_of: Any, lead: Any) -> None:
    stage.queries()
    stage.documents()
    stage.raters[1] = lead
    round_ = stage.round(runs=0)
    stage.graded(round_, lambda pair, place: pair.position % 4, raters=1)
    judge = set_to(round_)
    client = client_of(lead)
    assert "Not enough pairs." in client.get(page_of(judge, round_)).content.decode()
    rows = list(
        csv.DictReader(io.StringIO(client.get(page_of(judge, round_), {"format": "worth.csv"}).content.decode()))
    )
    assert {row["pairs"] for row in rows} == {"0"}


def test_a_model_of_the_family_is_warned_of_before_anything_is_spent(
    stage: Stage, client_of: Any, api_of: Any, lead: Any, settings: Any
) -> None:
    settings.PROVIDER_HOSTS = ["models.example.com"]
    stage.queries()
    stage.documents()
    stage.run("gpt-rerank", "012")
    stage.run("bm25", "210")
    round_ = stage.round(runs=0)
    offered = [
        {"name": "gpt-4o", "price_in": 1.0, "price_out": 4.0},
        {"name": "other-1", "price_in": None, "price_out": None},
    ]
    provider = Provider.objects.create(
        collection=round_.collection, name="p", protocol="openai", base_url="https://models.example.com",
        models_offered=offered, created_by=lead,
    )  # fmt: skip
    request = {"provider": str(provider.uuid), "cap_calls": 100, "dry_run": True}
    here = f"/api/v1/rounds/{round_.uuid}/judges/"
    body = api_of(lead).post(here, {**request, "model": "gpt-4o"}, format="json").json()
    assert body["kin"] == [{"name": "gpt-rerank", "family": "GPT", "declared": False}]
    assert api_of(lead).post(here, {**request, "model": "other-1"}, format="json").json()["kin"] == []
    form = {"model": f"{provider.uuid}|gpt-4o", "prompt": "graded", "cap_calls": "100", "audit_share": "10"}
    form |= {"canaries": "0", "examples": "0", "act": "estimate"}
    page = client_of(lead).post(reverse("judge_new", args=[round_.uuid]), form).content.decode()
    assert "gpt-rerank (GPT, by its name) is from the same model family" in page
    assert not JudgeRun.objects.exists()


def test_the_reason_for_missing_ranks_is_shown(round_: Round, client_of: Any, lead: Any, stage: Stage) -> None:
    judge = Judge.objects.create(collection=round_.collection, name="graded-v1 a", kind="graded")
    JudgeRun.objects.create(round=round_, judge=judge, cap_usd=1.0, audit_share=1.0, state="done")
    for pair in round_.pairs.all():  # it says the same of all
        MachineJudgment.objects.create(judge=judge, pair=pair, outcome="graded", grade=1)
    stage.run("first", "012")
    page = " ".join(client_of(lead).get(page_of(judge, round_)).content.decode().split())
    assert "1 run: a ranking needs at least two" in page
    stage.run("second", "210")
    page = " ".join(client_of(lead).get(page_of(judge, round_)).content.decode().split())
    assert "2 runs: people or the machine score all runs the same" in page
