"""Tests of run uploads: stored unchanged, with correct figures."""

from __future__ import annotations

import gzip
import io
import uuid
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection

from assay.core.errors import AssayError, Conflict, NotValid
from assay.formats import FORMATS
from assay.formats.row_types import RunRow
from judgments.imports import ingestion
from judgments.models import AuditRow
from judgments.rating import assignment, submission
from pooling.models import Run
from pooling.runs import health as run_health
from pooling.runs import overlap, runs
from pooling.runs.known_pairs import judged_pairs
from tests.pooling.conftest import BM25

_STREAM = io.BytesIO()
FORMATS["run-parquet"].write([RunRow("q1", "d1", 2.5), RunRow("q1", "a doc", 1.0)], _STREAM)
PARQUET = _STREAM.getvalue()


def test_a_run_is_stored_as_parquet_and_the_hash_of_its_file_stays(example: Any, store: Any) -> None:
    run = Run.objects.get(name="bm25")
    body = Path(default_storage.path(run.path)).read_bytes()
    assert polars.read_parquet(body)["doc_id"].to_list() == ["d1", "d3", "d2"]
    assert (run.rows, run.queries, run.depth) == (3, 1, 3)
    assert (run.sha256, run.stored_sha256) == (sha256(BM25).hexdigest(), sha256(body).hexdigest())
    # The same results in another order and another format: another file with the same content.
    again = b"query_id,doc_id,rank,score\nq1,d3,3,8.7\nq1,d1,1,9.1\nq1,d2,2,8.7\n"
    other = Run.objects.get(uuid=store(example, "runs", again, "again.csv")["id"])
    assert other.sha256 != run.sha256
    assert other.content_sha256 == run.content_sha256


def test_a_run_stored_in_its_original_format_is_still_read(example: Any) -> None:
    run = Run.objects.get(name="bm25")
    rows = b"query_id,doc_id,score,rank\nq1,d1,9.1,1\nq1,d2,8.7,2\nq1,d3,8.7,3\n"
    for filename, body in [("bm25.run", BM25), ("bm25.run", gzip.compress(rows))]:
        run.path, run.filename = default_storage.save("runs/old", ContentFile(body)), filename
        run.content_sha256 = run.stored_sha256 = ""
        assert runs.opened(run).whole().ranking("q1") == ["d1", "d3", "d2"]
        assert runs.ranked(run, by="rank").ranking("q1") == ["d1", "d2", "d3"]


def test_a_file_that_storage_damaged_or_lost_is_reported(example: Any) -> None:
    run = Run.objects.get(name="bm25")
    whole = Path(default_storage.path(run.path)).read_bytes()
    run.path = default_storage.save("runs/damaged", ContentFile(whole[:-20]))
    with pytest.raises(AssayError, match="run bm25 has changed"):
        runs.opened(run)
    run.path = "runs/nowhere"
    with pytest.raises(AssayError, match="missing in storage"):
        runs.opened(run)


@pytest.mark.parametrize("name", ["a\nb", "a\x07", "a\x00b"])
def test_a_name_with_a_control_character_is_refused(example: Any, lead: Any, name: str) -> None:
    run = Run.objects.get(name="bm25")
    with pytest.raises(NotValid, match="control character"):
        runs.rename(run, name=name, actor=lead)
    with pytest.raises(NotValid, match="control character"):
        runs.free_name(example, name)


def test_health_counts_ties_and_queries_left_out(example: Any) -> None:
    health = Run.objects.get(name="bm25").health
    assert (health["tied rows"], health["queries left out"], health["median depth"]) == (2, 1, 3)
    assert (health["rows with a rank"], health["ties in another order by rank"]) == (3, 2)
    assert (health["ranks against scores"], health["queries with ties"]) == (0, 1)


def test_the_same_file_twice_is_a_conflict(example: Any, store: Any) -> None:
    with pytest.raises(Conflict, match="as the run bm25"):
        store(example, "runs", BM25, "again.run")


def test_collection_checks_of_a_run_have_their_own_codes(example: Any, store: Any, lead: Any) -> None:
    store(example, "documents", b'{"doc_id": "d1", "title": "A tent"}\n', "documents.jsonl")
    content = b"q9 Q0 d9 1 2.0 x\n" + b"".join(b"q1 Q0 d%d %d 1.0 x\n" % (place, place) for place in range(1, 9))
    upload = ingestion.receive(example, kind="runs", file=io.BytesIO(content), filename="odd.run", actor=lead)
    by_key = {problem["code"]: problem["severity"] for problem in upload.report["problems"]}
    assert by_key == {"W38": "warning", "W57": "warning", "W58": "warning"}
    assert upload.report["error_count"] == 0


def test_bad_rows_stay_out_when_they_were_read(example: Any, lead: Any) -> None:
    content = b"q1 Q0 d1 1 9.1 x\nq1 Q0 d2 2\nq1 Q0 d7 2 8.0 x\n"
    upload = ingestion.receive(example, kind="runs", file=io.BytesIO(content), filename="odd.run", actor=lead)
    ingestion.store(upload, actor=lead, accept_errors=True)
    run = Run.objects.get(name="odd")
    assert runs.ranked(run).to_dict() == {"q1": {"d1": 9.1, "d7": 8.0}}


