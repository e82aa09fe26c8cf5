"""API tests of auto-accept: request, withdraw, draft round, call log and hidden numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from judgments.models import ModelCall, Round
from tests.judgments.machines.calibration.audit_example import grade_of, judged_by, slice_rated

pytestmark = pytest.mark.django_db


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return make_round(queries=16, documents=6, raters=[rater], ratings_per_pair=1)


def test_asking_ending_and_a_round_without(
    round_: Any, lead: Any, rater: Any, rate_all: Any, api_of: Any, client_of: Any
) -> None:
    run = judged_by(round_, grade_of)
    api, here = api_of(lead), f"/api/v1/rounds/{round_.uuid}/judges/{run.judge.uuid}/accept/"
    body = api.get(here).json()
    assert (body["asked"], body["stands"], body["confirmed"]) == (False, False, None)
    early = api.post(here, {"bound": 0.8}, format="json")
    assert (early.status_code, "30 are needed" in early.json()["error"]["fields"]["bound"]) == (400, True)
    assert api.post(here, {"bound": 0.8, "force": True}, format="json").status_code == 400
    assert (api.delete(here).status_code, api.post(f"{here}draft/").status_code) == (409, 409)
    slice_rated(lead, rater, rate_all)(run, grade_of)
    body = api.post(here, {"bound": 0.8}, format="json").json()
    assert (body["asked"], body["stands"], body["bound"], body["confirmed"]["population"]) == (True, True, 0.8, 80)
    assert body["confirmed"]["low"] >= 0.8
    assert api.post(here, {"bound": 0.8}, format="json").status_code == 409
    made = api.post(f"{here}draft/").json()
    draft = Round.objects.get(uuid=made["round"])
    assert (draft.state, draft.pairs.count()) == (Round.State.DRAFT, made["pairs"])
    # The page does the same.
    page = reverse("judge_accept", args=[round_.uuid, run.judge.uuid])
    assert (
        "Create round without these pairs"
        in client_of(lead).get(reverse("machine_judge", args=page_args(run))).content.decode()
    )
    again = client_of(lead).post(page, {"act": "draft"})
    assert again.status_code == 302
    assert Round.objects.get(name="Round 1, for people 3").pairs.count() == made["pairs"]
    assert api.delete(here).json()["asked"] is False
    assert api.get(here).json()["stands"] is False


def page_args(run: Any) -> list[Any]:
    return [run.round.uuid, run.judge.uuid]


def test_readers_who_may_still_grade_see_no_numbers(
    make_round: Callable[..., Any],
    lead: Any,
    rater: Any,
    rate_all: Any,
    lead2: Any,
    api_of: Any,
    client_of: Any,
) -> None:
    round_ = make_round(queries=16, documents=6, raters=[rater, lead2], ratings_per_pair=1)
    run = judged_by(round_, grade_of)
    slice_rated(lead, rater, rate_all)(run, grade_of)
    here = f"/api/v1/rounds/{round_.uuid}/judges/{run.judge.uuid}/accept/"
    assert api_of(lead).post(here, {"bound": 0.7}, format="json").status_code == 201
    body = api_of(lead2).get(here).json()
    assert (body["stands"], body["confirmed"]) == (True, None)
    page = client_of(lead2).get(reverse("machine_judge", args=page_args(run))).content.decode()
    assert "numbers are hidden" in body["why"]
    assert "numbers are hidden" in page
    assert "are not relevant" not in body["why"] + page
    assert api_of(lead2).post(f"{here}draft/").status_code == 409


def test_the_ledger_is_paged_and_filtered(round_: Any, lead: Any, api_of: Any) -> None:
    run = judged_by(round_, grade_of)
    here = f"/api/v1/rounds/{round_.uuid}/judges/{run.judge.uuid}/ledger/"
    call = ModelCall.objects.create(
        run=run, judge=run.judge, pair=round_.pairs.first(), purpose="canary", trap="instruction", key="c" * 64,
        prompt_sha256="", requested_model="m", model_answered="m", outcome="unparseable",
        raw="<script>alert(1)</script>",
    )  # fmt: skip
    body = api_of(lead).get(f"{here}?page_size=50").json()
    assert (body["count"], len(body["results"]), body["next"] is None) == (97, 50, False)
    (row,) = api_of(lead).get(f"{here}?purpose=canary&outcome=unparseable").json()["results"]
    assert (row["raw"], row["trap"], row["question_sha256"]) == (call.raw, "instruction", "c" * 64)
    assert (row["query_id"], row["doc_id"]) == (call.pair.query.query_id, call.pair.document.doc_id)
    wrong = api_of(lead).get(f"{here}?outcome=fine")
    assert (wrong.status_code, set(wrong.json()["error"]["fields"])) == (400, {"outcome"})


def test_the_ledger_leaves_out_what_its_reader_may_still_grade(
    make_round: Callable[..., Any], lead: Any, rater: Any, api_of: Any
) -> None:
    round_ = make_round(queries=1, documents=3, raters=[lead, rater])
    run = judged_by(round_, grade_of)
    body = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/judges/{run.judge.uuid}/ledger/").json()
    assert (body["count"], body["results"]) == (0, [])
