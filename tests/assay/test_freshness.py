"""Does the command read what the server froze, tell the same signals, and end as the caller asks?"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judgments.core.content_hash import content_hash
from judgments.formats import FORMATS
from judgments.formats.bundles import write_zip
from judgments.formats.document_hashes_csv import DocumentHash
from judgments.formats.manifest import file_entry

REPLY = Path(__file__).resolve().parents[1] / "evaluation" / "staleness" / "rank_eval.json"
DOCUMENTS = [("d1", "One", "tents"), ("d2", "Two", "tents"), ("d3", "Three", "tents"), ("d4", "Four", "tents")]


def documents(path, rows):
    lines = [json.dumps({"doc_id": doc, "title": title, "fields": {"category": kind}}) for doc, title, kind in rows]
    Path(path).write_text("\n".join(lines) + "\n")


def written(format, rows):
    import io

    stream = io.BytesIO()
    FORMATS[format].write(rows, stream)
    return stream.getvalue()


@pytest.fixture
def bundle(assay):
    """A bundle as the server writes it, of labels that are 200 days old."""
    from judgments.formats.rows import QueryRow

    hashes = [DocumentHash(doc, content_hash(title, "", "", "", {"category": kind})) for doc, title, kind in DOCUMENTS]
    queries = [
        QueryRow("q1", "rain jacket", tier="head", frequency=60),
        QueryRow("q2", "tent", tier="tail", frequency=1),
    ]
    files = {
        "document-hashes.csv": written("document-hashes-csv", hashes),
        "queries.csv": written("queries-csv", queries),
    }
    frozen = (datetime.now(UTC) - timedelta(days=200)).strftime("%Y-%m-%dT%H:%M:%SZ")
    manifest = {
        "assay_manifest": 1,
        "files": [file_entry(name, name.split(".")[0] + "-csv", 1, body) for name, body in files.items()],
        "list": {"name": "one", "frozen_at": frozen},
        "baseline": {
            "documents": {
                "count": 4,
                "fields": {"category": {"field": "category", "total": 4, "distinct": 1, "values": {"tents": 4}}},
            },
            "runs": {"depth": 10, "runs": []},
            "traffic": {"log_sha256": "a", "curve": [[0, 0.0], [1, 0.6], [10, 1.0]], "covered": 0.61},
        },
    }
    files["manifest.json"] = json.dumps(manifest).encode()
    Path("bundle").mkdir()
    for name, body in files.items():
        (Path("bundle") / name).write_bytes(body)
    with Path("bundle.zip").open("wb") as stream:
        write_zip(files, stream)
    return assay


def told(call, *words):
    status, out, err = call("freshness", *words, "--format", "json")
    assert status == 0, err
    return {one["signal"]: one for one in json.loads(out)["signals"]}


@pytest.mark.parametrize("baseline", ["bundle", "bundle.zip", "bundle/manifest.json"])
def test_a_bundle_is_the_baseline_whatever_it_is_packed_in(bundle, baseline):
    documents(
        "now.jsonl", [("d1", "One", "tents"), ("d2", "Two!", "tents"), ("d3", "Three", "tents"), ("x", "X", "boats")]
    )
    Path("log.csv").write_text("query,count\nRain  Jacket,30\nboat,30\ntent,40\n")
    found = told(bundle, "qrels.txt", "new.run", "--documents", "now.jsonl", "--baseline", baseline, "--log", "log.csv")
    states = {name: one["state"] for name, one in found.items()}
    assert states == {
        "unjudged": "stale",
        "growth": "fresh",
        "changed": "stale",
        "gone": "stale",
        "schema": "fresh",
        "embedding": "fresh",
        "category": "stale",
        "language": "unknown",
        "age": "warn",
        "curve": "stale",
        "coverage": "fresh",
        "tiers": "stale",
    }
    assert found["changed"]["detail"] == [{"doc_id": "d2"}]
    assert (found["gone"]["now"], [one["doc_id"] for one in found["gone"]["detail"]]) == (0.4, ["d4", "d5"])
    assert found["tiers"]["now"] == 1.0  # in this log rain jacket is torso, and tent is head
    assert int(found["age"]["now"]) == 200


def test_older_documents_are_a_baseline_too(assay):
    documents("old.jsonl", DOCUMENTS)
    documents("now.jsonl", [*DOCUMENTS, ("d5", "Five", "tents")])
    found = told(assay, "qrels.txt", "--documents", "now.jsonl", "--baseline", "old.jsonl")
    assert (found["growth"]["now"], found["growth"]["state"]) == (0.25, "stale")
    assert (found["changed"]["state"], found["gone"]["state"]) == ("fresh", "fresh")
    assert found["unjudged"]["reason"] == "there is no run to look at"


def test_without_a_baseline_only_what_needs_none_is_known(assay):
    found = told(assay, "qrels.txt", "new.run")
    known = [name for name, one in found.items() if one["state"] != "unknown"]
    assert known == ["unjudged", "schema", "embedding"]
    assert found["growth"]["reason"].startswith("no documents of today were given")


def test_unrated_documents_of_an_engine_are_holes(assay):
    status, out, _ = assay("freshness", "qrels.txt", "--unrated", str(REPLY), "--format", "json")
    (run,) = json.loads(out)["runs"]
    # d3 is unrated there and judged here: only queries and documents of the labels count.
    assert (status, run["name"], run["holes"], run["queries"]) == (0, "rank_eval", 0, 1)


@pytest.mark.parametrize(
    ("more", "status"),
    [([], 0), (["--fail-on", "warn"], 1), (["--fail-on", "stale"], 1), (["--changed", "embedding"], 0)],
)
def test_it_ends_with_1_only_where_the_caller_asks(assay, more, status):
    assert assay("freshness", "qrels.txt", "new.run", *more)[0] == status


def test_the_table_says_what_to_do(assay):
    _, out, _ = assay("freshness", "qrels.txt", "new.run", "--changed", "schema=stemmer")
    assert "what to do:" in out
    assert "Judge the holes (unjudged)" in out
    assert "Pool again, re-rate 20 % (schema)" in out
    assert "growth: not known; no documents of today were given" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["qrels.txt"], "nothing to compare"),
        (["qrels.txt", "--log", "qrels.txt"], "name its manifest"),
        (["qrels.txt", "--changed", "weather"], "is none of schema"),
        (["qrels.txt", "--changed", "category"], "needs its name"),
        (["qrels.txt", "--documents", "none.jsonl"], "none.jsonl: there is no such file"),
        (["qrels.txt", "new.run", "--baseline", "none"], "none: there is no such file"),
        (["qrels.txt", "--unrated", "qrels.txt"], "qrels.txt: is no JSON"),
        (["qrels.txt", "new.run", "--baseline", "bad.json"], "baseline"),
    ],
)
def test_a_mistake_is_told_in_one_line(assay, words, said):
    Path("bad.json").write_text('{"assay_manifest": 1, "files": [], "baseline": {"documents": {"count": 4}}}')
    status, _, err = assay("freshness", *words)
    assert (status, len(err.splitlines())) == (2, 1)
    assert said in err
