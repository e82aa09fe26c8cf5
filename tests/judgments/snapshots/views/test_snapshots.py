"""Tests of the snapshot pages: preview, freezing, errors, downloads."""

from __future__ import annotations

import io
import json
import sys
import zipfile

import openpyxl
import pytest
from django.urls import reverse

from assay.formats import FORMATS
from judgments.agreement import resolutions
from judgments.models import Snapshot
from judgments.snapshots import snapshots
from tests.cached_rows import cached_fixture

pytestmark = pytest.mark.django_db
NEW = "/c/shop/snapshots/new/"


@pytest.fixture
@cached_fixture
def rated(make_round, rater, rater2, rate_all):
    """Six pairs with two grades each, one conflict among them."""
    round_ = make_round(raters=[rater, rater2])
    rate_all(round_, rater, grade=lambda pair: pair.position % 4)
    rate_all(round_, rater2, grade=lambda pair: 1 if pair.position == 0 else pair.position % 4)
    return round_


def choice(round_, **more):
    return {"rounds": [str(round_.uuid)], "rule": "median", "sources": ["human"], "merge": "newest", **more}


@pytest.fixture
def frozen(client_of, rated, lead):
    client_of(lead).post(NEW, choice(rated, name="first"))
    return Snapshot.objects.get()


def test_list_teaches_and_then_lists(client_of, rated, lead):
    client = client_of(lead)
    assert "No snapshots yet" in client.get("/c/shop/snapshots/").content.decode()
    client.post(NEW, choice(rated, name="first"))
    assert client.get("/c/shop/snapshots/").context["listing"].count == 1


def test_preview_says_what_would_be_frozen(client_of, rated, lead):
    response = client_of(lead).get(NEW, choice(rated))
    settled = response.context["settled"]
    assert (len(settled.labels), settled.conflicts, settled.unresolved) == (6, 1, 1)
    html = response.content.decode()
    assert "Freeze 6 labels" in html
    assert "1 conflict unresolved and labeled by the label rule" in html


def test_preview_begins_with_the_newest_round(client_of, rated, lead):
    assert "Freeze 6 labels" in client_of(lead).get(NEW).content.decode()


def test_rule_changes_the_preview(client_of, rated, lead):
    client = client_of(lead)
    results = [client.get(NEW, choice(rated, rule=rule)).context["settled"].by_grade.get(0) for rule in ("min", "max")]
    assert results == [2, 1]


def test_preview_freezes_nothing(client_of, rated, lead):
    client_of(lead).get(NEW, choice(rated))
    assert not Snapshot.objects.exists()


def test_freezing_leads_to_the_snapshot(client_of, rated, lead):
    response = client_of(lead).post(NEW, choice(rated, name="first", override_reason="Needed today."))
    snapshot = Snapshot.objects.get()
    assert response.url == reverse("snapshot", args=[snapshot.uuid])
    assert (snapshot.name, snapshot.override_reason) == ("first", "Needed today.")


def test_a_duplicate_name_is_reported_at_the_field(client_of, frozen, rated, lead):
    response = client_of(lead).post(NEW, choice(rated, name="first"))
    assert response.status_code == 409
    assert "name" in response.context["form"].errors
    assert "first" in response.content.decode()


def test_name_is_needed(client_of, rated, lead):
    assert client_of(lead).post(NEW, choice(rated, name="")).status_code == 422


def test_round_without_grades_has_nothing_to_freeze(client_of, make_round, lead, rater):
    round_ = make_round(raters=[rater])
    client = client_of(lead)
    assert "no pair has a grade yet" in client.get(NEW, choice(round_)).content.decode()
    assert client.post(NEW, choice(round_, name="x")).status_code == 422


def test_invalid_address_parameters_are_reported(client_of, rated, lead):
    response = client_of(lead).get(NEW, {"rounds": "x", "rule": "dice", "sources": "stars", "merge": ""})
    assert set(response.context["choice"].errors) == {"rounds", "rule", "sources", "merge"}


def test_round_of_another_collection_cannot_be_chosen(client_of, rated, lead, elsewhere):
    response = client_of(lead).get("/c/elsewhere/snapshots/new/", choice(rated))
    assert "rounds" in response.context["choice"].errors


def test_page_shows_hash_counts_and_files(client_of, frozen, engineer):
    html = client_of(engineer).get(reverse("snapshot", args=[frozen.uuid])).content.decode()
    assert frozen.content_sha256 in html
    assert "qrels.txt" in html
    assert "unresolved and labeled by the label rule" in html


def test_qrels_leave_the_house_as_they_were_frozen(client_of, frozen, engineer):
    response = client_of(engineer).get(reverse("snapshot_export", args=[frozen.uuid, "trec-qrels"]))
    assert response.headers["Content-Disposition"] == 'attachment; filename="shop-first-qrels.txt"'
    lines = response.content.decode().splitlines()
    assert lines[:2] == ["q1 0 d1-1 0", "q1 0 d1-2 1"]
    assert len(lines) == 6


def test_manifest_and_bundle(client_of, frozen, engineer):
    client = client_of(engineer)
    manifest = client.get(reverse("snapshot_export", args=[frozen.uuid, "manifest"]))
    assert json.loads(manifest.content)["content_sha256"] == frozen.content_sha256
    bundle = client.get(reverse("snapshot_export", args=[frozen.uuid, "bundle"]))
    assert "qrels.txt" in zipfile.ZipFile(io.BytesIO(bundle.content)).namelist()


def test_every_file_of_the_page_can_be_taken(client_of, frozen, engineer):
    client = client_of(engineer)
    files = client.get(reverse("snapshot", args=[frozen.uuid])).context["files"]
    statuses = [client.get(reverse("snapshot_export", args=[frozen.uuid, file["path"]])).status_code for file in files]
    assert statuses == [200] * 9


