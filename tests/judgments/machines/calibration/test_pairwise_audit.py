"""Tests of the audit slice of comparison runs: people grade it and it calibrates the judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from assay.core.errors import NotValid
from evaluation.judges import estimates
from judgments.machines.calibration import audit_sample, auto_accept, calibration, routing
from judgments.machines.pairwise import file_import, grades
from judgments.models import BattleRun, MachineJudgment
from judgments.rating import assignment
from tests.judgments.machines.model_replies import provider_at
from tests.judgments.machines.pairwise.example import better, choice_of, fought, with_worth
from tests.model_server import ModelServer, serving
from tests.world import grade_all, grade_together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
QUERIES, DOCUMENTS, SHARE = 5, 6, 0.3
GRADES = {f"d{query}-{at}": (at - 1) // 2 for query in range(1, QUERIES + 1) for at in range(1, DOCUMENTS + 1)}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(better) as running:
        yield running


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return with_worth(make_round(queries=QUERIES, documents=DOCUMENTS, raters=[rater]))


@pytest.fixture
def run(round_: Any, server: ModelServer, collection: Any, lead: Any, django_capture_on_commit_callbacks: Any) -> Any:
    choice = choice_of(provider_at(server.url, collection, lead), cycles=2, both=0.0, audit_share=SHARE)
    battle_run = fought(round_, choice, lead, django_capture_on_commit_callbacks)
    battle_run.round = round_
    return battle_run


def slice_of(run: BattleRun) -> set[tuple[str, str]]:
    """The slice by the draw itself."""
    rows = run.round.pairs.values_list("query__query_id", "document__doc_id")
    return {key for key in rows if audit_sample.drawn(run.seed, *key) < SHARE}


def test_it_goes_to_people_before_any_grade_is_made(run: BattleRun, round_: Any, lead: Any) -> None:
    inside = slice_of(run)
    assert 4 < len(inside) < len(GRADES) - 10
    listed = routing.routed(round_)
    audited = {(one.pair.query.query_id, one.pair.document.doc_id) for one in listed if one.reason == routing.AUDIT}
    assert audited == inside
    # Whatever came of the battles: it is listed first, and no draft may cut it.
    assert [one.reason for one in listed[: len(inside)]] == [routing.AUDIT] * len(inside)
    with pytest.raises(NotValid, match="always included"):
        routing.draft_round(round_, actor=lead, most=len(inside) - 1)
    made = routing.draft_round(round_, actor=lead, most=len(inside))
    assert set(made.pairs.values_list("query__query_id", "document__doc_id")) == inside
    assert not MachineJudgment.objects.exists()


def test_audit_pairs_are_no_examples_and_all_calibrate_the_judge(
    run: BattleRun, round_: Any, rater: Any, lead: Any, client_of: Any, api_of: Any
) -> None:
    grade_all(round_, rater, GRADES)
    inside = slice_of(run)
    # Even where every grade of people is wanted as an anchor.
    judge = grades.create_judge(run, actor=lead, share=1.0)
    anchors = {tuple(key) for key in judge.inputs["example_pairs"]}
    assert anchors == {(key[0], key[1]) for key in calibration.labels_of(round_)} - inside
    assert calibration.slice_keys(judge, round_) == inside
    held = calibration.calibrate(judge, round_, lead)
    assert (held.slice_size, held.slice_graded, held.calibrated.pairs) == (len(inside),) * 3
    # The share of relevant pairs speaks of all pairs of the round, anchors among them.
    rate = estimates.estimates_of(judge, round_, lead).rate
    assert rate is not None
    assert (rate.queries, rate.others) == (len(inside), len(GRADES) - len(inside))
    here = f"/api/v1/rounds/{round_.uuid}/judges/{judge.uuid}/"
    assert api_of(lead).get(here).json()["audit_share"] == SHARE
    page = client_of(lead).get(reverse("machine_judge", args=[round_.uuid, judge.uuid])).content.decode()
    assert f"{len(inside)} of the {len(inside)} pairs of the audit slice have human grades" in page
    assert "without anchors" in page
    page = client_of(lead).get(reverse("battle_run", args=[round_.uuid, run.uuid])).content.decode()
    assert "30% of all pairs" in page.replace("\xa0", " ")
    # That a judge has a slice lets none of its grades stand by itself.
    with pytest.raises(NotValid, match="has not run"):
        auto_accept.activate(round_, judge, bound=0.9, actor=lead)


def test_labels_of_the_slice_alone_make_no_judge(run: BattleRun, round_: Any, rater: Any, lead: Any) -> None:
    inside = {doc_id for _, doc_id in slice_of(run)}
    batch = assignment.claim_batch(round_, rater=rater, size=len(GRADES))
    given = {pair.uuid: pair.document.doc_id for pair in batch}
    grade_together(round_, rater, {uuid: GRADES[doc_id] for uuid, doc_id in given.items() if doc_id in inside})
    with pytest.raises(NotValid, match=r"0 anchors.*audit slice"):
        grades.create_judge(run, actor=lead, share=1.0)


def test_its_share_is_chosen_on_the_page_and_by_api(
    round_: Any,
    server: ModelServer,
    collection: Any,
    lead: Any,
    client_of: Any,
    api_of: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    provider, api, client = provider_at(server.url, collection, lead), api_of(lead), client_of(lead)
    here = f"/api/v1/rounds/{round_.uuid}/battles/"
    body = {"models": [{"provider": str(provider.uuid), "model": "judge-1"}], "cycles": 1, "both": 0, "cap_usd": 1}
    row = {"query_id": "q1", "a": "d1-1", "b": "d1-2", "score": 0.8, "model": "m"}
    for share in (0, 1.1):
        for place, payload in ((here, body), (f"{here}import/", {"battles": [row]})):
            refused = api.post(place, {**payload, "audit_share": share}, format="json")
            assert (refused.status_code, "audit_share" in refused.json()["error"]["fields"]) == (400, True)
    with django_capture_on_commit_callbacks(execute=True):
        api.post(here, {**body, "dry_run": False}, format="json")
        api.post(here, {**body, "audit_share": 0.4}, format="json")
    api.post(f"{here}import/", {"battles": [row], "audit_share": 0.5}, format="json")
    form = {"models": [f"{provider.uuid}|judge-1"], "cycles": 1, "both": 0, "cap_usd": 1, "act": "start"}
    new, import_ = (reverse(name, args=[round_.uuid]) for name in ("battle_new", "battle_import"))
    assert client.post(new, {**form, "audit_share": 0}).status_code == 422
    with django_capture_on_commit_callbacks(execute=True):
        client.post(new, {**form, "audit_share": 20})
    file = SimpleUploadedFile("fought.jsonl", json.dumps(row).encode())
    client.post(import_, {"file": file, "audit_share": 60})
    assert [one["audit_share"] for one in api.get(here).json()][::-1] == [0.1, 0.4, 0.5, 0.2, 0.6]
    # A pair is for people where one of them wants it: the widest slice holds the others.
    assert {one.share for one in audit_sample.in_round(round_)} == {0.1, 0.2, 0.4, 0.5, 0.6}


def test_battles_without_slices_are_compared_with_all_human_grades(
    round_: Any, rater: Any, lead: Any, rate_all: Any
) -> None:
    rows = [
        {"query_id": f"q{query}", "a": f"d{query}-1", "b": f"d{query}-{at}", "score": at / 6, "model": "m"}
        for query in range(1, QUERIES + 1)
        for at in range(2, DOCUMENTS + 1)
    ]
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    run = file_import.import_battles(round_, content, filename="fought.jsonl", actor=lead)
    BattleRun.objects.filter(pk=run.pk).update(audit_share=0.0)
    grade_all(round_, rater, GRADES)
    judge = grades.create_judge(BattleRun.objects.get(pk=run.pk), actor=lead, share=0.5)
    assert audit_sample.of_judge(judge, round_) is None
    assert len(calibration.slice_keys(judge, round_)) == len(GRADES)
    assert not [one for one in routing.routed(round_) if one.reason == routing.AUDIT]
