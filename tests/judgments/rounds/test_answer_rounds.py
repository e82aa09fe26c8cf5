"""Rounds of answers: what is stored, what is merged, what stays out of documents, and what is frozen."""

from __future__ import annotations

import io
import re
import uuid
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.urls import reverse
from django.utils.html import strip_tags

from assay.cli import main
from assay.core.errors import Conflict, NotValid
from evaluation.overview.collection_state import Standing
from judgments.guidelines import guidelines
from judgments.imports import documents, ingestion
from judgments.models import AuditRow, Document, GuidelinesVersion, ImportedLabel, Pair, Query, Round
from judgments.quality import gold_pairs
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from judgments.rounds.answer_dimensions import DIMENSIONS
from judgments.rounds.answer_rounds import GivenAnswer, Passage, create_answer_rounds
from judgments.snapshots import snapshots
from tests.cached_rows import cached_fixture
from tests.world import grade_together

pytestmark = pytest.mark.django_db

SHELL = Passage("d1", "The shell is waterproof. It has three layers.", "Shell", "https://shop.example/d1")
CARE = Passage("d2", "Wash it at 30 degrees.", "Care")
DRY = GivenAnswer("q1", "Is the shell dry?", "Yes, the shell is waterproof [1].", (SHELL, CARE), "Yes.")
WET = GivenAnswer("q1", "Is the shell dry?", "No.", (CARE,), "Yes.")
WASH = GivenAnswer("q2", "How do I wash it?", "At 30 degrees [2].", (SHELL, CARE), "At 30 degrees.")


@pytest.fixture
def make(collection: Any, lead: Any, rater: Any, rater2: Any) -> Callable[..., list[Round]]:
    """Make answer rounds, opened."""

    def made(answers: Sequence[GivenAnswer] = (DRY, WET, WASH), **options: Any) -> list[Round]:
        given = {"name": "RAG", "raters": [rater, rater2], "actor": lead, **options}
        return [
            rounds.open_round(one, actor=lead) for one in create_answer_rounds(collection, answers=answers, **given)
        ]

    return made


def test_one_act_makes_a_round_for_each_dimension_over_the_same_answers(make: Any, collection: Any) -> None:
    made = make()
    assert [one.dimension for one in made] == ["faithful", "correct", "complete"]
    assert [one.name for one in made] == ["RAG: faithful", "RAG: correct", "RAG: complete"]
    held = [set(one.pairs.values_list("query__query_id", "document__doc_id")) for one in made]
    assert held[0] == held[1] == held[2] == {(one.query_id, one.doc_id) for one in (DRY, WET, WASH)}
    assert Document.answers.count() == 3
    assert [one.scale.values() for one in made] == [[0, 1, 2]] * 3
    texts = [one.guidelines.markdown.strip() for one in made]
    assert texts == [DIMENSIONS[name].guidelines.strip() for name in ("faithful", "correct", "complete")]
    assert AuditRow.objects.filter(verb="answer_rounds.create_answer_rounds", collection=collection).count() == 1


def test_equal_answers_of_two_systems_are_graded_once_and_name_no_system(make: Any) -> None:
    (made,) = make([DRY, replace(DRY, text=f" {DRY.text}\n"), WET], dimensions=["faithful"])
    assert made.pairs.count() == 2
    # The passage counts: the same words from other evidence are another answer.
    other = replace(DRY, evidence=(CARE,))
    assert len({DRY.doc_id, other.doc_id, replace(DRY, query_id="q9").doc_id}) == 3
    stored = Document.answers.get(doc_id=DRY.doc_id)
    assert (stored.text, stored.reference, [one["doc_id"] for one in stored.evidence]) == (
        DRY.text,
        "Yes.",
        ["d1", "d2"],
    )
    assert Pair.objects.filter(document=stored).get().origin == {}


def test_a_second_act_uses_the_answers_questions_and_guidelines_that_are_there(make: Any, collection: Any) -> None:
    first, second = make(dimensions=["faithful"]), make(dimensions=["faithful"], name="Again")
    assert first[0].guidelines == second[0].guidelines
    assert Document.answers.count() == 3
    assert Query.questions.filter(collection=collection).count() == 2


