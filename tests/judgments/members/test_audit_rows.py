"""Tests of audit rows: paid tryouts, downloads, discarded files, changes with the previous value."""

from __future__ import annotations

from typing import Any

import pytest

from judgments.imports import ingestion
from judgments.machines.providers import accounts
from judgments.members import collections
from judgments.models import AuditRow
from pooling.connectors import connections
from pooling.runs import runs
from tests.world import World

pytestmark = pytest.mark.django_db


def rows_on_record(verb: str) -> list[tuple[str, dict[str, Any]]]:
    return [(str(row.actor), row.detail) for row in AuditRow.objects.filter(verb=verb).order_by("pk")]


def test_downloads_of_labels(world: World, lead: Any, client_of: Any, api_of: Any) -> None:
    page, api = f"/snapshots/{world.snapshot.uuid}", f"/api/v1/snapshots/{world.snapshot.uuid}"
    browser = client_of(lead)
    for path in ("export/trec-qrels/", "export/manifest/", "export/bundle/"):
        assert browser.get(f"{page}/{path}").status_code == 200
    for path in ("export/ratings-csv/", "manifest/"):
        assert api_of(lead).get(f"{api}/{path}").status_code == 200
    assert [detail["format"] for _, detail in rows_on_record("snapshots.download")] == [
        "trec-qrels",
        "manifest",
        "bundle",
        "ratings-csv",
        "manifest",
    ]
    before = len(rows_on_record("lists.download"))
    browser.get("/c/shop/documents/?format=csv")
    browser.get("/c/shop/documents/")
    assert len(rows_on_record("lists.download")) == before + 1


def test_downloads_of_machine_answers(world: World, lead: Any, rater: Any, client_of: Any, api_of: Any) -> None:
    round_ = world.closed.uuid if world.judge.judgments.filter(pair__round=world.closed).exists() else world.round.uuid
    labels = f"rounds/{round_}/judges/{world.judge.uuid}/labels/"
    battles = f"rounds/{world.battles.round.uuid}/battles/{world.battles.uuid}/export/"
    for browser, path in ((client_of(lead), f"/{labels}"), (api_of(lead), f"/api/v1/{labels}")):
        assert browser.get(path).status_code == 200
        assert browser.head(path).status_code in (200, 405)
    assert client_of(lead).get(f"/{battles}").status_code == 200
    assert client_of(rater).get(f"/{battles}").status_code == 403
    addresses = [detail["address"] for _, detail in rows_on_record("lists.download")]
    assert addresses == [f"/{labels}", f"/api/v1/{labels}", f"/{battles}"]


def test_a_form_that_comes_back_as_a_file(world: World, lead: Any, client_of: Any) -> None:
    page = "/c/shop/members/?format=csv"
    response = client_of(lead).post(page, {"username": "", "role": "rater"})
    assert ("attachment" in response.headers.get("Content-Disposition", "")) == bool(rows_on_record("lists.download"))


def test_a_download_that_is_refused_is_none(world: World, rater: Any, lead: Any, client_of: Any) -> None:
    client_of(rater).get(f"/snapshots/{world.snapshot.uuid}/export/trec-qrels/")
    client_of(lead).get(f"/snapshots/{world.snapshot.uuid}/export/none/")
    assert rows_on_record("snapshots.download") == []


def test_discarded_files(world: World, lead: Any, client_of: Any, settings: Any) -> None:
    client_of(lead).post(f"/uploads/{world.upload.uuid}/throw-away/")
    ((actor, detail),) = rows_on_record("ingestion.throw_away")
    assert (actor, detail["kind"], detail["sha256"]) == ("lena", "documents", world.upload.sha256)
    ingestion.throw_away(world.upload, actor=lead)
    assert len(rows_on_record("ingestion.throw_away")) == 1


def test_changes_hold_before_and_after(world: World, collection: Any, lead: Any, settings: Any) -> None:
    settings.CONNECTOR_HOSTS, settings.PROVIDER_HOSTS = ["*"], ["*"]
    collections.update_collection(collection, actor=lead, name="Other")
    assert rows_on_record("collections.update_collection")[-1][1] == {
        "before": {"name": "Shop search"},
        "after": {"name": "Other"},
    }
    runs.rename(world.runs[0], name="renamed", actor=lead)
    assert rows_on_record("runs.rename")[-1][1] == {"before": "bm25", "after": "renamed"}
    settings_now = {**world.connector.settings, "address": "https://8.8.8.8/find", "secret": "new-word"}
    how = {"name": "live", "given": settings_now, "timeout": 5.0, "concurrency": 2}
    connections.change(world.connector, actor=lead, **how)
    detail = rows_on_record("connected.change")[-1][1]
    assert detail["secret_given"]
    assert detail["before"]["address"] == "https://search.example.com/find"
    assert detail["after"] == {"address": "https://8.8.8.8/find", "timeout": 5.0, "concurrency": 2}
    given = {"base_url": "https://8.8.8.8", "concurrency": 3}
    accounts.change(world.provider, actor=lead, given=given, key="new-word")
    detail = rows_on_record("providers_kept.change")[-1][1]
    assert detail["after"] == {"base_url": "https://8.8.8.8", "concurrency": 3}
    assert detail["before"]["base_url"] == "https://models.example.com"
    assert not any("new-word" in str(row.detail) or "new-word" in row.sentence for row in AuditRow.objects.all())
