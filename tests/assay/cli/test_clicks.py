"""Tests of ``assay clicks``: labels by formula, and errors."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from tests.assay.conftest import FILES, Call


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_labels_with_intervals_and_what_was_counted(assay: Call) -> None:
    status, out, err = assay("clicks", "clicks.csv")
    assert status == 0
    rows = rows_of(out)
    # (clicks + 5) / (expected + 5), with 0.3 and 0.1 expected clicks per impression.
    worked = {"d1": 25 / 35, "d2": 10 / 15, "d3": 30 / 20, "d4": 15 / 10}
    assert {row["doc_id"]: float(row["label"]) for row in rows} == pytest.approx(worked)
    assert all(float(row["low"]) < float(row["label"]) < float(row["high"]) for row in rows)
    assert (rows[0]["query_id"], rows[0]["query"], rows[0]["impressions"]) == ("", "Rain Jacket", "100")
    assert "300 impressions, 60 clicks (20.0%), 2 queries" in err
    assert "by rank: 1: 0.300, 2: 0.100" in err
    status, out, _ = assay("clicks", "clicks.csv", "--model", "ctr", "--strength", "10", "--baseline", "0.5,0.2")
    assert [float(row["label"]) for row in rows_of(out)] == pytest.approx([22 / 110, 7 / 110, 27 / 60, 12 / 60])
    assert [float(row["expected"]) for row in rows_of(out)] == pytest.approx([50, 20, 25, 10])


def test_qrels_by_the_ids_of_a_file(assay: Call) -> None:
    status, out, err = assay("clicks", "clicks.csv", "--queries", "queries.csv", "--cuts", "0.7", "--to", "qrels")
    assert (status, out) == (0, "q1 2 d1 1\nq1 2 d2 0\n")
    assert "2 labels" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--to", "qrels"], "qrels contain whole grades"),
        (["--to", "qrels", "--cuts", "1"], "--to qrels needs query ids"),
        (["--cuts", "2,1"], "cuts are not in ascending order"),
        (["--baseline", "0.3"], "the log has the rank 2"),
        (["--baseline", "high"], "--baseline is 'high'"),
        (["--columns", "doc_id"], "--columns is 'doc_id'"),
        (["--least-impressions", "0"], "least_impressions is 0"),
        (["--model", "dbn"], "invalid choice"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(assay: Call, words: list[str], message: str) -> None:
    status, out, err = assay("clicks", "clicks.csv", *words)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_log_with_an_error_is_refused_with_its_line(assay: Call) -> None:
    Path("bad.csv").write_text(FILES["clicks.csv"] + "boots,d9,1,5,9\n")
    status, _, err = assay("clicks", "bad.csv")
    assert (status, "bad.csv:6" in err, "9 clicks on 5 impressions" in err) == (2, True, True)
    Path("other.csv").write_text("query,timestamp\nboots,2026-03-01T10:00:00Z\n")
    status, _, err = assay("clicks", "other.csv")
    assert (status, "doc_id" in err) == (2, True)
    assert assay("clicks", "nowhere.csv")[0] == 2


def test_ubi_and_gzip_and_robots(assay: Call) -> None:
    def event(action: str, number: int, client: str) -> str:
        place = {"object": {"object_id": f"d{number % 2}"}, "position": {"ordinal": number % 2}}
        who = {"query_id": f"s{number}", "client_id": client, "user_query": "boots of jo@example.org"}
        return json.dumps({"action_name": action, **who, "event_attributes": place})

    people = [event("impression", number, f"c{number}") for number in range(80)]
    people += [event("click", number, f"c{number}") for number in range(0, 80, 4)]
    robot = [event(action, 1000 + number, "robot") for number in range(60) for action in ("impression", "click")]
    Path("events.ndjson.gz").write_bytes(gzip.compress("\n".join([*people, *robot, ""]).encode()))
    status, out, err = assay("clicks", "events.ndjson.gz", "--model", "ctr", "--strength", "0.000001")
    assert status == 0
    assert {row["doc_id"]: round(float(row["label"]), 3) for row in rows_of(out)} == {"d0": 0.5, "d1": 0.0}
    assert {row["query"] for row in rows_of(out)} == {"boots of [e-mail]"}
    for message in (
        "left out 1 of 81 clients (1 with too many clicks), who had 60 impressions",
        "start at 0",
        "redacted parts: e-mail in 1",
    ):
        assert message in err