@pytest.mark.parametrize(
    ("answers", "options", "field"),
    [
        ([], {}, "answers"),
        ([replace(DRY, text="  ")], {}, "answers"),
        ([replace(DRY, query="")], {}, "answers"),
        ([replace(DRY, query_id="")], {}, "answers"),
        ([replace(DRY, query="x" * 2049)], {}, "answers"),
        ([replace(DRY, text="x" * 50_000_000)], {}, "answers"),
        ([replace(DRY, text="nul\0")], {}, "answers"),
        ([replace(DRY, text="half \ud800")], {}, "answers"),
        ([replace(DRY, evidence=(replace(SHELL, doc_id=""),))], {}, "answers"),
        ([replace(DRY, evidence=(SHELL,) * 101)], {}, "answers"),
        ([DRY, replace(WET, query="Another question")], {}, "answers"),
        ([DRY, replace(WET, reference="No.")], {}, "answers"),
        ([DRY], {"dimensions": ["polite"]}, "dimensions"),
        ([DRY], {"dimensions": []}, "dimensions"),
        ([DRY], {"dimensions": ["correct", "correct"]}, "dimensions"),
        ([DRY], {"dimensions": ["correct"], "texts": {"faithful": "Grade."}}, "guidelines"),
        ([DRY], {"scale": [(0, "No", "")]}, "scale"),
        ([DRY], {"name": " "}, "name"),
    ],
)
def test_ungradable_answers_are_refused_as_a_whole(make: Any, answers: Any, options: Any, field: str) -> None:
    with pytest.raises(NotValid) as refused:
        make(answers, **options)
    assert field in refused.value.fields
    assert not Round.objects.exists()
    assert not Document.answers.exists()
    assert not Query.of_any_kind.exists()
    assert not GuidelinesVersion.objects.exists()


def test_questions_are_no_queries(
    make: Any, collection: Any, store_file: Any, api_of: Any, client_of: Any, lead: Any
) -> None:
    store_file("queries", "query_id,query\nq7,rain jacket\n", "queries.csv")
    make()
    assert [row.query_id for row in collection.queries.all()] == ["q7"]
    assert [row.query_id for row in Query.questions.all()] == ["q1", "q2"]
    listed = api_of(lead).get("/api/v1/collections/shop/queries/").json()
    assert [row["query_id"] for row in listed["results"]] == ["q7"]
    assert Standing(collection).queries.total == 1
    file = client_of(lead).get(reverse("queries", args=["shop"]), {"format": "csv"}).getvalue().decode()
    assert "q7" in file
    assert "q1" not in file
    for row in Query.of_any_kind.all():
        assert client_of(lead).get(reverse("query", args=["shop", row.uuid])).status_code == 200
        assert api_of(lead).get(f"/api/v1/collections/shop/queries/{row.uuid}/").json()["query_id"] == row.query_id


def test_a_question_is_the_query_with_its_id_and_text(make: Any, collection: Any, store_file: Any) -> None:
    store_file("queries", f"query_id,query\nq1,{DRY.query}\n", "queries.csv")
    (made,) = make(dimensions=["faithful"])
    assert {pair.query.kind for pair in made.pairs.filter(query__query_id="q1")} == {Query.Kind.QUERY}
    assert [row.query_id for row in Query.questions.all()] == ["q2"]


def test_a_question_with_the_id_of_another_query_is_a_row_of_its_own(
    make: Any, collection: Any, store_file: Any, lead: Any, rater: Any, rater2: Any
) -> None:
    store_file("queries", "query_id,query\nq1,another text\n", "before.csv")
    (made,) = make(dimensions=["faithful"])
    store_file("queries", "query_id,query\nq2,yet another text\n", "after.csv")
    assert {pair.query.text for pair in made.pairs.all()} == {DRY.query, WASH.query}
    assert {row.text for row in collection.queries.all()} == {"another text", "yet another text"}
    for one in (rater, rater2):
        _grade(made, one, {DRY.doc_id: 2, WET.doc_id: 0, WASH.doc_id: 2})
    frozen = snapshots.freeze(
        collection, name="faithful", rounds=[made], actor=lead, override_reason="A test of three pairs."
    )
    assert frozen.summary["queries"] == 2
    assert frozen.read_file("queries.tsv").decode().splitlines() == [
        f"{one.query_id}\t{one.query}" for one in (DRY, WASH)
    ]
    # Labels and grades of the answers reach the question again.
    labels = "".join(f"{one.query_id} 0 {one.doc_id} 1\n" for one in (DRY, WET, WASH))
    store_file("qrels", labels, "labels.qrels")
    rows = ImportedLabel.objects.values_list("query__kind", "query__text")
    assert set(rows) == {("question", DRY.query), ("question", WASH.query)}


