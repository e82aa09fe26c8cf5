"""Tests of grants: a collection reaches only engines and files that the operator granted."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from assay.core.errors import AssayError, NotValid
from assay.network.allowed_addresses import Allowed
from assay.network.faults import EngineFault
from judgments.machines.providers import accounts
from judgments.members import grants
from judgments.members.collections import create_collection
from judgments.models import AuditRow, Collection, Grant
from pooling.connectors import connections

pytestmark = pytest.mark.django_db
HTTP = {"address": "https://127.0.0.1:9200/find", "doc_id": "id"}
MODELS = {
    "name": "m",
    "protocol": "openai",
    "base_url": "https://models.example.com",
    "models_offered": [{"name": "judge-1", "price_in": None, "price_out": None}],
}


@pytest.fixture
def other(lead: Any) -> Collection:
    """A collection to which nothing is granted."""
    return create_collection(actor=lead, slug="other", name="Other")


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """An allowed folder with the files of two teams."""
    settings.CONNECTOR_FOLDERS = [str(tmp_path)]
    for team in ("one", "two"):
        (tmp_path / team).mkdir()
        (tmp_path / team / "answers.csv").write_text(f"query,doc_id\ntent,secret-of-{team}\n")
    return tmp_path


def granted(collection: Collection, kind: str, value: str) -> None:
    grants.grant(collection, kind=kind, value=value)


def reads(collection: Collection, path: Path, lead: Any) -> str:
    made = connections.add(
        collection,
        actor=lead,
        name=f"{path.parent.name} {path.name}",
        kind="static-file",
        given={"path": str(path), "query": "query"},
    )
    return connections.attempt(made, "tent")[0].doc_id


def test_a_file_of_another_team_is_not_read(other: Collection, folder: Path, lead: Any) -> None:
    one, two = folder / "one" / "answers.csv", folder / "two" / "answers.csv"
    with pytest.raises(EngineFault, match="CONNECTOR_FOLDERS"):
        reads(other, one, lead)
    granted(other, "connector-folder", str(folder / "one"))
    assert reads(other, one, lead) == "secret-of-one"
    (folder / "one" / "link.csv").symlink_to(two)
    for path in (two, folder / "one" / ".." / "two" / "answers.csv", folder / "one" / "link.csv"):
        with pytest.raises(EngineFault, match="CONNECTOR_FOLDERS"):
            reads(other, path, lead)


def test_a_grant_of_one_file_is_not_its_folder(other: Collection, folder: Path, lead: Any) -> None:
    granted(other, "connector-folder", str(folder / "one" / "answers.csv"))
    (folder / "one" / "more.csv").write_text("query,doc_id\ntent,d1\n")
    assert reads(other, folder / "one" / "answers.csv", lead) == "secret-of-one"
    with pytest.raises(EngineFault):
        reads(other, folder / "one" / "more.csv", lead)


def test_a_grant_never_reaches_further_than_the_settings(other: Collection, folder: Path, lead: Any) -> None:
    outside = folder.parent / "outside.csv"
    outside.write_text("query,doc_id\ntent,d1\n")
    for value in ("/", "*", str(folder.parent)):
        granted(other, "connector-folder", value)
    assert reads(other, folder / "two" / "answers.csv", lead) == "secret-of-two"
    with pytest.raises(EngineFault):
        reads(other, outside, lead)


def test_a_host_is_requested_the_collections_that_it_is_granted_to(
    other: Collection, collection: Collection, settings: Any, lead: Any
) -> None:
    settings.CONNECTOR_HOSTS, settings.PROVIDER_HOSTS = ["127.0.0.1:9200"], ["models.example.com"]
    settings.CONNECTOR_NETWORKS = ["127.0.0.0/8"]

    def connect(where: Collection) -> None:
        connections.add(where, actor=lead, name="live", kind="json-http", given=HTTP)
        accounts.add(where, actor=lead, given=MODELS)

    connect(collection)  # the operator granted it everything
    with pytest.raises(EngineFault, match="CONNECTOR_HOSTS"):
        connections.add(other, actor=lead, name="live", kind="json-http", given=HTTP)
    with pytest.raises(NotValid, match="PROVIDER_HOSTS"):
        accounts.add(other, actor=lead, given=MODELS)
    granted(other, "connector-host", "127.0.0.1")
    granted(other, "provider-host", "models.example.com:443")
    connect(other)


def test_revoked_engines_are_not_queried(other: Collection, folder: Path, lead: Any) -> None:
    granted(other, "connector-folder", str(folder))
    reads(other, folder / "one" / "answers.csv", lead)
    grants.revoke(other.grants.get())
    with pytest.raises(EngineFault):
        connections.attempt(other.connectors.get(), "tent")
    assert list(AuditRow.objects.filter(collection=other, verb__startswith="grants").values_list("verb", flat=True))


def test_a_model_of_this_server_is_granted_too(other: Collection, collection: Collection, settings: Any) -> None:
    settings.LOCAL_MODELS = ["/models/team", settings.DEFAULT_LOCAL_MODEL]
    assert grants.local_models(other) == [settings.DEFAULT_LOCAL_MODEL]
    assert grants.local_models(collection) == settings.LOCAL_MODELS
    granted(other, "local-model", "/models/team")
    assert grants.local_models(other) == settings.LOCAL_MODELS


@pytest.mark.parametrize(
    ("allowed", "grant", "left"),
    [
        ("*", "a.example.com", ("a.example.com",)),
        ("*.example.com", "*", ("*.example.com",)),
        ("*.example.com", "*.b.example.com:9200", ("*.b.example.com:9200",)),
        ("*.b.example.com", "*.example.com", ("*.b.example.com",)),
        ("a.example.com:9200", "A.example.com", ("a.example.com:9200",)),
        ("a.example.com:9200", "a.example.com:9201", ()),
        ("a.example.com", "b.example.com", ()),
        ("*.example.com", "example.com", ()),
        ("*.example.com", "badexample.com", ()),
        ("[::1]:9200", "::1", ("[::1]:9200",)),
    ],
)
def test_grants_are_the_intersection_of_both_lists(allowed: str, grant: str, left: tuple[str, ...]) -> None:
    assert Allowed.of([allowed]).granted([grant]).hosts == left


def test_the_command_grants_lists_and_revokes(other: Collection, settings: Any) -> None:
    settings.CONNECTOR_HOSTS = ["search.example.com"]

    def run(*arguments: str) -> list[str]:
        out = io.StringIO()
        call_command("grant", *arguments, stdout=out)
        return out.getvalue().splitlines()

    summary = run("other", "--connector-host", "search.example.com", "--provider-host", "models.example.com")
    assert [line.split()[:3] for line in summary] == [
        ["other", "connector-host", "search.example.com"],
        ["other", "provider-host", "models.example.com"],
    ]
    assert ["no effect" in line for line in summary] == [False, True]
    assert run() == summary
    assert len(run("other", "--provider-host", "models.example.com", "--revoke")) == 1
    assert {line.split()[1] for line in run("other", "--all")} == set(Grant.Kind.values)
    assert run("other", "--all", "--revoke") == []
    for wrong in (["nowhere"], ["other", "--connector-host", "https://a.b/c"], ["other", "--revoke"], ["--all"]):
        with pytest.raises(CommandError):
            run(*wrong)


def test_an_operator_grants_in_the_admin(client_of: Any, operator: Any, other: Collection) -> None:
    client = client_of(operator)
    form_data = {"collection": other.pk, "kind": "connector-host", "value": "search.example.com"}
    assert client.post("/admin/judgments/grant/add/", {**form_data, "value": "http://x/"}).status_code == 200
    assert not other.grants.exists()
    assert client.post("/admin/judgments/grant/add/", form_data).status_code == 302
    row = other.grants.get()
    assert row.created_by.username == "oskar"
    assert client.post(f"/admin/judgments/grant/{row.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not other.grants.exists()


def test_a_lead_grants_nothing(client_of: Any, api_of: Any, collection: Collection, lead: Any) -> None:
    assert client_of(lead).get("/admin/judgments/grant/add/").status_code == 302
    assert api_of(lead).post(f"/api/v1/collections/{collection.slug}/grants/", {}, format="json").status_code == 404
    assert issubclass(EngineFault, AssayError)
