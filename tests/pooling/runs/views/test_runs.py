"""Tests of the run pages: figures and download of a run."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from assay.formats import FORMATS
from judgments.imports import ingestion
from judgments.models import Query
from pooling.models import Run
from pooling.runs.downloads import FILES
from tests.pooling.conftest import BM25


@pytest.fixture
def bm25(example: Any) -> Run:
    return Run.objects.get(name="bm25")


def test_no_run_says_how_to_begin(collection: Any, client_of: Any, engineer: Any, at: Any) -> None:
    assert b"Add the results of your systems" in client_of(engineer).get(at("runs", collection)).content


def test_the_list_has_health_and_overlap(example: Any, client_of: Any, engineer: Any, at: Any) -> None:
    page = client_of(engineer).get(at("runs", example)).content.decode()
    assert "2 runs" in page
    assert '<td data-level="1">0.20</td>' in page
    assert ">67%</td>" in page
    # The same numbers under the same words on the page of one of them.
    bm25 = client_of(engineer).get(at("run", example, example.runs.get(name="bm25"))).content.decode()
    assert ">0.200</td>" in bm25
    assert "<dd>67%</dd><dd>2 share their score with another row of the query, in 1 query" in bm25
    assert page.count('role="img"') == 1


def test_a_file_whose_rows_nearly_all_tie_is_called_odd_before_it_is_stored(
    example: Any, client_of: Any, lead: Any, at: Any
) -> None:
    client = client_of(lead)
    lines = "".join(f"q1 Q0 d{place} {place} {2 - (place > 1)} flat\n" for place in range(1, 11))
    check = client.post(at("runs_new", example), {"file": io.BytesIO(lines.encode())}).headers["Location"]
    page = client.get(check).content.decode()
    assert "9 of 10 rows share their score with another row" in page
    assert "with all digits" in page
    assert "Every row can be used" not in page
    client.post(check, {"name": "flat"})
    stored = client.get(at("run", example, example.runs.get(name="flat"))).content.decode()
    assert "rows share their score with another row of the same query." in stored
    # Some ties are usual, and no reason to worry anybody.
    upload = ingestion.receive(example, kind="runs", file=io.BytesIO(BM25[:-1]), filename="x.run", actor=lead)
    assert "W58" not in upload.report["codes"]


def test_one_run_has_nothing_to_be_compared_with(
    collection: Any, store: Any, client_of: Any, lead: Any, at: Any
) -> None:
    store(collection, "runs", BM25, "bm25.run")
    page = client_of(lead).get(at("runs", collection)).content.decode()
    assert "Similarity of runs" not in page


def test_the_list_sorts_and_downloads(example: Any, client_of: Any, engineer: Any, at: Any) -> None:
    answer = client_of(engineer).get(at("runs", example), {"sort": "-run", "format": "csv"})
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[0].startswith("run,unjudged,rows")
    assert [line.split(",")[0] for line in lines[1:]] == ["neural", "bm25"]


def test_a_run_shows_what_it_leaves_out(bm25: Run, client_of: Any, engineer: Any, at: Any) -> None:
    page = client_of(engineer).get(at("run", bm25.collection, bm25)).content.decode()
    assert "no results for 1 of the collection’s queries" in page


def test_the_first_documents_of_one_query(bm25: Run, client_of: Any, engineer: Any, at: Any) -> None:
    query = Query.objects.get(query_id="q1")
    answer = client_of(engineer).get(at("run", bm25.collection, bm25), {"query": query.uuid, "table": "top"})
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[1].split(",")[:4] == ["1", "not in the collection", "d1", "9.1"]
    assert lines[1].endswith("neural 2")
    assert [line.split(",")[2] for line in lines[1:]] == ["d1", "d3", "d2"]


@pytest.mark.parametrize("query", ["x", "7d444840-9dc0-11d1-b245-5ffdce74fad2"])
def test_a_query_that_is_not_there_is_passed_over(bm25: Run, client_of: Any, lead: Any, at: Any, query: str) -> None:
    assert client_of(lead).get(at("run", bm25.collection, bm25), {"query": query}).status_code == 200


def test_the_run_comes_back_in_three_formats(bm25: Run, client_of: Any, engineer: Any, at: Any) -> None:
    client, address = client_of(engineer), at("run_file", bm25.collection, bm25)
    files = {}
    for format, ending in FILES.items():
        answer = client.get(address, {"as": format})
        files[format] = b"".join(answer.streaming_content)
        assert f'filename="bm25.{ending}"' in answer.headers["Content-Disposition"]
        # Whatever the format: the same rows, and the system's own ranks.
        rows = FORMATS[format].read(files[format]).rows
        assert [(row.doc_id, row.score, row.rank) for row in rows] == [("d1", 9.1, 1), ("d3", 8.7, 3), ("d2", 8.7, 2)]
    assert files["trec-run"].decode().splitlines() == [BM25.decode().splitlines()[place] for place in (0, 2, 1)]
    assert files["run-parquet"] == Path(default_storage.path(bm25.path)).read_bytes()
    assert client.get(address, {"as": "zip"}).status_code == 404


def test_an_old_run_and_one_that_trec_cannot_carry(
    example: Any, store: Any, client_of: Any, engineer: Any, at: Any
) -> None:
    content = b'query_id,doc_id,score\nq1,a doc,1\nq1,=1+1,3\nq1,"x,y",2\n'
    run = Run.objects.get(uuid=store(example, "runs", content, "spaces.csv")["id"])
    client, address = client_of(engineer), at("run_file", example, run)
    response = client.get(address, {"as": "trec-run"}, follow=True)
    assert "cannot contain these ids" in response.content.decode()
    assert response.redirect_chain[0][0] == at("run", example, run)
    answer = client.get(address, {"as": "run-csv"})
    expected = b'query_id,doc_id,rank,score\nq1,\'=1+1,1,3.0\nq1,"x,y",2,2.0\nq1,a doc,3,1.0\n'
    assert b"".join(answer.streaming_content) == expected
    Run.objects.filter(pk=run.pk).update(path=default_storage.save("runs/old", ContentFile(content)), stored_sha256="")
    for format in ("run-csv", "run-parquet"):
        body = b"".join(client.get(address, {"as": format}).streaming_content)
        assert {(row.doc_id, row.score) for row in FORMATS[format].read(body).rows} == {
            ("a doc", 1.0),
            ("=1+1", 3.0),
            ("x,y", 2.0),
        }


def test_a_page_says_what_is_wrong_with_a_run(example: Any, client_of: Any, engineer: Any, lead: Any, at: Any) -> None:
    content = b"q1 Q0 d1 2 9 x\nq1 Q0 d2 1 8 x\nq1 Q0 d6 3 7 x\nq1 Q0 d6 4 6 x\n"
    content += b"q9 Q0 d1 1 inf x\nq9 Q0 d7 2 3 x\nq9 Q0 d8 3 3 x\n"
    upload = ingestion.receive(example, kind="runs", file=io.BytesIO(content), filename="odd.run", actor=lead)
    run = Run.objects.get(uuid=ingestion.store(upload, actor=lead, accept_errors=True)["id"])
    page = client_of(engineer).get(at("run", example, run)).content.decode()
    for words in (
        "The ranks contradict the scores in 1 query, first in q1.",
        "The run has results for 1 query that the collection does not have.",
        "1 score is infinite.",
        "2 invalid rows were left out at import, 2 of them with a repeated document.",
        "2 tied rows had a different position for users",
        "Similar runs",
        "Depth",
    ):
        assert words in page
    answer = client_of(engineer).get(at("run", example, run), {"table": "likeness"})
    lines = b"".join(answer.streaming_content).decode().splitlines()
    # d1 and d2 against d1, d3, d2 of bm25 and d4, d1, d5 of neural.
    assert [line.split(",")[0] for line in lines] == ["run", "bm25", "neural"]
    assert float(lines[1].split(",")[1]) == pytest.approx(2 / 3)
    assert float(lines[2].split(",")[1]) == pytest.approx(1 / 4)
    assert [line.split(",")[3:] for line in lines[1:]] == [["0", "1"], ["0", "1"]]


def test_a_rename(bm25: Run, client_of: Any, engineer: Any, at: Any) -> None:
    client_of(engineer).post(at("run", bm25.collection, bm25), {"name": "prod"})
    assert Run.objects.filter(pk=bm25.pk, name="prod").exists()


def test_a_taken_name_is_a_conflict_and_the_form_keeps_it(bm25: Run, client_of: Any, engineer: Any, at: Any) -> None:
    answer = client_of(engineer).post(at("run", bm25.collection, bm25), {"name": "neural"})
    assert answer.status_code == 409
    assert 'value="neural"' in answer.content.decode()
    assert '<h1 dir="auto">bm25</h1>' in answer.content.decode()


def test_several_runs_are_submitted_checked_and_stored_together(client_of: Any, collection: Any, engineer: Any) -> None:
    """Two good files under the part of their names that differs, and a third that waits with its error."""
    client = client_of(engineer)
    files = [
        ContentFile(f"q1 Q0 d{number} 1 {number} tag\n".encode(), name=f"input.{name}.txt")
        for number, name in enumerate("AB", 1)
    ]
    odd = ContentFile(b"q1 Q0 d1 1 x tag\nq1 Q0 d2 2 1 tag\n", name="odd.txt")
    page = client.post(f"/c/{collection.slug}/runs/new/", {"file": [*files, odd]}).url
    shown = client.get(page).context
    assert [(upload.filename, name) for upload, name, _ in shown["files"]] == [
        ("input.A.txt", "A"),
        ("input.B.txt", "B"),
        ("odd.txt", "odd"),
    ]
    assert (shown["ready"], collection.runs.count()) == (2, 0)
    assert client.post(page).url == page
    assert set(collection.runs.values_list("name", flat=True)) == {"A", "B"}
    assert client.get(page).context["ready"] == 0
    client.post(page)  # pressed again
    assert collection.runs.count() == 2


def test_other_kinds_of_files_come_one_at_a_time(client_of: Any, collection: Any, lead: Any) -> None:
    assert client_of(lead).get(f"/c/{collection.slug}/files/documents/").status_code == 404
    assert client_of(lead).get(f"/c/{collection.slug}/files/runs/?upload=x").context["files"] == []