def test_a_question_has_one_text(make: Any) -> None:
    make([DRY], dimensions=["correct"])
    with pytest.raises(NotValid, match="another id") as refused:
        make([replace(DRY, query="Another question?")], dimensions=["faithful"])
    assert "answers" in refused.value.fields


@pytest.mark.parametrize("made_by", ["round", "file", "file and round"])
def test_questions_of_earlier_rounds_are_set_apart(make: Any, collection: Any, store_file: Any, made_by: str) -> None:
    """Before the migration, questions were queries of the collection."""
    migration = import_module("pooling.migrations.0010_questions_apart")
    if made_by != "round":
        store_file("queries", f"query_id,query\nq1,{DRY.query}\n", "queries.csv")
    make(dimensions=["faithful", "correct"])
    migration.join(apps, None)
    assert not Query.questions.exists()
    if made_by == "file and round":
        store_file("queries", "query_id,query,frequency\nq2,How do I wash it?,12\n", "more.csv")
    migration.separate(apps, None)
    apart = {"round": ["q1", "q2"], "file": ["q2"], "file and round": []}[made_by]
    assert [row.query_id for row in Query.questions.order_by("query_id")] == apart


def test_a_name_that_is_taken_leaves_nothing_behind(make: Any) -> None:
    make([DRY], dimensions=["correct"])
    with pytest.raises(Conflict):
        make([WASH])
    assert Round.objects.count() == 1
    assert Document.answers.count() == 1


def test_answers_are_no_documents(make: Any, collection: Any, store_file: Any, api_of: Any, lead: Any) -> None:
    store_file("documents", '{"doc_id": "d1", "text": "A text."}\n', "documents.jsonl")
    made = make()
    assert [row.doc_id for row in collection.documents.all()] == ["d1"]
    assert [row.doc_id for row in Document.objects.all()] == ["d1"]
    listed = api_of(lead).get("/api/v1/collections/shop/documents/").json()
    assert [row["doc_id"] for row in listed["results"]] == ["d1"]
    # A document with the id of an answer is another row: neither takes the other's place.
    store_file("documents", f'{{"doc_id": "{DRY.doc_id}", "text": "Not the answer."}}\n', "documents.jsonl")
    assert made[0].pairs.get(document__doc_id=DRY.doc_id).document.text == DRY.text
    # Labels that name an answer reach it, and make no stub of it.
    assert documents.stubs_for(collection, [WET.doc_id])[WET.doc_id].is_answer
    assert not collection.documents.filter(stub=True).exists()


def test_guidelines_for_answers_are_not_the_newest_ones_for_documents(make: Any, collection: Any, lead: Any) -> None:
    own = guidelines.add_version(collection, markdown="Grade documents.", actor=lead)
    faithful, correct, _ = make()
    assert guidelines.latest(collection) == own
    assert guidelines.latest(collection, "faithful") == faithful.guidelines
    assert guidelines.latest(collection, "correct") == correct.guidelines


def test_an_answer_is_no_gold_pair_of_another_question(make: Any, lead: Any, api_of: Any, client_of: Any) -> None:
    (made,) = make([DRY, WASH], dimensions=["faithful"])
    (target,) = make([WET], dimensions=["faithful"], name="Next")
    wrong = {"query_id": "q2", "doc_id": DRY.doc_id, "grade": 2}
    payload = {"use": "hidden", "pairs": [wrong]}
    refused = api_of(lead).post(f"/api/v1/rounds/{target.uuid}/gold/", payload, format="json")
    assert refused.status_code == 400
    assert "q1" in refused.json()["error"]["fields"]["pairs"]
    form = {"act": "one", "one-use": "hidden", **{f"one-{name}": value for name, value in wrong.items()}}
    assert client_of(lead).post(reverse("calibration", args=[target.uuid]), form).status_code == 422
    assert not target.gold.exists()
    payload["pairs"] = [{**wrong, "query_id": "q1"}]
    assert api_of(lead).post(f"/api/v1/rounds/{target.uuid}/gold/", payload, format="json").status_code == 201
    assert target.gold.get().query == made.pairs.get(document__doc_id=DRY.doc_id).query


