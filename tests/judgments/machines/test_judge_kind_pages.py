"""Tests of the judge form: each kind of judge, required inputs, expected-answer files."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from assay.formats import labels_jsonl
from judgments.models import Judge, JudgeRun, MachineJudgment
from tests.judgments.machines.model_replies import choice_of, grade, provider_at, started
from tests.model_server import Answer, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]
CSV = "query_id,expected\nq1,Document 1-1\nq2,Document 2-1\n"
OVERLAP = {"kind": "token_overlap", "min_tokens": 3, "threshold": 1, "audit_share": 50}


@pytest.fixture
def round_(make_round: Callable[..., Any], rater: Any) -> Any:
    return make_round(queries=2, documents=3, raters=[rater], ratings_per_pair=1)


@pytest.fixture
def send(round_: Any, client_of: Any, lead: Any, django_capture_on_commit_callbacks: Any) -> Callable[..., Any]:
    """Send the form, and let what it starts run."""
    client, here = client_of(lead), reverse("judge_new", args=[round_.uuid])

    def post_judge(act: str = "start", **fields: Any) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return client.post(here, {**fields, "act": act})

    return post_judge


@pytest.fixture
def read(round_: Any, client_of: Any, lead: Any) -> Callable[..., str]:
    client = client_of(lead)
    return lambda name, judge=None: client.get(
        reverse(name, args=[round_.uuid, *([judge.uuid] if judge else [])])
    ).content.decode()


def test_a_file_is_read_once_and_its_answers_stay(send: Callable[..., Any], read: Callable[..., str]) -> None:
    file = SimpleUploadedFile("expected.csv", CSV.encode())
    response = send("estimate", file=file, **OVERLAP)
    text = response.context["form"]["expected"].value()
    assert (response.status_code, response.context["estimate"].pairs) == (200, 6)
    assert "calls no model" in response.content.decode()
    assert '"q1"' in text
    begun = send(expected=text, **OVERLAP)
    judge = Judge.objects.get()
    assert begun.headers["Location"].endswith(f"/judges/{judge.uuid}/")
    assert list(MachineJudgment.objects.order_by("pair__position").values_list("grade", flat=True)) == [
        1,
        0,
        0,
        1,
        0,
        0,
    ]
    assert "Token overlap" in read("judges")
    shown = read("machine_judge", judge)
    # It asks nobody: no ledger, no dollars, no prompt to read.
    assert "token_overlap" in shown
    assert not any(word in shown for word in ("Call log", "View prompt", "guidelines version"))


def test_unreadable_answers_are_reported_by_line(send: Callable[..., Any]) -> None:
    wrong = send("estimate", expected="query_id,expected\r\nq1,one,two\r\nq2,\r\n", **OVERLAP)
    html = wrong.content.decode()
    assert (wrong.status_code, "Line 2 has 3 cells" in html) == (422, True)
    assert "Line 3 has an answer that is empty" in html
    file = SimpleUploadedFile("expected.csv", b"query_id,expected\nq1,\xff\n")
    assert "Line 2 is not UTF-8" in send("estimate", file=file, **OVERLAP).content.decode()
    both = send("estimate", file=SimpleUploadedFile("expected.csv", CSV.encode()), expected=CSV, **OVERLAP)
    assert "not both" in both.content.decode()
    assert not Judge.objects.exists()


def test_expected_answers_by_a_model_and_canaries_afterwards(
    send: Callable[..., Any], read: Callable[..., str], round_: Any, collection: Any, lead: Any, client_of: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:  # fmt: skip
    with serving(lambda prompt, number: Answer("YES" if "Document 1-1" in prompt else "NO")) as server:
        model = f"{provider_at(server.url, collection, lead).uuid}|judge-1"
        fields = {"kind": "expected_answer", "model": model, "expected": '{"q1": "one", "q2": "two"}', "yes": "3"}
        send(**fields, cap_calls=100, audit_share=50, canaries=0)
        run = JudgeRun.objects.get()
        assert (run.state, run.canaries, len(server.requests)) == ("done", 0, 6)
        assert sorted(MachineJudgment.objects.values_list("grade", flat=True)) == [0, 0, 0, 0, 0, 3]
        assert "guidelines version" not in read("machine_judge", run.judge)
        go_on = reverse("judge_go_on", args=[round_.uuid, run.judge.uuid])
        assert 'name="canaries"' in read("machine_judge", run.judge)
        with django_capture_on_commit_callbacks(execute=True):
            client_of(lead).post(go_on, {"canaries": "2"})
        run.refresh_from_db()
        assert (run.state, run.canaries, len(server.requests)) == ("done", 2, 10)
    assert "Give this the top grade" in read("machine_judge", run.judge)


def test_usefulness_is_shown_and_is_not_a_grade(
    send: Callable[..., Any],
    read: Callable[..., str],
    round_: Any,
    collection: Any,
    lead: Any,
    rater: Any,
    rate_all: Any,
    client_of: Any,
) -> None:
    rate_all(round_, rater, lambda pair: 3 if pair.document.doc_id == "d2-1" else 0)
    with serving(lambda prompt, number: Answer("Document 2-1" if "Document 2-1" in prompt else "no")) as server:
        model = f"{provider_at(server.url, collection, lead).uuid}|judge-1"
        fields = {"kind": "downstream", "model": model, "expected": CSV, "text_metric": "token_f1"}
        assert send(**fields, cap_usd=1, audit_share=50).status_code == 302
    judge = Judge.objects.get()
    shown = read("machine_judge", judge)
    assert "Mean usefulness" in shown
    assert "0.167" in shown
    assert "kappa with people" not in shown
    assert "0.5 " not in read("judge_answers", judge)
    assert "1.000" in read("judge_answers", judge)
    # What it makes of a run, the command tells from its file.
    file = client_of(lead).get(reverse("judge_labels", args=[round_.uuid, judge.uuid]))
    result = labels_jsonl.read(b"".join(file.streaming_content))
    assert not result.report.errors
    assert {row.doc_id: row.usefulness for row in result.rows if row.usefulness} == {"d2-1": 1.0}
    assert {(row.judge, row.model, row.grade) for row in result.rows} == {("downstream", "judge-1", None)}


def test_judges_are_put_together(
    send: Callable[..., Any], read: Callable[..., str], round_: Any, collection: Any, lead: Any, client_of: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:  # fmt: skip
    alone = client_of(lead).get(reverse("judge_new", args=[round_.uuid]) + "?kind=ensemble").content.decode()
    assert "Not enough judges" in alone
    send(expected=CSV, **OVERLAP)
    with serving(lambda prompt, number: grade(1)) as server:
        started(round_, choice_of(provider_at(server.url, collection, lead)), lead, django_capture_on_commit_callbacks)
    some = [str(judge.uuid) for judge in Judge.objects.all()]
    fields = {"kind": "ensemble", "rule": "vote", "least": 2, "audit_share": 50}
    few = send(**fields, judges=some[:1])
    assert (few.status_code, "Choose from 2" in few.content.decode()) == (422, True)
    assert send(**fields, judges=some).status_code == 302
    judge = Judge.objects.get(kind="ensemble")
    assert sorted(judge.judgments.values_list("outcome", flat=True)) == ["graded"] * 2 + ["undecided"] * 4
    assert "undecided" in read("judge_answers", judge)
    file = client_of(lead).get(reverse("judge_labels", args=[round_.uuid, judge.uuid]))
    assert len(b"".join(file.streaming_content).splitlines()) == 2
    assert all(name in read("machine_judge", judge) for name in judge.parameters["judges"])


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="the extra semantic is installed here")
def test_missing_packages_are_reported(round_: Any, client_of: Any, lead: Any) -> None:
    page = client_of(lead).get(reverse("judge_new", args=[round_.uuid]) + "?kind=semantic").content.decode()
    assert "pip install" in page
    assert "Estimate cost" not in page


def test_leads_who_still_rate_get_no_file(
    make_round: Callable[..., Any], client_of: Any, api_of: Any, lead: Any, rater: Any, collection: Any
) -> None:
    round_ = make_round(queries=1, documents=2, raters=[lead, rater])
    judge = Judge.objects.create(collection=collection, name="j", kind="test")
    MachineJudgment.objects.create(judge=judge, pair=round_.pairs.first(), outcome="graded", grade=1)
    assert client_of(lead).get(reverse("judge_labels", args=[round_.uuid, judge.uuid])).status_code == 403
    answer = api_of(lead).get(f"/api/v1/rounds/{round_.uuid}/judges/{judge.uuid}/labels/")
    assert (answer.status_code, "You may still grade 2 pairs" in answer.json()["error"]["message"]) == (403, True)
