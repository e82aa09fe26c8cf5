"""Tests of ``assay freshness``: baselines, signals and exit statuses."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay.core.content_hash import content_hash
from assay.formats import FORMATS
from assay.formats.document_hashes_csv import DocumentHash
from assay.formats.manifest import file_entry, write_zip

REPLY = Path(__file__).resolve().parents[1] / "staleness" / "rank_eval.json"
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
    from assay.formats.row_types import QueryRow

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


def signals_of(call, *words):
    status, out, err = call("freshness", *words, "--format", "json")
    assert status == 0, err
    return {one["signal"]: one for one in json.loads(out)["signals"]}


@pytest.mark.parametrize("baseline", ["bundle", "bundle.zip", "bundle/manifest.json"])
def test_a_bundle_is_the_baseline_whatever_it_is_packed_in(bundle, baseline):
    documents(
        "now.jsonl", [("d1", "One", "tents"), ("d2", "Two!", "tents"), ("d3", "Three", "tents"), ("x", "X", "boats")]
    )
    Path("log.csv").write_text("query,count\nRain  Jacket,30\nboat,30\ntent,40\n")
    signals = signals_of(
        bundle, "qrels.txt", "new.run", "--documents", "now.jsonl", "--baseline", baseline, "--log", "log.csv"
    )
    states = {name: one["state"] for name, one in signals.items()}
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
    assert signals["changed"]["detail"] == [{"doc_id": "d2"}]
    assert (signals["gone"]["now"], [one["doc_id"] for one in signals["gone"]["detail"]]) == (0.4, ["d4", "d5"])
    assert signals["tiers"]["now"] == 1.0  # in this log rain jacket is torso, and tent is head
    assert int(signals["age"]["now"]) == 200


def test_older_documents_are_a_baseline_too(assay):
    documents("old.jsonl", DOCUMENTS)
    documents("now.jsonl", [*DOCUMENTS, ("d5", "Five", "tents")])
    signals = signals_of(assay, "qrels.txt", "--documents", "now.jsonl", "--baseline", "old.jsonl")
    assert (signals["growth"]["now"], signals["growth"]["state"]) == (0.25, "stale")
    assert (signals["changed"]["state"], signals["gone"]["state"]) == ("fresh", "fresh")
    assert signals["unjudged"]["reason"] == "there is no run to check"


def test_without_a_baseline_only_what_needs_none_is_known(assay):
    signals = signals_of(assay, "qrels.txt", "new.run")
    known = [name for name, one in signals.items() if one["state"] != "unknown"]
    assert known == ["unjudged", "schema", "embedding"]
    assert signals["growth"]["reason"].startswith("no current documents were given")


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
    assert "next steps:" in out
    assert "Judge unjudged documents (unjudged)" in out
    assert "rerate 20% (schema)" in out
    assert "growth: unknown; no current documents were given" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["qrels.txt"], "add a RUN, --documents, --log or --unrated"),
        (["qrels.txt", "--log", "qrels.txt"], "--log needs --baseline"),
        (["qrels.txt", "--changed", "weather"], "use one of schema"),
        (["qrels.txt", "--changed", "category"], "needs a name"),
        (["qrels.txt", "--documents", "none.jsonl"], "none.jsonl: the file does not exist"),
        (["qrels.txt", "new.run", "--baseline", "none"], "none: the file does not exist"),
        (["qrels.txt", "--unrated", "qrels.txt"], "qrels.txt: is not JSON"),
        (["qrels.txt", "new.run", "--baseline", "bad.json"], "baseline"),
    ],
)
def test_an_error_is_one_line(assay, words, message):
    Path("bad.json").write_text('{"assay_manifest": 1, "files": [], "baseline": {"documents": {"count": 4}}}')
    status, _, err = assay("freshness", *words)
    assert (status, len(err.splitlines())) == (2, 1)
    assert message in err