def _grade(round_: Round, rater: Any, grades: dict[str, int]) -> None:
    batch = assignment.claim_batch(round_, rater=rater, size=50)
    grade_together(round_, rater, {pair.uuid: grades[pair.document.doc_id] for pair in batch})


@pytest.fixture
@cached_fixture
def graded(make: Any, rater: Any, rater2: Any) -> list[Round]:
    """Three rounds; the raters of the first one differ about one answer."""
    made: list[Round] = make()
    for one in made:
        _grade(one, rater, {DRY.doc_id: 2, WET.doc_id: 0, WASH.doc_id: 2})
        _grade(one, rater2, {DRY.doc_id: 2, WET.doc_id: 2 if one == made[0] else 0, WASH.doc_id: 2})
    return made


def test_a_snapshot_names_the_answers(graded: list[Round], collection: Any, lead: Any) -> None:
    frozen = snapshots.freeze(
        collection, name="faithful", rounds=[graded[1]], actor=lead, override_reason="A test of three pairs."
    )
    qrels = frozen.read_file("qrels.txt").decode()
    assert set(qrels.splitlines()) == {
        f"{one.query_id} 0 {one.doc_id} {grade}" for one, grade in ((DRY, 2), (WET, 0), (WASH, 2))
    }
    assert frozen.manifest["baseline"]["documents"]["judged"] == 3
    assert frozen.manifest["baseline"]["documents"]["count"] == 0
    (about,) = frozen.manifest["provenance"]["rounds"]
    assert about["pool"]["dimension"] == "correct"


def test_labels_of_two_dimensions_are_never_merged(
    graded: list[Round], make_round: Any, collection: Any, lead: Any, rater: Any
) -> None:
    ordinary = make_round(raters=[rater], grades=[(0, "No", ""), (1, "Some", ""), (2, "Yes", "")])
    for together in (graded[:2], [graded[0], ordinary]):
        with pytest.raises(NotValid) as refused:
            snapshots.freeze(collection, name="both", rounds=together, actor=lead)
        assert "rounds" in refused.value.fields


def test_gold_pairs_of_a_dimension_stay_in_it(
    graded: list[Round], make: Any, collection: Any, lead: Any, rater: Any, store_file: Any
) -> None:
    store_file("documents", '{"doc_id": "d1", "text": "A text."}\n', "documents.jsonl")
    (faithful, correct) = make([WASH], dimensions=["faithful", "correct"], name="Next", raters=[rater])
    known = {one.key for one in gold_pairs.known_elsewhere(correct, viewer=lead)}
    assert known == {("q1", DRY.doc_id), ("q1", WET.doc_id)}
    # The raters differ about one answer in the other dimension.
    assert {one.key for one in gold_pairs.known_elsewhere(faithful, viewer=lead)} == {("q1", DRY.doc_id)}
    document = gold_pairs.Known(Query.questions.get(query_id="q1"), Document.objects.get(doc_id="d1"), 1)
    with pytest.raises(NotValid):
        gold_pairs.add(correct, [document], use="hidden", actor=lead)
    added = gold_pairs.add(correct, gold_pairs.known_elsewhere(correct, viewer=lead), use="hidden", actor=lead)
    assert len(added) == 2


ROUNDS = "/api/v1/collections/shop/answer-rounds/"
BODY = {
    "name": "RAG",
    "answers": [
        {
            "query_id": "q1",
            "query": "Is the shell dry?",
            "text": "Yes, the shell is waterproof [1].",
            "evidence": [
                {"doc_id": "d1", "title": "Shell", "text": "<p>The shell is <b>waterproof</b>.</p><script>x</script>"}
            ],
            "reference": "Yes.",
        }
    ],
    "raters": ["rosa"],
    "ratings_per_pair": 1,
}


