"""Tests of bundles: a snapshot in another collection has the same hash and files; others are refused."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile

from assay.core.errors import Conflict, NotValid
from assay.formats import manifest as bundle_manifest
from assay.formats.manifest import file_entry, manifest_bytes, verify_files, write_zip
from assay.formats.snapshot_bundle import canonical, read_bundle
from judgments.imports import ingestion
from judgments.members import collections
from judgments.models import Collection, Document, Query, Snapshot, Upload
from judgments.snapshots import bundle_import, snapshots
from tests.cached_rows import cached_fixture

pytestmark = pytest.mark.django_db

# Texts that a CSV file has to quote or escape.
TEXTS = ["=sum of shoes", 'quoted "text", with\nlines', " spaces ", "’apostrophe", "'=kept", "ünïcode ✓"]


@pytest.fixture
@cached_fixture
def frozen(make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, rater2: Any, lead: Any) -> Any:
    round_ = make_round(queries=6, documents=3, raters=[rater, rater2], ratings_per_pair=2)
    for number, text in enumerate(TEXTS, start=1):
        Query.objects.filter(query_id=f"q{number}").update(text=text, tier="tail", probability=0.1, weight=1 / 3)
    rate_all(round_, rater, 2)
    rate_all(round_, rater2, 3)
    collections.update_collection(round_.collection, actor=lead, license="CC-BY-4.0")
    round_.collection.refresh_from_db()
    return snapshots.freeze(round_.collection, name="autumn-1", rounds=[round_], actor=lead)


@pytest.fixture
def bundle(frozen: Snapshot) -> dict[str, bytes]:
    return unzipped(snapshots.export(frozen, "bundle")[1])


def unzipped(body: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: dict[str, bytes]) -> bytes:
    write_zip(files, stream := io.BytesIO())
    return stream.getvalue()


def brought_in(collection: Collection, body: bytes, lead: Any, **options: Any) -> Snapshot:
    upload = ingestion.receive(collection, kind="bundles", file=io.BytesIO(body), filename="autumn-1.zip", actor=lead)
    stored = ingestion.store(upload, actor=lead, options=options)
    return Snapshot.objects.get(uuid=stored["id"])


def changed(bundle: dict[str, bytes], **files: bytes) -> bytes:
    """Return the bundle with other files, and a manifest that lists their hashes."""
    after = {**bundle, **{name.replace("_", "."): body for name, body in files.items()}}
    manifest = json.loads(after["manifest.json"])
    for entry in manifest["files"]:
        body = after[entry["path"]]
        entry.update(bytes=len(body), sha256=hashlib.sha256(body).hexdigest())
    return zipped({**after, "manifest.json": manifest_bytes(manifest)})


def test_the_same_hash_and_files_elsewhere(frozen: Snapshot, elsewhere: Collection, lead: Any) -> None:
    body = snapshots.export(frozen, "bundle")[1]
    there = brought_in(elsewhere, body, lead)
    assert (there.name, there.content_sha256) == ("autumn-1", frozen.content_sha256)
    assert snapshots.export(there, "bundle")[1] == body
    assert snapshots.labels_of(there) == snapshots.labels_of(frozen)
    assert (
        list(elsewhere.queries.order_by("query_id").values_list("tier", "probability", "weight"))
        == [("tail", 0.1, 1 / 3)] * 6
    )
    assert elsewhere.documents.filter(stub=True).count() == 18
    assert there.summary == frozen.summary


def test_a_bundle_proves_its_hash(frozen: Snapshot, bundle: dict[str, bytes]) -> None:
    assert hashlib.sha256(bundle["content.json"]).hexdigest() == frozen.content_sha256
    assert hashlib.sha256(bundle["guidelines-1.md"]).hexdigest() == frozen.rounds.get().guidelines.sha256
    check = verify_files({name: lambda body=body: body for name, body in bundle.items()}, "bundle")  # type: ignore[misc]
    assert check.ok


def test_the_data_card(frozen: Snapshot, bundle: dict[str, bytes]) -> None:
    card = bundle["data-card.md"].decode()
    header, _, rest = card.removeprefix("---\n").partition("\n---\n")
    assert dict(line.split(": ") for line in header.splitlines()) == {
        "pretty_name": '"autumn-1"',
        "license": '"CC-BY-4.0"',
    }
    titles = [line[3:] for line in rest.splitlines() if line.startswith("## ")]
    assert titles == ["Queries", "Pools", "Judging", "Agreement", "Labels by grade", "Limits", "License", "Files"]
    rows = [line for line in rest.splitlines() if line.startswith("| ")]
    assert "| tail | 6 |" in rows
    assert any(row.startswith("| 2 |") and row.endswith("| 18 |") for row in rows)
    assert frozen.content_sha256 in rest


def test_no_name_of_a_person_in_a_bundle(bundle: dict[str, bytes], rater: Any, rater2: Any, lead: Any) -> None:
    together = b"\n".join(bundle.values()).decode()
    assert not [user.username for user in (rater, rater2, lead) if f'"{user.username}"' in together]


@pytest.mark.parametrize("name", ["qrels_txt", "judgments_json", "queries_csv", "guidelines-1_md"])
def test_files_that_are_not_those_of_the_hash(
    bundle: dict[str, bytes], elsewhere: Collection, lead: Any, name: str
) -> None:
    path = name.replace("_", ".")
    other = {
        "qrels.txt": bundle["qrels.txt"].replace(b" 2\n", b" 3\n", 1),
        "judgments.json": bundle["judgments.json"].replace(b'"rating": 2', b'"rating": 3', 1),
        "queries.csv": bundle["queries.csv"].replace("ünïcode".encode(), b"other", 1),
        "guidelines-1.md": b"# Others\n",
    }[path]
    assert other != bundle[path]
    with pytest.raises(NotValid, match=path):
        brought_in(elsewhere, changed(bundle, **{name: other}), lead)
    assert not elsewhere.snapshots.exists()
    assert not elsewhere.queries.exists()


def test_another_content_with_the_old_hash(bundle: dict[str, bytes], elsewhere: Collection, lead: Any) -> None:
    content = json.loads(bundle["content.json"])
    content["labels"][0][2] = 0
    with pytest.raises(NotValid, match="content_sha256"):
        brought_in(elsewhere, changed(bundle, content_json=canonical(content)), lead)


def test_a_bundle_twice(frozen: Snapshot, elsewhere: Collection, lead: Any) -> None:
    body = snapshots.export(frozen, "bundle")[1]
    brought_in(elsewhere, body, lead)
    with pytest.raises(Conflict, match="autumn-1"):
        brought_in(elsewhere, body, lead, name="again")
    with pytest.raises(Conflict):
        brought_in(frozen.collection, body, lead)


def test_a_query_with_another_text(frozen: Snapshot, elsewhere: Collection, lead: Any) -> None:
    Query.objects.create(collection=elsewhere, query_id="q1", text="another text")
    with pytest.raises(NotValid, match="q1"):
        brought_in(elsewhere, snapshots.export(frozen, "bundle")[1], lead)
    assert not elsewhere.snapshots.exists()


def test_what_the_collection_has_stays(frozen: Snapshot, elsewhere: Collection, lead: Any) -> None:
    Query.objects.create(collection=elsewhere, query_id="q1", text=TEXTS[0], weight=0.5, tier="head", probability=1)
    Document.objects.create(collection=elsewhere, doc_id="d1-1", title="Known", content_sha256="0" * 64)
    brought_in(elsewhere, snapshots.export(frozen, "bundle")[1], lead, name="theirs")
    assert elsewhere.queries.get(query_id="q1").weight == 0.5
    assert elsewhere.documents.get(doc_id="d1-1").title == "Known"
    assert elsewhere.snapshots.get().name == "theirs"


@pytest.mark.parametrize(
    "change",
    [
        {"scale": {"grades": ["a"], "labels": []}},
        {"rounds": [{"name": "x"}]},
        {"counts": {}},
        {"consolidation": {"rule": "unknown", "tie": "lower", "merge": "newest", "sources": []}},
        {"rounds": [], "license": 3},
        {"list": {}},
    ],
)
def test_a_manifest_of_another_shape(
    bundle: dict[str, bytes], elsewhere: Collection, lead: Any, change: dict[str, Any]
) -> None:
    manifest = {**json.loads(bundle["manifest.json"]), **change}
    with pytest.raises(NotValid, match="manifest"):
        brought_in(elsewhere, zipped({**bundle, "manifest.json": manifest_bytes(manifest)}), lead)


def test_labels_of_answers_are_refused(bundle: dict[str, bytes], elsewhere: Collection, lead: Any) -> None:
    manifest = json.loads(bundle["manifest.json"])
    manifest["rounds"][0]["dimension"] = "faithful"
    with pytest.raises(NotValid, match="answers"):
        brought_in(elsewhere, zipped({**bundle, "manifest.json": manifest_bytes(manifest)}), lead)


def test_a_file_that_is_listed_twice(bundle: dict[str, bytes], elsewhere: Collection, lead: Any) -> None:
    manifest = json.loads(bundle["manifest.json"])
    manifest["files"] += manifest["files"][:1] * 1000
    with pytest.raises(NotValid, match="twice"):
        brought_in(elsewhere, zipped({**bundle, "manifest.json": manifest_bytes(manifest)}), lead)


@pytest.mark.parametrize("name", ["pad.html", "guidelines-x.md", "a\nb.md", "folder/qrels.txt"])
def test_a_file_that_no_snapshot_has(bundle: dict[str, bytes], elsewhere: Collection, lead: Any, name: str) -> None:
    manifest = json.loads(bundle["manifest.json"])
    manifest["files"].append(file_entry(name, "markdown", 1, b"x"))
    files = {**bundle, name: b"x", "manifest.json": manifest_bytes(manifest)}
    with pytest.raises(NotValid, match="no file of a snapshot"):
        brought_in(elsewhere, zipped(files), lead)


def test_a_manifest_full_of_other_things(bundle: dict[str, bytes], elsewhere: Collection, lead: Any) -> None:
    manifest = json.loads(bundle["manifest.json"]) | {"pad": "x" * 100_000}
    there = brought_in(elsewhere, zipped({**bundle, "manifest.json": manifest_bytes(manifest)}), lead)
    assert "pad" not in there.manifest
    assert "baseline" not in there.manifest
    large = json.loads(bundle["manifest.json"]) | {"warnings": ["x" * 10_000] * 200}
    other = collections.create_collection(actor=lead, slug="other", name="Other")
    with pytest.raises(NotValid, match="larger"):
        brought_in(other, zipped({**bundle, "manifest.json": manifest_bytes(large)}), lead)


def test_a_bundle_that_is_too_large(
    bundle: dict[str, bytes], elsewhere: Collection, lead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle_import, "MOST_UNPACKED", 1000)
    upload = Upload(filename="b.zip", sha256="0" * 64, bytes=1)
    with pytest.raises(NotValid, match="unpacked"):
        bundle_import.read(io.BytesIO(zipped(bundle)), upload)


def test_another_compression(bundle: dict[str, bytes], elsewhere: Collection, lead: Any) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_BZIP2) as archive:
        for name, body in bundle.items():
            archive.writestr(name, body)
    with pytest.raises(NotValid, match="compressed"):
        brought_in(elsewhere, stream.getvalue(), lead)


def test_an_archive_that_lies_about_a_size(bundle: dict[str, bytes], elsewhere: Collection, lead: Any) -> None:
    body = raw_zip([*bundle.items(), ("guidelines-7.md", b"0" * 1_000_000)])
    size = (1_000_000).to_bytes(4, "little")
    assert body.count(size) == 2
    lied = body.replace(size, (10).to_bytes(4, "little"))
    with pytest.raises(NotValid):
        brought_in(elsewhere, lied, lead)


def test_nothing_stays_if_a_file_cannot_be_stored(
    frozen: Snapshot, elsewhere: Collection, lead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, save = [], default_storage.save

    def fail_late(name: str, content: Any) -> str:
        if name.endswith("/ratings.csv"):
            raise OSError("no space left")
        kept.append(save(name, content))
        return kept[-1]

    monkeypatch.setattr(default_storage, "save", fail_late)
    with pytest.raises(OSError, match="space"):
        brought_in(elsewhere, snapshots.export(frozen, "bundle")[1], lead)
    frozen_files = [path for path in kept if path.startswith("snapshots/")]
    assert frozen_files
    assert not [path for path in frozen_files if default_storage.exists(path)]
    assert not elsewhere.snapshots.exists()


def test_a_lead_who_rates_cannot_confirm_a_guess(
    frozen: Snapshot, make_round: Callable[..., Any], lead: Any, rater: Any
) -> None:
    body = snapshots.export(frozen, "bundle")[1]
    make_round(queries=6, documents=3, raters=[rater, lead], ratings_per_pair=2, name="Round 2")
    with pytest.raises(Conflict) as caught:
        brought_in(frozen.collection, body, lead)
    assert "autumn-1" not in str(caught.value)


def raw_zip(files: list[tuple[str, bytes]]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files:
            archive.writestr(name, body)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/outside.txt", "a/../../outside.txt", "..\\outside.txt"])
def test_a_path_outside_the_bundle(bundle: dict[str, bytes], elsewhere: Collection, lead: Any, name: str) -> None:
    with pytest.raises(NotValid, match="unsafe"):
        brought_in(elsewhere, raw_zip([*bundle.items(), (name, b"x")]), lead)


def test_a_bundle_that_expands_too_far(bundle: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_manifest, "MAX_EXPANDED", sum(map(len, bundle.values())) - 1)
    with pytest.raises(NotValid, match="too large"):
        read_bundle(bundle_manifest.zipped(io.BytesIO(zipped(bundle)), "b.zip"), "b.zip")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_twice(bundle: dict[str, bytes], elsewhere: Collection, lead: Any) -> None:
    with pytest.raises(NotValid, match="twice"):
        brought_in(elsewhere, raw_zip([*bundle.items(), ("qrels.txt", b"q9 0 d9 1\n")]), lead)


def test_an_old_bundle_says_what_to_import(bundle: dict[str, bytes], elsewhere: Collection, lead: Any) -> None:
    manifest = json.loads(bundle["manifest.json"])
    manifest["files"] = [entry for entry in manifest["files"] if entry["path"] != "content.json"]
    files = {name: body for name, body in bundle.items() if name != "content.json"}
    with pytest.raises(NotValid, match="older version"):
        brought_in(elsewhere, zipped({**files, "manifest.json": manifest_bytes(manifest)}), lead)


@pytest.mark.parametrize(
    "body",
    [b"", b"no zip", b"PK\x03\x04 damaged", raw_zip([("qrels.txt", b"q1 0 d1 1\n")]), b"[" * 100_000],
    ids=["empty", "text", "damaged", "no manifest", "nested"],
)
def test_other_files(elsewhere: Collection, lead: Any, body: bytes) -> None:
    with pytest.raises(NotValid):
        brought_in(elsewhere, body, lead)


def test_deeply_nested_content(bundle: dict[str, bytes], elsewhere: Collection, lead: Any) -> None:
    deep = b'{"assay_content":1,"labels":' + b"[" * 10_000 + b"]" * 10_000 + b"}"
    manifest = json.loads(bundle["manifest.json"]) | {"content_sha256": hashlib.sha256(deep).hexdigest()}
    body = changed({**bundle, "manifest.json": manifest_bytes(manifest)}, content_json=deep)
    with pytest.raises(NotValid, match="not usable JSON"):
        brought_in(elsewhere, body, lead)


def test_by_page_and_api(
    frozen: Snapshot, elsewhere: Collection, lead: Any, client_of: Any, api_of: Any, commit: Any
) -> None:
    body = snapshots.export(frozen, "bundle")[1]
    response = api_of(lead).post(
        "/api/v1/collections/elsewhere/bundles/", {"file": SimpleUploadedFile("b.zip", body)}, format="multipart"
    )
    assert response.status_code == 201, response.content
    there = elsewhere.snapshots.get()
    assert response.json()["id"] == str(there.uuid)
    browser = client_of(lead)
    assert browser.get(f"/snapshots/{there.uuid}/").status_code == 200
    assert browser.get(f"/snapshots/{there.uuid}/export/data-card.md/").content == unzipped(body)["data-card.md"]
    for page in ("snapshots", "scores", "freshness", "runs"):
        assert browser.get(f"/c/elsewhere/{page}/").status_code == 200, page
    again = api_of(lead).post("/api/v1/collections/elsewhere/bundles/", [{"doc_id": "d1"}], format="json")
    assert again.status_code == 400


def test_a_rater_of_the_same_pairs_may_not_read_the_labels(
    frozen: Snapshot, make_round: Callable[..., Any], rater3: Any, lead: Any, client_of: Any, elsewhere: Collection
) -> None:
    make_round(queries=6, documents=3, raters=[rater3, lead], ratings_per_pair=2, name="Round 2")
    assert client_of(lead).get(f"/snapshots/{frozen.uuid}/export/bundle/").status_code == 403
    assert client_of(lead).get(f"/snapshots/{frozen.uuid}/export/content.json/").status_code == 403
