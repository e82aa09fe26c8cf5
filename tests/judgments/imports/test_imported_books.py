"""Tests of Quepid books as imported rounds: by page, API and command."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command

from judgments.agreement import agreement_summary, conflicts
from judgments.imports import ingestion
from judgments.models import Document, Judgment, Query, Round
from judgments.snapshots import snapshots
from tests.assay.formats.quepid.test_book_json import book, judgment, large_book, pair

pytestmark = pytest.mark.django_db

ANN, BEN = "ann@shop.example", "ben@shop.example"
FIELDS = {"title": "Dome", "text": "For two people.", "price": 90}
BOOK = book(
    pair("tent", "d1", judgment(3.0, ANN), judgment(0.0, BEN, explanation="Too heavy."), information_need="shelter"),
    pair("tent", "d2", judgment(1.0, ANN), judgment(1.0, BEN), document_fields=FIELDS, information_need="shelter"),
    pair("rope", "d1", judgment(2.0, ANN), judgment(None, BEN, unrateable=True)),
    pair("rope", "d3"),
    scale_with_labels={"0": "Bad", "3": "Perfect"},
)


@pytest.fixture
def imported(collection: Any, lead: Any) -> Any:
    def store(content: bytes = BOOK, **options: Any) -> Round:
        upload = ingestion.receive(
            collection, kind="judgments", file=io.BytesIO(content), filename="book.json", actor=lead
        )
        return Round.objects.get(uuid=ingestion.store(upload, actor=lead, options=options)["id"])

    return store


def test_a_book_becomes_queries_documents_and_a_closed_round(imported: Any) -> None:
    round_ = imported()
    assert (round_.name, round_.state) == ("Shop", Round.State.CLOSED)
    assert [(one.value, one.label) for one in round_.scale.grades.order_by("value")] == [
        (0, "Bad"),
        (1, "1"),
        (2, "2"),
        (3, "Perfect"),
    ]
    assert Query.objects.get(text="tent").narrative == "shelter"
    dome = Document.objects.get(doc_id="d2")
    assert (dome.title, dome.text, dome.fields, dome.stub) == ("Dome", "For two people.", {"price": 90}, False)
    assert (round_.pairs.count(), round_.pairs_made) == (4, 4)
    answers = Judgment.objects.filter(pair__round=round_)
    assert sorted((one.state, one.grade, one.note) for one in answers) == [
        ("graded", 0, "Too heavy."),
        ("graded", 1, ""),
        ("graded", 1, ""),
        ("graded", 2, ""),
        ("graded", 3, ""),
        ("unrateable", None, ""),
    ]
    assert {one.pseudonym for one in round_.raters.all()} == {"r01", "r02"}
    assert not any("shop.example" in str(vars(one.user)) for one in round_.raters.select_related("user"))


def test_agreement_conflicts_and_a_snapshot_follow(imported: Any, collection: Any, lead: Any) -> None:
    round_ = imported()
    assert agreement_summary.agreement(round_)["raters"] == 2
    assert conflicts.count_open(round_, viewer=None).number == 1
    frozen = snapshots.freeze(collection, name="one", rounds=[round_], actor=lead, override_reason="A test.")
    lines = snapshots.export(frozen, "trec-qrels")[1].decode().splitlines()
    assert {tuple(line.split()[2:]) for line in lines} >= {("d2", "1")}


def test_a_large_book_keeps_its_counts(imported: Any) -> None:
    round_ = imported(large_book())
    answers = Judgment.objects.filter(pair__round=round_)
    assert round_.pairs.count() == 2_420
    assert (answers.filter(state="graded").count(), answers.filter(state="unrateable").count()) == (1_942, 22)
    assert round_.raters.count() == 3


def test_queries_of_the_collection_keep_their_ids_and_needs(imported: Any, collection: Any) -> None:
    Query.objects.create(collection=collection, query_id="q001", text="rope")
    Query.objects.create(collection=collection, query_id="a", text="tent", narrative="ours")
    round_ = imported()
    assert {one.query.query_id for one in round_.pairs.all()} == {"q001", "a"}
    assert Query.objects.get(query_id="a").narrative == "ours"


def test_documents_of_the_collection_keep_their_content(collection: Any, lead: Any) -> None:
    Document.objects.create(collection=collection, doc_id="d2", title="Ours", content_sha256="0" * 64)
    upload = ingestion.receive(collection, kind="judgments", file=io.BytesIO(BOOK), filename="book.json", actor=lead)
    assert upload.report["codes"]["W64"] == 1
    ingestion.store(upload, actor=lead)
    assert Document.objects.get(doc_id="d2").title == "Ours"


def test_by_page(client_of: Any, collection: Any, lead: Any) -> None:
    client = client_of(lead)
    page = client.post("/c/shop/judgments/new/", {"file": ContentFile(BOOK, name="book.json")}).url
    shown = client.get(page).content.decode()
    assert "shop.example" not in shown
    answer = client.post(page, {"name": "Shop"})
    assert answer.url == f"/rounds/{Round.objects.get(name='Shop').uuid}/agreement/"


def test_by_api(client_of: Any, collection: Any, lead: Any, rater: Any) -> None:
    path, sent = "/api/v1/collections/shop/judgments/", {"file": ContentFile(BOOK, name="book.json")}
    assert client_of(rater).post(path, sent).status_code == 403
    posted = client_of(lead).post(path, {"file": ContentFile(BOOK, name="book.json")})
    assert posted.status_code == 201, posted.json()
    assert Round.objects.get().pairs.count() == 4
    again = client_of(lead).post(path, {"file": ContentFile(BOOK, name="book.json")})
    assert again.status_code == 409


def test_by_command(collection: Any, lead: Any, rater: Any, tmp_path: Path) -> None:
    path, out = tmp_path / "book.json", io.StringIO()
    path.write_bytes(BOOK)
    call_command("import_file", "shop", "judgments", path, "--as", lead.username, "--dry-run", stdout=out)
    assert not Round.objects.exists()
    call_command("import_file", "shop", "judgments", path, "--as", lead.username, "--name", "Old book", stdout=out)
    assert Round.objects.get().name == "Old book"
    assert "unrateable: 1" in out.getvalue()
    for changes in (
        ["shop", "judgments", path, "--as", lead.username],
        ["shop", "judgments", path, "--as", rater.username],
        ["none", "judgments", path, "--as", lead.username],
        ["shop", "judgments", tmp_path / "none", "--as", lead.username],
    ):
        with pytest.raises(CommandError):
            call_command("import_file", *changes, stdout=out)


def test_a_command_stores_nothing_if_a_row_has_an_error(collection: Any, lead: Any, tmp_path: Path) -> None:
    path, out = tmp_path / "book.json", io.StringIO()
    path.write_bytes(json.dumps(json.loads(BOOK) | {"scale": [0, 1, 2]}).encode())
    words = ["import_file", "shop", "judgments", path, "--as", lead.username]
    with pytest.raises(CommandError):
        call_command(*words, stdout=out)
    assert "E14" in out.getvalue()
    assert not Round.objects.exists()
    call_command(*words, "--accept-errors", stdout=out)
    assert Judgment.objects.count() == 5