def test_a_program_makes_rounds_and_rates_answers(api_of: Any, lead: Any, rater: Any, collection: Any) -> None:
    api, mine = api_of(lead), api_of(rater, ("rate",))
    made = api.post(ROUNDS, BODY, format="json")
    assert made.status_code == 201, made.content
    body = made.json()
    assert [(one["kind"], one["dimension"], one["state"]) for one in body["rounds"]] == [
        ("answer", name, "draft") for name in DIMENSIONS
    ]
    ((query_id, doc_id),) = [(one["query_id"], one["doc_id"]) for one in body["answers"]]
    assert query_id == "q1"
    shown = {}
    for one in body["rounds"]:
        assert api.post(f"/api/v1/rounds/{one['id']}/open/").status_code == 200
        (pair,) = mine.post(f"/api/v1/rounds/{one['id']}/batch/").json()["pairs"]
        shown[one["dimension"]] = pair
        payload = {"client_id": str(uuid.uuid4()), "pair": pair["id"], "grade": 2}
        assert mine.post(f"/api/v1/rounds/{one['id']}/judgments/", payload, format="json").status_code == 201
    pair = shown["correct"]
    assert (pair["kind"], pair["document"]["id"], pair["reference"]) == ("answer", doc_id, "Yes.")
    assert pair["evidence"] == [
        {"id": "d1", "title": "Shell", "html": "<p>The shell is <b>waterproof</b>.</p>", "url": ""}
    ]
    # Faithful is what the evidence supports, whatever is right.
    assert [shown[name]["reference"] for name in DIMENSIONS] == ["", "Yes.", "Yes."]


@pytest.mark.parametrize(
    "change",
    [
        {"answers": []},
        {"answers": [{**BODY["answers"][0], "system": "a"}]},
        {"answers": [{**BODY["answers"][0], "text": " "}]},
        {"answers": "x"},
        {"dimensions": ["polite"]},
        {"guidelines": {"polite": "x"}},
        {"raters": ["nobody"]},
        {"scale": {"grades": [{"value": 1, "label": "one"}]}},
        {"gate_threshold": 7},
        {"system": "a"},
    ],
)
def test_a_body_that_makes_no_round(api_of: Any, lead: Any, collection: Any, change: dict[str, Any]) -> None:
    response = api_of(lead).post(ROUNDS, {**BODY, **change}, format="json")
    assert response.status_code == 400
    assert response.json()["error"]["fields"]
    assert not Round.objects.exists()
    assert not Document.answers.exists()


def test_a_batch_of_answers_asks_the_database_as_often_as_one_of_documents(
    make: Any, make_round: Any, rater: Any, api_of: Any, django_assert_max_num_queries: Any
) -> None:
    many = [replace(DRY, text=f"Answer {at}.") for at in range(10)]
    (answers,) = make(many, dimensions=["correct"])
    ordinary = make_round(queries=1, documents=10, raters=[rater])
    api = api_of(rater)
    counts = []
    api.get("/api/v1/collections/")  # the first use of a token is put on record
    for one in (ordinary, answers):
        with django_assert_max_num_queries(60) as captured:
            assert len(api.post(f"/api/v1/rounds/{one.uuid}/batch/?size=10").json()["pairs"]) == 10
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_the_station_shows_answer_and_evidence_and_hides_the_rest(make: Any, rater: Any, client_of: Any) -> None:
    faithful, correct, _ = make([replace(DRY, reference="A secret reference.")])
    browser = client_of(rater)
    page = browser.get(f"/rounds/{faithful.uuid}/rate/").content.decode()
    pair = faithful.pairs.get()
    assert f'href="#p-{pair.uuid}-1"' in page
    assert f'id="p-{pair.uuid}-1"' in page
    assert "Does the evidence support the answer?" in page
    assert "<mark>The shell is waterproof.</mark>" in page
    assert "A secret reference." not in page
    assert "A secret reference." in browser.get(f"/rounds/{correct.uuid}/rate/").content.decode()
    cards = browser.post(f"/rounds/{faithful.uuid}/rate/next/").json()["cards"]
    assert f'id="p-{pair.uuid}-1"' in cards[0]["document"]
    assert "A secret reference." not in str(cards)
    listed = browser.get(f"/rounds/{faithful.uuid}/rate/?mode=list").content.decode()
    assert f'id="p-{pair.uuid}-1"' in listed
    assert "A secret reference." not in listed
    # A plain form records the grade, without a script.
    form_data = {"pair": pair.uuid, "client_id": uuid.uuid4(), "grade": 2}
    assert browser.post(f"/rounds/{faithful.uuid}/rate/", form_data).status_code == 302
    assert submission.last_answer(faithful, rater).grade == 2