def test_ratings_can_be_taken_in_each_format_of_ratings(client_of, frozen, engineer):
    written = {name for name, member in FORMATS.items() if member.kind == "ratings" and member.write is not None}
    assert written == {"ratings-csv", *snapshots.CONVERTED}
    client = client_of(engineer)
    html = client.get(reverse("snapshot", args=[frozen.uuid])).content.decode()
    for name, path in snapshots.CONVERTED.items():
        address = reverse("snapshot_export", args=[frozen.uuid, name])
        assert f'href="{address}"' in html
        response = client.get(address)
        assert response.headers["Content-Disposition"] == f'attachment; filename="shop-first-{path}"'
        assert len(FORMATS[name].read(response.content, path=path).rows) == 12


@pytest.fixture
@cached_fixture
def noted(make_round, rater, rate_all, lead):
    """A snapshot with notes that a spreadsheet would run."""
    round_ = make_round(raters=[rater])
    rate_all(round_, rater, note="=HYPERLINK(1)")
    return snapshots.freeze(round_.collection, name="noted", rounds=[round_], actor=lead)


def test_ratings_are_downloaded_as_a_workbook_without_formulas(client_of, api_of, noted, engineer):
    address = reverse("snapshot_export", args=[noted.uuid, "ratings-xlsx"])
    assert f'href="{address}"' in client_of(engineer).get(reverse("snapshot", args=[noted.uuid])).content.decode()
    response = client_of(engineer).get(address)
    assert response.headers["Content-Disposition"] == 'attachment; filename="shop-noted-ratings.xlsx"'
    sheet = openpyxl.load_workbook(io.BytesIO(response.content))["Ratings"]
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} <= {"s", "n"}
    assert {row[5].value for row in sheet.iter_rows(min_row=2)} == {"'=HYPERLINK(1)"}
    # The workbook has the ratings of the frozen file.
    kept = FORMATS["ratings-csv"].read(snapshots.export(noted, "ratings-csv")[1], path="a").rows
    assert FORMATS["ratings-xlsx"].read(response.content, path="a").rows == kept
    path = f"/api/v1/snapshots/{noted.uuid}/"
    assert "ratings-xlsx" in api_of(engineer).get(path).json()["formats"]
    assert b"".join(api_of(engineer).get(f"{path}export/ratings-xlsx/")) == response.content


def test_a_server_without_the_extra_explains_it(client_of, api_of, frozen, engineer, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    address = reverse("snapshot_export", args=[frozen.uuid, "ratings-xlsx"])
    html = client_of(engineer).get(reverse("snapshot", args=[frozen.uuid])).content.decode()
    assert f'href="{address}"' not in html
    assert "XLSX needs the extra xlsx" in html
    refused = client_of(engineer).get(address)
    assert (refused.status_code, b"XLSX needs the extra xlsx" in refused.content) == (409, True)
    path = f"/api/v1/snapshots/{frozen.uuid}/"
    assert "ratings-xlsx" not in api_of(engineer).get(path).json()["formats"]
    error = api_of(engineer).get(f"{path}export/ratings-xlsx/").json()["error"]
    assert error["message"].endswith("pip install 'assay[xlsx]'.")


def test_ratings_that_do_not_fit_into_a_workbook_are_refused(client_of, frozen, engineer, monkeypatch):
    address = reverse("snapshot_export", args=[frozen.uuid, "ratings-xlsx"])
    monkeypatch.setattr("assay.formats.ratings_xlsx.LONGEST_TEXT", 2)
    assert "cannot be written as" in client_of(engineer).get(address).content.decode()
    monkeypatch.setattr(snapshots, "MOST_CONVERTED", 3)
    refused = client_of(engineer).get(address)
    assert (refused.status_code, "assay convert ratings.csv" in refused.content.decode()) == (409, True)


def test_unknown_format_gives_404(client_of, frozen, engineer):
    assert client_of(engineer).get(reverse("snapshot_export", args=[frozen.uuid, "pdf"])).status_code == 404


def test_files_contain_no_user_names(client_of, frozen, engineer, rater, rater2):
    bundle = client_of(engineer).get(reverse("snapshot_export", args=[frozen.uuid, "bundle"]))
    archive = zipfile.ZipFile(io.BytesIO(bundle.content))
    everything = b"".join(archive.read(name) for name in archive.namelist())
    assert rater.username.encode() not in everything
    assert rater2.username.encode() not in everything


def test_preview_links_to_the_unresolved_conflicts_of_each_round(
    client_of, rated, make_round, lead, rater, rater2, rate_all
):
    second = make_round(queries=1, documents=2, raters=[rater, rater2], name="Second")
    rate_all(second, rater, grade=0)
    rate_all(second, rater2, grade=3)
    client = client_of(lead)
    lists = {round_: reverse("conflicts", args=[round_.uuid]) + "?settled=open" for round_ in (rated, second)}
    shown = client.get(NEW, {**choice(rated), "rounds": [str(rated.uuid), str(second.uuid)]}).content.decode()
    for round_, many in ((rated, 1), (second, 2)):
        assert f'<a href="{lists[round_]}">{many} in {round_}</a>' in shown
        assert client.get(lists[round_]).context["listing"].count == many
    # What is settled is no longer asked for.
    resolutions.resolve(rated.pairs.get(spread__gt=0), grade=1, reason="It is a part.", actor=lead)
    shown = client.get(NEW, choice(rated)).content.decode()
    assert "1 resolved, 0 labeled by the rule" in shown
    assert lists[rated] not in shown
