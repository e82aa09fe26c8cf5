"""Does a page say of a run what is true of it, and give it back as it is stored?"""

from __future__ import annotations

from typing import Any

import pytest

from judgments.models import Query
from pooling.models import Run
from tests.pooling.conftest import BM25


@pytest.fixture
def bm25(example: Any) -> Run:
    return Run.objects.get(name="bm25")


def test_no_run_says_how_to_begin(collection: Any, client_of: Any, engineer: Any, at: Any) -> None:
    assert b"Add what your systems answer" in client_of(engineer).get(at("runs", collection)).content


def test_the_list_has_health_and_overlap(example: Any, client_of: Any, engineer: Any, at: Any) -> None:
    page = client_of(engineer).get(at("runs", example)).content.decode()
    assert "2 runs" in page
    assert '<td data-level="1">0.33</td>' in page
    assert page.count('role="img"') == 1


def test_one_run_has_nothing_to_be_compared_with(
    collection: Any, store: Any, client_of: Any, lead: Any, at: Any
) -> None:
    store(collection, "runs", BM25, "bm25.run")
    page = client_of(lead).get(at("runs", collection)).content.decode()
    assert "How alike they are" not in page


def test_the_list_sorts_and_downloads(example: Any, client_of: Any, engineer: Any, at: Any) -> None:
    answer = client_of(engineer).get(at("runs", example), {"sort": "-run", "format": "csv"})
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[0].startswith("run,unjudged,rows")
    assert [line.split(",")[0] for line in lines[1:]] == ["neural", "bm25"]


def test_a_run_shows_what_it_leaves_out(bm25: Run, client_of: Any, engineer: Any, at: Any) -> None:
    page = client_of(engineer).get(at("run", bm25.collection, bm25)).content.decode()
    assert "It leaves out 1 of the collection’s queries" in page


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


def test_the_file_comes_back_as_it_came(bm25: Run, client_of: Any, engineer: Any, at: Any) -> None:
    answer = client_of(engineer).get(at("run_file", bm25.collection, bm25))
    assert b"".join(answer.streaming_content) == BM25
    assert 'filename="bm25.run"' in answer.headers["Content-Disposition"]


def test_a_rename(bm25: Run, client_of: Any, engineer: Any, at: Any) -> None:
    client_of(engineer).post(at("run", bm25.collection, bm25), {"name": "prod"})
    assert Run.objects.filter(pk=bm25.pk, name="prod").exists()


def test_a_taken_name_is_a_conflict_and_the_form_keeps_it(bm25: Run, client_of: Any, engineer: Any, at: Any) -> None:
    answer = client_of(engineer).post(at("run", bm25.collection, bm25), {"name": "neural"})
    assert answer.status_code == 409
    assert 'value="neural"' in answer.content.decode()
    assert "<h1>bm25</h1>" in answer.content.decode()


def test_a_rater_sees_no_run(bm25: Run, client_of: Any, rater: Any, at: Any) -> None:
    client = client_of(rater)
    pages = [at("runs", bm25.collection), at("run", bm25.collection, bm25), at("run_file", bm25.collection, bm25)]
    assert [client.get(page).status_code for page in pages] == [403, 403, 403]