def test_pages_of_an_answer_round(
    graded: list[Round], lead: Any, rater: Any, client_of: Any, api_of: Any, store_file: Any
) -> None:
    store_file("runs", "q1 Q0 d1 1 2.0 bm25\n", "bm25.run")
    browser, faithful = client_of(lead), graded[0]
    assert "faithful" in browser.get("/c/shop/rounds/").content.decode()
    pair = faithful.pairs.get(document__doc_id=WET.doc_id)
    assert pair.spread == 2
    (listed,) = api_of(lead).get(f"/api/v1/rounds/{faithful.uuid}/conflicts/").json()["results"]
    # Runs rank documents: no run hangs on a grade of an answer.
    assert (listed["document"]["id"], listed["spread"], listed["effect"]) == (WET.doc_id, 2, None)
    page = browser.get(f"/rounds/{faithful.uuid}/conflicts/{pair.uuid}/").content.decode()
    assert f'id="p-{pair.uuid}-1"' in page
    assert browser.get(f"/rounds/{faithful.uuid}/conflicts/").status_code == 200
    assert browser.get(f"/rounds/{faithful.uuid}/progress/").status_code == 200
    assert browser.get(f"/rounds/{faithful.uuid}/agreement/").status_code == 200
    assert browser.get(f"/rounds/{faithful.uuid}/quality/").status_code == 200
    assert browser.get(f"/c/shop/documents/{pair.document.uuid}/").status_code == 200
    assert client_of(rater).get(f"/c/shop/documents/{pair.document.uuid}/").status_code == 403
    settle = {"grade": 0, "reason": "The evidence says nothing.", "cause": ""}
    assert browser.post(f"/rounds/{faithful.uuid}/conflicts/{pair.uuid}/", settle).status_code == 302
    frozen = snapshots.freeze(
        faithful.collection, name="f", rounds=[faithful], actor=lead, override_reason="A test of three pairs."
    )
    assert f"q1 0 {WET.doc_id} 0\n" in frozen.read_file("qrels.txt").decode()
    assert browser.get(f"/snapshots/{frozen.uuid}/").status_code == 200
    # Runs rank documents: they are not scored on grades of answers, and such labels do not become stale.
    assert list(faithful.collection.snapshots(manager="of_documents").all()) == []
    refused = api_of(lead).post(
        "/api/v1/collections/shop/scores/",
        {"snapshot": str(frozen.uuid), "runs": [str(frozen.collection.runs.get().uuid)]},
        format="json",
    )
    assert (refused.status_code, set(refused.json()["error"]["fields"])) == (400, {"snapshot"})
    for name in ("freshness/", "", "documents/", "snapshots/", "queries/", "scores/", "runs/"):
        assert browser.get(f"/c/shop/{name}").status_code == 200


@pytest.mark.parametrize("way", ["?mode=one", "?mode=list"])
def test_the_station_of_answers_names_no_document_and_no_query(
    make: Any, client_of: Any, rater: Any, rater2: Any, way: str
) -> None:
    (made,) = make(dimensions=["faithful"], ratings_per_pair=1)
    page = client_of(rater).get(reverse("rate", args=[made.uuid]) + way)
    assert page.context["reasons"][:2] == ("question unclear", "answer broken")
    shown = _words(page)
    assert {"answer", "question"} <= shown
    assert not shown & {"document", "documents", "query", "queries"}
    while batch := assignment.claim_batch(made, rater=rater, size=10):
        grade_together(made, rater, {pair.uuid: 2 for pair in batch})
    for one in (rater, rater2):
        assert not _words(client_of(one).get(reverse("rate", args=[made.uuid]))) & {"document", "documents", "query"}


def _words(page: Any) -> set[str]:
    """The words of the page that a person reads, with labels."""
    assert page.status_code == 200
    html = re.sub(r"<script.*?</script>|<head.*?</head>", " ", page.content.decode(), flags=re.DOTALL)
    labels = " ".join(re.findall(r'aria-label="([^"]*)"', html))
    return set(re.findall(r"[a-z]+", f"{strip_tags(html)} {labels}".lower()))


