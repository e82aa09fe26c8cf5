"""Tests of ``assay fetch`` against a real engine: results, interruptions, errors and secrets."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.assay.conftest import Call
from tests.assay.connectors.bad_engine import SECRET, BadEngine

REPOSITORY = Path(__file__).resolve().parents[3]
SHOP = [("d1", "Rain jacket", "Keeps you dry."), ("d2", "Jacket", "Warm."), ("d 3", "Tent", "Sleeps two.")]
QUERIES = "query_id,query\nq1,jacket\nq2,tent\nq3,stove\n"


def shop(path: str = "shop.db") -> tuple[str, ...]:
    with sqlite3.connect(path) as database:
        database.execute("CREATE VIRTUAL TABLE docs USING fts5(doc_id UNINDEXED, title, text)")
        database.executemany("INSERT INTO docs VALUES (?, ?, ?)", SHOP)
    database.close()
    Path("queries.csv").write_text(QUERIES)
    return ("fetch", "queries.csv", "--engine", "sqlite-fts5", "--set", f"path={path}", "--set", "table=docs")


def json_http(engine: BadEngine, word: str, *queries: str) -> tuple[str, ...]:
    Path("queries.csv").write_text("query_id,query\n" + "".join(f"q{n},{text}\n" for n, text in enumerate(queries, 1)))
    return ("fetch", "queries.csv", "--engine", "json-http", "--set", f"address={engine.at(word)}")


def test_a_run_and_its_documents(assay: Call) -> None:
    status, out, err = assay(*shop(), "--name", "fts", "--out", "fts.run", "--documents-out", "documents.jsonl")
    assert (status, out) == (0, "")
    assert "fts: 3 of 3 queries answered, 3 results; queries without documents: 1\n" in err
    lines = [line.split(" ") for line in Path("fts.run").read_text().splitlines()]
    # Of two documents with the word once in the title, bm25 puts the shorter one first.
    assert [(line[0], line[2], line[3], line[5]) for line in lines] == [
        ("q1", "d2", "1", "fts"),
        ("q1", "d1", "2", "fts"),
        ("q2", "d%203", "1", "fts"),
    ]
    documents = [json.loads(line) for line in Path("documents.jsonl").read_text().splitlines()]
    assert {(one["doc_id"], one["title"], one["text"]) for one in documents} == {("d%203", *SHOP[2][1:]), *SHOP[:2]}
    assert [assay("validate", name, "--strict")[0] for name in ("fts.run", "documents.jsonl")] == [0, 0]


def test_the_engines_order_survives_ties_and_repeats(assay: Call, bad_engine: BadEngine) -> None:
    status, _, err = assay(*json_http(bad_engine, "repeats", "tent"), "--out", "a.run")
    assert (status, [line.split()[2] for line in Path("a.run").read_text().splitlines()]) == (0, ["d1", "d2", "d3"])
    assert "duplicate documents left out: 2" in err


def test_a_failed_query_costs_no_other(assay: Call, bad_engine: BadEngine) -> None:
    status, out, err = assay(*json_http(bad_engine, "some", "tent", "bad", "rope"), "--depth", "2")
    assert status == 1
    assert [line.split()[0] for line in out.splitlines()] == ["q1", "q1", "q3", "q3"]
    assert "json-http: 2 of 3 queries answered, 4 results; queries without an answer: 1" in err
    assert "no answer for q2:" in err
    assert "unknown field [titel]" in err


def test_documents_that_cannot_be_written_are_reported_and_skipped(assay: Call, bad_engine: BadEngine) -> None:
    """JSON can hold half of a character, UTF-8 cannot."""
    words = json_http(bad_engine, "odd", "tent")
    bad_engine.replies["/odd"] = {"hits": [{"id": "d1", "title": "Tent"}, {"id": "d2", "title": "half \ud800"}]}
    status, out, err = assay(*words, "--documents-out", "documents.jsonl")
    assert (status, [line.split()[2] for line in out.splitlines()]) == (0, ["d1", "d2"])
    assert [json.loads(line)["doc_id"] for line in Path("documents.jsonl").read_text().splitlines()] == ["d1"]
    assert "1 document was left out; the first is 'd2'" in err
    bad_engine.replies["/odd"] = {"hits": [{"id": "half \ud800"}]}
    status, out, err = assay(*words)
    assert (status, out) == (1, "")
    assert "U+D800" in err


def test_an_engine_that_gives_up_leaves_what_it_answered(assay: Call, bad_engine: BadEngine) -> None:
    bad_engine.patience = 2
    words = json_http(bad_engine, "tired", *"abcdefghijkl")
    status, out, err = assay(*words, "--concurrency", "1", "--depth", "1")
    assert (status, [line.split()[0] for line in out.splitlines()]) == (1, ["q1", "q2"])
    assert "queries without an answer: 5; queries not sent: 5" in err
    assert "stopped: 5 queries in a row got no answer" in err


def test_an_interrupted_fetch_resumes_with_the_same_result(assay: Call, bad_engine: BadEngine) -> None:
    words = json_http(bad_engine, "tired", *"abcdefghijkl")
    words = (*words, "--concurrency", "1", "--depth", "2", "--name", "odd name")
    files = ("--out", "a.run", "--documents-out", "a.jsonl", "--resume")
    # Ids that a run cannot carry as they are come back as what they were.
    Path("queries.csv").write_text("query_id,query\n" + "".join(f"q {n}%,word {n}\n" for n in range(12)))
    bad_engine.patience = 2
    assert assay(*words, *files)[0] == 1
    assert len(Path("a.run").read_text().splitlines()) == 4
    bad_engine.patience, bad_engine.seen["tired"] = 10**6, 0
    status, _, err = assay(*words, *files)
    assert (status, bad_engine.seen["tired"]) == (0, 10)
    assert "10 of 10 queries answered, 20 results; " in err
    assert err.endswith("; 2 were already answered\n")
    assert assay(*words, "--out", "whole.run", "--documents-out", "whole.jsonl")[0] == 0
    for kind in ("run", "jsonl"):
        assert Path(f"a.{kind}").read_bytes() == Path(f"whole.{kind}").read_bytes()
    # All is there: nobody is asked, and nothing is written.
    status, _, err = assay(*words, *files)
    assert (status, bad_engine.seen["tired"]) == (0, 22)
    assert "12 queries already answered; nothing to do" in err
    for more, message in (
        (("--resume",), "--resume needs --out FILE"),
        ((*files, "--name", "other"), "contains the run odd-name, not other"),
        ((*files, "--depth", "1"), "more than --depth 1"),
        (("--out", "a.run", "--documents-out", "b.jsonl", "--resume"), "b.jsonl: does not exist, although a.run does"),
    ):
        status, _, err = assay(*words, *more)
        assert (status, message in err, len(err.splitlines())) == (2, True, 1), err
    Path("queries.csv").write_text("query_id,query\nother,a\n")
    assert "which is not in QUERIES" in assay(*words, *files)[2]


@pytest.mark.parametrize("word", ["elsewhere", "locked", "refuses"])
def test_nothing_came_and_nothing_is_written(assay: Call, bad_engine: BadEngine, word: str) -> None:
    """A redirect to another host stays refused, although the person at the keyboard named the first one."""
    status, out, err = assay(*json_http(bad_engine, word, "tent"), "--out", "a.run")
    assert (status, out, Path("a.run").exists()) == (1, "", False)
    assert "nothing written" in err
    assert bad_engine.seen[word] == 1


def test_a_secret_comes_from_the_environment_and_is_never_printed(
    assay: Call, bad_engine: BadEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", SECRET)
    words = json_http(bad_engine, "locked", "tent")
    assert assay(*words, "--secret", "secret=SHOP_KEY")[0] == 0
    monkeypatch.setenv("SHOP_KEY", f"{SECRET}-old")
    for more in (
        ("--secret", "secret=SHOP_KEY"),
        ("--set", f"secret={SECRET}"),
        ("--secret", f"secret={SECRET}"),
        ("--secret", SECRET),
        ("--set", SECRET),
    ):
        status, out, err = assay(*words, *more)
        assert (status, out) == (1 if more[-1] == "secret=SHOP_KEY" else 2, "")
        assert SECRET not in err


def test_without_a_terminal_there_is_no_prompt_and_django_is_not_needed(assay: Call) -> None:
    code = "import sys\nfrom assay.cli import main\nstatus = main(sys.argv[1:])\nassert 'django' not in sys.modules\n"
    prompting = (
        "fetch",
        "queries.csv",
        "--engine",
        "json-http",
        "--set",
        "address=http://127.0.0.1:9",
        "--secret",
        "secret",
    )
    for words, status, message in ((prompting, 2, "no terminal"), (shop(), 0, "3 results")):
        done = subprocess.run(
            [sys.executable, "-c", f"{code}sys.exit(status)", *words],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )
        assert done.returncode == status, done.stderr
        assert message in done.stderr


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--engine", "lucene"), "lucene"),
        (("--set", "table=docs"), "path is missing"),
        (("--set", "index=x"), "Unknown setting 'index'"),
        (("--set", "path=none.db", "--set", "table=docs"), "the file none.db does not exist"),
        (("--set", "path=shop.db", "--set", "table=docs", "--depth", "0"), "depths from 1 to 1,000"),
        (("--set", "path=shop.db", "--set", "table=docs", "--concurrency", "0"), "use 1 to 16"),
        (("--set", "path=shop.db", "--set", "table=docs", "--timeout", "nan"), "--timeout"),
        (("--set", "path=shop.db", "--set", "table=docs", "--out", "no/a.run"), "no/a.run"),
        (("--set", "path=shop.db", "--set", "table=docs", "--documents-out", "-"), "the same"),
        (("--set", "path=shop.db", "--set", "table=docs", "--secret", "secret=HOME"), "secrets of sqlite-fts5: none"),
        (("--engine", "json-http", "--set", "address=shop"), "is not an address"),
        (("--engine", "json-http"), "address is missing"),
    ],
)
def test_mistakes_end_with_2_and_one_line(assay: Call, more: tuple[str, ...], message: str) -> None:
    shop()
    status, out, err = assay("fetch", "queries.csv", "--engine", "sqlite-fts5", *more)
    assert (status, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
