"""Tests of imported rounds: raters are kept as pseudonyms, and no account gets their judgments."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth import authenticate

from assay.core.errors import Conflict
from judgments.agreement import agreement_summary, conflicts
from judgments.imports import ingestion
from judgments.models import Adjudication, Judgment, Membership, Pair, Query, Round, Tally, User
from judgments.rating import pair_state
from judgments.snapshots import snapshots

pytestmark = pytest.mark.django_db

# The worked example: kappa 0.7368, quadratic 0.9180, ordinal alpha 0.8955.
GRADES = {"r01": [3, 1, 0, 2, 0], "r02": [3, 1, 1, 2, 0]}
CSV = "query_id,query,doc_id,rater,grade\n" + "".join(
    f"q1,rain jacket,d{place},{rater},{grade}\n"
    for rater, grades in GRADES.items()
    for place, grade in enumerate(grades, 1)
)


@pytest.fixture
def imported(collection, lead):
    def store(content: str = CSV, name: str = "old.csv", **options):
        upload = ingestion.receive(
            collection, kind="judgments", file=io.BytesIO(content.encode()), filename=name, actor=lead
        )
        return Round.objects.get(uuid=ingestion.store(upload, actor=lead, options=options)["id"])

    return store


def test_agreement_is_computed_from_them(imported):
    round_ = imported()
    agreement = agreement_summary.agreement(round_)
    assert (round_.state, agreement["raters"], agreement["pairs"]) == ("closed", 2, 5)
    (pair,) = agreement["cohen"]
    assert pair["unweighted"] == pytest.approx(0.7368, abs=5e-5)
    assert agreement["alpha"]["ordinal"]["value"] == pytest.approx(0.8955, abs=5e-5)
    assert {one.pseudonym for one in round_.raters.all()} == {"r01", "r02"}
    assert conflicts.count_open(round_, viewer=None).number == 1


def test_imported_raters_cannot_log_in_and_share_no_account(imported, collection, make_user):
    """A file that names a rater as an account of this server is called."""
    there = make_user("r01")
    round_ = imported()
    assert not Judgment.objects.filter(rater=there).exists()
    people = [one.user for one in round_.raters.select_related("user")]
    assert there not in people
    for one in people:
        assert (one.is_active, one.has_usable_password()) == (False, False)
        assert authenticate(username=one.username, password="") is None
    assert not Membership.objects.filter(collection=collection, user__in=people).exists()


def test_the_books_of_an_imported_round_balance(imported):
    round_ = imported()
    stored = {one.rater_id: (one.graded, one.filled) for one in Tally.objects.filter(round=round_)}
    counted = {rater: (one.graded, one.filled) for rater, one in pair_state.recount(round_).items()}
    assert stored == counted
    assert (round_.pairs_made, round_.slots_made) == (5, 10)


def test_exports_of_assay_import_unchanged(imported, collection, lead):
    """The ratings of a snapshot, with a settlement, imported into another collection give the same qrels."""
    from judgments.agreement import resolutions
    from judgments.models import Collection

    first = imported()
    resolutions.resolve(first.pairs.get(spread=1), grade=1, reason="Half of it.", actor=lead)
    frozen = snapshots.freeze(collection, name="one", rounds=[first], actor=lead)
    content = snapshots.export(frozen, "ratings-csv")[1]
    other = Collection.objects.create(slug="other", name="Other")
    Membership.objects.create(collection=other, user=lead, role="lead")
    upload = ingestion.receive(other, kind="judgments", file=io.BytesIO(content), filename="ratings.csv", actor=lead)
    again = Round.objects.get(uuid=ingestion.store(upload, actor=lead, options={})["id"])
    assert Adjudication.objects.get(pair__round=again).reason == "Half of it."
    copy = snapshots.freeze(other, name="one", rounds=[again], actor=lead)
    assert snapshots.export(copy, "trec-qrels")[1] == snapshots.export(frozen, "trec-qrels")[1]


def test_the_same_file_twice_is_a_conflict(imported):
    imported()
    with pytest.raises(Conflict, match="as the round old"):
        imported(name="again.csv")
    assert User.objects.filter(username__startswith="imported-").count() == 2


def test_rejected_rows_are_reported_and_nothing_is_stored(imported, collection, lead):
    content = "query_id,doc_id,rater,grade,source\nq9,d1,r01,3,human\nq9,d2,bot,3,machine\n"
    upload = ingestion.receive(
        collection, kind="judgments", file=io.BytesIO(content.encode()), filename="odd.csv", actor=lead
    )
    errors = [(one["line"], one["code"]) for one in upload.report["problems"] if one["severity"] == "error"]
    assert errors == [(2, "E17"), (3, "E23")]
    assert not Pair.objects.exists()


def test_a_name_that_is_no_pseudonym_becomes_one(imported):
    round_ = imported("query_id,query,doc_id,rater,grade\nq1,tent,d1,someone@example.com,2\nq1,tent,d1,other,7\n")
    assert {one.pseudonym for one in round_.raters.all()} == {"r01", "r02"}
    assert round_.scale.values()[-1] == 7


def test_by_page_and_by_api(client_of, collection, lead, engineer):
    from django.core.files.base import ContentFile

    client = client_of(lead)
    page = client.post("/c/shop/judgments/new/", {"file": ContentFile(CSV.encode(), name="old.csv")}).url
    answer = client.post(page, {"name": "Old"})
    round_ = Round.objects.get(name="Old")
    assert answer.url == f"/rounds/{round_.uuid}/agreement/"
    assert client.get(answer.url).status_code == 200
    rows = [{"query_id": "q2", "query": "tent", "doc_id": "d1", "rater": "r01", "grade": 3}]
    posted = client.post("/api/v1/collections/shop/judgments/", rows, content_type="application/json")
    assert posted.status_code == 201, posted.json()
    listed = client.get("/api/v1/collections/shop/judgments/").json()["results"]
    assert [one["judgments"] for one in listed] == [1, 10]
    refused = client_of(engineer).post("/api/v1/collections/shop/judgments/", rows, content_type="application/json")
    assert refused.status_code == 403


def test_queries_without_ids_are_matched_by_their_text(imported, collection):
    Query.objects.create(collection=collection, query_id="q001", text="rope")
    Query.objects.create(collection=collection, query_id="q7", text="tent")
    round_ = imported("query,doc_id,rater,grade\ntent,d1,r01,3\ncamp stove,d1,r01,2\n")
    assert {pair.query.text: pair.query.query_id for pair in round_.pairs.all()} == {"tent": "q7", "camp stove": "q002"}


def test_a_text_of_two_queries_is_not_matched(collection, lead):
    for query_id in ("q1", "q2"):
        Query.objects.create(collection=collection, query_id=query_id, text="tent")
    content = b"query,doc_id,rater,grade\ntent,d1,r01,3\nrope,d1,r01,2\n"
    upload = ingestion.receive(collection, kind="judgments", file=io.BytesIO(content), filename="old.csv", actor=lead)
    assert [(one["line"], one["code"]) for one in upload.report["problems"] if one["severity"] == "error"] == [
        (2, "E17")
    ]