@pytest.mark.parametrize(
    ("kind", "row", "code"),
    [
        ("judgments", f"q2,{DRY.doc_id},r01,2,human", "E23"),
        ("judgments", f"q1,{DRY.doc_id},r01,101,human", "E23"),
        ("judgments", f"q9,{DRY.doc_id},r01,2,human", "E23"),
        ("judgments", "q2,d9,r01,2,human", "E17"),
        ("judgments", f"q1,{DRY.doc_id},r01,2,human", None),
        ("qrels", f"q2 0 {DRY.doc_id} 1", "E23"),
        ("qrels", f"q9 0 {DRY.doc_id} 1", "E23"),
        ("qrels", "q2 0 d9 1", "E17"),
        ("qrels", f"q1 0 {DRY.doc_id} 1", None),
    ],
)
def test_a_label_or_judgment_of_an_answer_needs_its_question(
    make: Any, collection: Any, lead: Any, kind: str, row: str, code: str | None
) -> None:
    make(dimensions=["correct"])
    pairs = Pair.objects.count()
    header = "query_id,doc_id,rater,grade,source\n" if kind == "judgments" else ""
    upload = ingestion.receive(
        collection, kind=kind, file=io.BytesIO(f"{header}{row}\n".encode()), filename="labels.csv", actor=lead
    )
    errors = [one["code"] for one in upload.report["problems"] if one["severity"] == "error"]
    assert errors == ([code] if code else [])
    if code:
        with pytest.raises(NotValid):
            ingestion.store(upload, actor=lead)
    else:
        ingestion.store(upload, actor=lead)
    assert Pair.objects.count() == pairs + (kind == "judgments" and code is None)
    assert ImportedLabel.objects.count() == (kind == "qrels" and code is None)
    # No row of the file makes a query or a document of its own.
    assert not collection.queries.exists()
    assert not collection.documents.exists()


def test_the_kind_of_a_pair_follows_its_round(make: Any, make_round: Any, rater: Any, api_of: Any) -> None:
    (answers,) = make(dimensions=["faithful"])
    ordinary = make_round(queries=1, documents=3, raters=[rater])
    kinds = {}
    for one in (answers, ordinary):
        body = api_of(rater).post(f"/api/v1/rounds/{one.uuid}/batch/?size=10").json()
        kinds[one] = [(pair["kind"], len(pair["evidence"])) for pair in body["pairs"]]
    assert sorted(kinds[answers]) == [("answer", 1), ("answer", 2), ("answer", 2)]
    assert kinds[ordinary] == [("document", 0)] * 3


def test_a_snapshot_of_answers_is_exported_and_verified(
    graded: list[Round], collection: Any, lead: Any, tmp_path: Path
) -> None:
    frozen = snapshots.freeze(
        collection, name="correct", rounds=[graded[1]], actor=lead, override_reason="A test of three pairs."
    )
    archive = tmp_path / "correct.zip"
    archive.write_bytes(snapshots.export(frozen, "bundle")[1])
    assert main(["verify", str(archive)]) == 0
    for name in snapshots.FILES:
        snapshots.export(frozen, name)
    with zipfile.ZipFile(archive) as bundle:
        ratings = bundle.read(next(one for one in bundle.namelist() if one.endswith("ratings.csv"))).decode()
        assert all(answer.doc_id in ratings for answer in (DRY, WET, WASH))
    again = snapshots.freeze(
        collection, name="again", rounds=[graded[1]], actor=lead, override_reason="A test of three pairs."
    )
    assert again.content_sha256 == frozen.content_sha256


def test_rounds_of_one_dimension_are_merged_by_rule(
    graded: list[Round], make: Any, collection: Any, lead: Any, rater: Any, rater2: Any
) -> None:
    (newer,) = make([WET, WASH], dimensions=["correct"], name="Next")
    for one in (rater, rater2):
        _grade(newer, one, {WET.doc_id: 1, WASH.doc_id: 2})
    frozen = snapshots.freeze(
        collection,
        name="both",
        rounds=[graded[1], newer],
        merge="newest",
        actor=lead,
        override_reason="A test of few pairs.",
    )
    assert set(frozen.read_file("qrels.txt").decode().splitlines()) == {
        f"{one.query_id} 0 {one.doc_id} {grade}" for one, grade in ((DRY, 2), (WET, 1), (WASH, 2))
    }
