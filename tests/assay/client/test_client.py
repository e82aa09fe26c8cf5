"""Tests of the client against a real server: pull, push, scores, and every kind of failure in between."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.client.client import Client
from assay.client.connection import Patience, ServerFault
from assay.client.uploads import Refused
from assay.core.errors import NotFound, NotValid
from assay.formats.manifest import verify
from judgments.imports import upload_sessions
from judgments.members.collections import create_collection
from pooling.models import Run
from tests.assay.client.conftest import PATIENT
from tests.faulty_proxy import FAULTS, FaultyProxy

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(world: Any, engineer: Any, proxy: FaultyProxy, token_of: Callable[[Any], str]) -> Iterator[Client]:
    with Client(proxy.url, token_of(engineer), collection="shop", patience=PATIENT) as made:
        yield made


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    """A run of 4,000 rows, more than one chunk in these tests."""
    chance, path = random.Random(3), tmp_path / "large.run"
    lines = [
        f"q{query} Q0 d{document} {document + 1} {1000 - document + chance.random():.6f} large\n"
        for query in range(40)
        for document in range(100)
    ]
    path.write_text("".join(lines))
    return path


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_sessions, "CHUNK_BYTES", 30_000)
    monkeypatch.setattr(upload_sessions, "LEAST_CHUNK_BYTES", 1000)


def patches(proxy: FaultyProxy) -> int:
    return sum(line.startswith("PATCH") for line in proxy.requests)


def test_a_snapshot_becomes_qrels(client: Client, world: Any) -> None:
    qrels = client.pull_snapshot()
    assert isinstance(qrels, assay.Qrels)
    assert len(qrels) == client.snapshot()["summary"]["labels"]
    assert client.pull_snapshot(client.snapshot()["name"]).to_dict() == qrels.to_dict()


def test_the_files_of_a_snapshot_match_their_manifest(client: Client, proxy: FaultyProxy, tmp_path: Path) -> None:
    folder, snapshot = client.download_snapshot("newest", tmp_path / "labels")
    assert verify(folder).ok
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    before = len(proxy.requests)
    client.download_snapshot(snapshot["id"], folder)
    assert not [line for line in proxy.requests[before:] if "export" in line]
    (folder / "qrels.txt").write_text("q1 0 d1 3\n")
    client.download_snapshot(snapshot["name"], folder)
    assert verify(folder).ok


def test_unknown_names_are_not_found(client: Client) -> None:
    with pytest.raises(NotFound):
        client.snapshot("spring")
    with pytest.raises(NotFound):
        client.snapshot("00000000-0000-4000-8000-000000000000")
    with pytest.raises(NotFound):
        client.run("spring")


def test_a_run_arrives_as_it_was_sent(client: Client, proxy: FaultyProxy, run_file: Path) -> None:
    outcome = client.push("run", run_file)
    assert (outcome.stored["name"], outcome.stored["rows"], outcome.known) == ("large", 4_000, False)
    assert patches(proxy) == -(-run_file.stat().st_size // 30_000)
    pulled = client.pull_run("large")
    assert pulled.to_dict() == assay.read_run(run_file).to_dict()


def test_a_stored_run_is_not_sent_again(client: Client, proxy: FaultyProxy, run_file: Path) -> None:
    first = client.push("run", run_file)
    sent = patches(proxy)
    again = client.push("run", run_file, name="other")
    assert (again.known, again.stored["id"], patches(proxy)) == (True, first.stored["id"], sent)
    assert Run.objects.filter(name__in=["large", "other"]).count() == 1


def test_python_objects_are_pushed_and_scored(client: Client) -> None:
    stored = client.push_run({"q1": {"d1": 2.0, "d4": 1.0, "d5": 0.5}}, "mine")
    scores = client.scores(stored)
    assert set(scores) >= {"nDCG@10", "RR@10"}
    qrels = client.pull_snapshot()
    expected = assay.evaluate(qrels, client.pull_run("mine"), ["nDCG@10"]).runs[0].metrics["nDCG@10"].mean
    assert scores["nDCG@10"]["mean"] == pytest.approx(expected, abs=1e-12)
    assert list(client.scores("mine", metrics=["P@3"])) == ["P@3"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("request_part", ["POST /api/v1/collections/shop/uploads/", "PATCH", "/shop/runs/"])
def test_a_push_survives_failures(
    client: Client, proxy: FaultyProxy, run_file: Path, fault: str, request_part: str
) -> None:
    proxy.faults = [(request_part, fault)] * 3
    outcome = client.push("run", run_file)
    assert proxy.faults == []
    assert Run.objects.get(uuid=outcome.stored["id"]).rows == 4_000
    assert Run.objects.filter(name="large").count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_pull_survives_failures(client: Client, proxy: FaultyProxy, tmp_path: Path, fault: str) -> None:
    proxy.faults = [("/export/", fault)] * 3 + [("/snapshots/?", fault)]
    folder, _ = client.download_snapshot("newest", tmp_path / "labels")
    assert proxy.faults == []
    assert verify(folder).ok


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_keeps_failing_is_a_clear_error(
    client: Client, proxy: FaultyProxy, run_file: Path, fault: str
) -> None:
    proxy.faults = [("PATCH", fault)] * 99
    with pytest.raises(ServerFault) as error:
        client.push("run", run_file)
    assert str(PATIENT.attempts) in str(error.value)
    assert "assay_" not in str(error.value)


def test_the_next_push_goes_on_where_the_last_one_stopped(client: Client, proxy: FaultyProxy, run_file: Path) -> None:
    size = run_file.stat().st_size
    proxy.faults = [("PATCH", "")] * 2 + [("PATCH", "closed")] * 4
    with pytest.raises(ServerFault):
        client.push("run", run_file)
    assert 60_000 <= proxy.received < size
    client.push("run", run_file)
    # Everything arrived once, besides the small JSON bodies.
    assert size <= proxy.received < size + 2000


def test_the_next_pull_goes_on_where_the_last_one_stopped(client: Client, proxy: FaultyProxy, tmp_path: Path) -> None:
    proxy.faults = [("/export/", "half")] + [("/export/", "closed")] * 3
    with pytest.raises(ServerFault):
        client.download_snapshot("newest", tmp_path)
    (part,) = tmp_path.glob("*.part")
    held = part.stat().st_size
    assert held > 0
    sizes: list[int] = []
    client.download_snapshot("newest", tmp_path, sizes.append)
    assert min(sizes) > held
    assert verify(tmp_path).ok


def test_a_damaged_part_is_downloaded_again_after_the_check(client: Client, proxy: FaultyProxy, tmp_path: Path) -> None:
    proxy.faults = [("/export/", "half")] + [("/export/", "closed")] * 3
    with pytest.raises(ServerFault):
        client.download_snapshot("newest", tmp_path)
    (part,) = tmp_path.glob("*.part")
    part.write_bytes(bytes(part.stat().st_size))
    with pytest.raises((NotValid, ServerFault)):
        client.download_snapshot("newest", tmp_path)
    folder, _ = client.download_snapshot("newest", tmp_path)
    assert verify(folder).ok


def test_a_server_that_asks_for_a_long_wait_ends_the_command(
    world: Any, engineer: Any, live_server: Any, token_of: Callable[[Any], str]
) -> None:
    from judgments.models import UploadSession

    hours = Patience(attempts=4, first_wait=0.01, longest_wait=0.01, longest_requested=0.0)
    with Client(live_server.url, token_of(engineer), collection="shop", patience=hours) as client:
        UploadSession.objects.bulk_create(
            UploadSession(collection=world.collection, kind="runs", sha256="0" * 64, bytes=1, created_by=engineer)
            for _ in range(upload_sessions.MOST_OPEN)
        )
        with pytest.raises(ServerFault) as error:
            client.connection.json(
                "POST",
                "collections/shop/uploads/",
                {"kind": "runs", "filename": "a.run", "bytes": 1, "sha256": "1" * 64},
            )
    assert (error.value.status, error.value.code) == (429, "too_many")


def test_a_file_with_errors_is_refused_with_its_report(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "odd.run"
    path.write_text("q1 Q0 d1 1 9.5 odd\nq1 Q0 d2 2 high odd\n")
    with pytest.raises(Refused) as refusal:
        client.push("run", path)
    assert refusal.value.report is not None
    assert [(one["line"], one["severity"]) for one in refusal.value.report["problems"]] == [(2, "error")]
    assert client.push("run", path, accept_errors=True).stored["left_out"] == 1


def test_other_kinds_are_stored(world: Any, lead: Any, proxy: FaultyProxy, token_of: Any, tmp_path: Path) -> None:
    files = {
        "documents": '{"doc_id": "new1", "text": "A tent."}\n',
        "queries": "query_id,query\nnew1,tent\n",
        "labels": "new1 0 new1 2\n",
        "samples": '{"sample_id": "s9", "query": "Which tent?", "reference_answer": "A small one."}\n',
        "outputs": '{"sample_id": "s9", "response": "A small one."}\n',
    }
    with Client(proxy.url, token_of(lead), collection="shop", patience=PATIENT) as client:
        for kind, content in files.items():
            path = tmp_path / f"new-{kind}.txt"
            path.write_text(content)
            assert client.push(kind, path).stored["rows"] == 1
            again = client.push(kind, path)
            assert (again.known, again.stored.get("rows", 0)) == (True, 0)


def test_a_pulled_bundle_is_pushed_into_another_collection(
    client: Client, lead: Any, proxy: FaultyProxy, token_of: Any, tmp_path: Path
) -> None:
    folder, snapshot = client.download_snapshot("newest", tmp_path / "labels")
    create_collection(actor=lead, slug="elsewhere", name="Elsewhere")
    with Client(proxy.url, token_of(lead), collection="elsewhere", patience=PATIENT) as other:
        first = other.push("bundle", folder)
        assert other.snapshot(first.stored["name"])["content_sha256"] == snapshot["content_sha256"]
        assert other.pull_snapshot().to_dict() == client.pull_snapshot().to_dict()
        assert other.push("bundle", folder).known
        assert len(other.snapshots()) == 1


def test_a_wrong_token_or_collection_is_a_clear_error(client: Client, proxy: FaultyProxy) -> None:
    with Client(proxy.url, "assay_wrong", collection="shop", patience=PATIENT) as wrong:
        with pytest.raises(ServerFault) as error:
            wrong.runs()
        assert (error.value.status, "assay_wrong" in str(error.value)) == (401, False)
    client._collection = "other"
    with pytest.raises(ServerFault) as missing:
        client.runs()
    assert missing.value.status == 404


def test_a_redirect_is_not_followed_with_the_token(client: Client, live_server: Any) -> None:
    with pytest.raises(ServerFault) as error:
        client.connection.get("../../c/shop/runs")
    assert error.value.status in (301, 302)


def test_unusable_files_are_refused_before_sending(client: Client, proxy: FaultyProxy, tmp_path: Path) -> None:
    (tmp_path / "empty.run").write_bytes(b"")
    for path in (tmp_path / "empty.run", tmp_path / "missing.run", tmp_path):
        with pytest.raises(NotValid):
            client.push("run", path)
    with pytest.raises(NotValid):
        client.push("runs", tmp_path / "empty.run")
    assert proxy.requests == []