@pytest.mark.parametrize(
    ("format", "content", "options"),
    [
        ("run-json", b'{"q1": {"d1": 2.5, "a doc": 1}}', {}),
        ("run-csv", b"qid;docid;rank;score\nq1;d1;1;2.5\nq1;a doc;2;1\n", {}),
        ("run-parquet", PARQUET, {}),
        ("run-csv", b"qid,sku,score\nq1,d1,2.5\nq1,a doc,1\n", {"columns": {"doc_id": "sku"}}),
        ("trec-run", "q1 Q0 d1 1 2.5 grün\nq1 Q0 dé 2 1 x\n".encode("latin-1"), {"encoding": "latin-1"}),
    ],
    ids=["json", "csv", "parquet", "columns named", "latin-1"],
)
def test_a_run_of_any_format_is_ranked_as_it_was_read(
    example: Any, lead: Any, format: str, content: bytes, options: dict[str, Any]
) -> None:
    form_data = {"kind": "runs", "file": io.BytesIO(content), "filename": "a.file", "actor": lead}
    upload = ingestion.receive(example, format=format if options else "", options=options, **form_data)
    assert upload.format == format
    ingestion.store(upload, actor=lead)
    ranking = runs.ranked(Run.objects.get(name="a"), by="rank").ranking("q1")
    assert ranking == (["d1", "dé"] if options.get("encoding") else ["d1", "a doc"])
    assert runs.ranked(Run.objects.get(name="a")).ranking("q1") == ranking


def test_metrics_read_ties_by_document_id_and_users_saw_them_by_rank(example: Any) -> None:
    run = Run.objects.get(name="bm25")
    assert runs.ranked(run).ranking("q1") == ["d1", "d3", "d2"]
    assert runs.ranked(run, by="rank").ranking("q1") == ["d1", "d2", "d3"]


def test_a_rename_is_on_record_and_refuses_a_taken_name(example: Any, lead: Any) -> None:
    run = Run.objects.get(name="bm25")
    runs.rename(run, name="bm25-prod", actor=lead)
    assert AuditRow.objects.filter(verb="runs.rename", target_uuid=run.uuid).count() == 1
    with pytest.raises(Conflict, match="neural"):
        runs.rename(run, name="neural", actor=lead)


def test_overlap_of_the_first_documents(example: Any) -> None:
    result = overlap.overlap(example, list(example.runs.all()))
    bm25, neural = result.parts
    assert (bm25.everywhere, bm25.some, bm25.alone, bm25.left_out) == (1, 0, 2, 1)
    assert (neural.everywhere, neural.alone) == (1, 2)
    # d1 is one of the five that either has; q2 is answered by none.
    assert run_health.jaccards(list(example.runs.all())) == [[1.0, 0.2], [0.2, 1.0]]


def test_unjudged_falls_when_a_pair_is_graded(pool: Any, open_round: Any, rater: Any) -> None:
    pair = next(pair for pair in assignment.claim_batch(open_round, rater=rater) if pair.document.doc_id == "d1")
    submission.submit(open_round, submission.Answer(uuid.uuid4(), pair.uuid, 3), rater=rater)
    parts = overlap.overlap(pool.collection, list(pool.collection.runs.all())).parts
    assert [part.unjudged for part in parts] == [2, 2]
    assert judged_pairs(pool.collection) == {("q1", "d1")}


def test_a_run_is_written_before_the_transaction_begins(example: Any, lead: Any, monkeypatch: Any) -> None:
    """Writing millions of rows takes a while, and on SQLite nobody else writes during a transaction."""
    open_then: list[bool] = []

    def save(name: str, content: Any) -> str:
        if name.startswith("runs/"):
            open_then.append(len(connection.savepoint_ids) > outside)
        return stored(name, content)

    stored, outside = default_storage.save, len(connection.savepoint_ids)
    monkeypatch.setattr(default_storage, "save", save)
    upload = ingestion.receive(example, kind="runs", file=io.BytesIO(BM25 + b"\n"), filename="x.run", actor=lead)
    ingestion.store(upload, actor=lead)
    assert open_then == [False]


def test_a_snapshot_of_quepid_gets_the_queries_of_the_collection_by_text(example: Any, store: Any) -> None:
    text = example.queries.get(query_id="q1").text
    header = "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\n"
    lines = f"Now,2026-03-05T12:00:00Z,8,unknown,d1,1\nNow,2026-03-05T12:00:00Z,8,{text},d2,1\n"
    run = Run.objects.get(uuid=store(example, "runs", (header + lines).encode(), "snapshot.csv")["id"])
    assert runs.opened(run).whole().ranking("q1") == ["d2"]
    assert (run.queries, run.health["of them in this collection"]) == (2, 1)
