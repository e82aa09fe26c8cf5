"""Tests of ``assay stratum``: weights of the added queries, and errors."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from assay.cli import main

LOG = "query,count\nrain jacket,50\ntent,20\nred tent,10\nrope,8\nmug,6\ntent pegs,6\n"
QUERIES = (
    "query_id,query,tier,frequency,probability,weight\n"
    "q001,rain jacket,head,50,1.0,0.5\nq002,tent,torso,20,0.5,0.2\nq003,mug,tail,6,0.25,0.06\n"
)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text(LOG, encoding="utf-8")
    Path("queries.csv").write_text(QUERIES, encoding="utf-8")


def stratum(*more: str) -> tuple[int, dict[str, dict[str, str]]]:
    status = main(["stratum", "queries.csv", "log.csv", "--seed", "1", "--out", "all.csv", *more])
    rows = csv.DictReader(Path("all.csv").read_text(encoding="utf-8").splitlines()) if status == 0 else []
    return status, {row["query"]: row for row in rows}


def test_a_part_of_the_log_is_counted_and_takes_over_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    """Tents are 36 of 100 searches: tent 20, red tent 10, tent pegs 6; the rest of the log keeps 64."""
    status, rows = stratum("--name", "tents", "--words", "tent", "--part-of", "first", "--head", "9", "--tail", "9")
    assert status == 0
    shares = {row["stratum"]: float(row["share"]) for row in rows.values()}
    assert shares == pytest.approx({"first": 0.64, "tents": 0.36})
    old = {name: rows["rain jacket"][name] for name in ("query_id", "tier", "probability", "weight")}
    assert old == {"query_id": "q001", "tier": "head", "probability": "1.0", "weight": "0.5"}
    assert (rows["tent"]["query_id"], rows["tent"]["stratum"], rows["tent"]["probability"]) == ("q002", "tents", "1.0")
    assert float(rows["tent"]["weight"]) == pytest.approx(20 / 36)
    # Red tent is the stratum's torso, of which none was asked.
    assert set(rows) == {"rain jacket", "tent", "mug", "tent pegs"}
    assert rows["tent pegs"]["query_id"].endswith("-001")
    assert "tents: 0.36 of the traffic, 1 new query and 1 known query" in capsys.readouterr().err


def test_new_traffic_gives_a_query_a_second_row() -> None:
    _, rows = stratum("--name", "de", "--share", "0.2", "--head", "9", "--torso", "9", "--tail", "9", "--first", "en")
    assert (rows["tent"]["stratum"], rows["tent"]["probability"], rows["tent"]["weight"]) == ("en", "0.5", "0.2")
    assert rows["tent"]["also"] == "de|0.2|torso|1.0|0.2"
    assert rows["rope"]["stratum"] == "de"
    Path("queries.csv").write_text(Path("all.csv").read_text(encoding="utf-8"), encoding="utf-8")
    _, rows = stratum("--name", "fr", "--share", "0.5", "--head", "1")
    assert rows["tent"]["also"].startswith("de|0.1|")
    assert rows["rain jacket"]["also"].split(";")[1].startswith("fr|0.5|head|1.0|")
    assert float(rows["tent"]["share"]) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--name", "tents", "--words", "tent", "--head", "1"], "--share is missing"),
        (["--name", "boats", "--words", "boat", "--share", "0.1", "--head", "1"], "no query belongs to boats"),
        (["--name", "a|b", "--share", "0.1", "--head", "1"], "must not contain | or ;"),
        (["--name", "first", "--share", "0.1", "--head", "1"], "already"),
        (["--name", "x", "--share", "1.5", "--head", "1"], "between 0 and 1"),
        (["--name", "x", "--share", "0.1", "--part-of", "no", "--head", "1"], "Unknown stratum 'no'"),
        (["--name", "x", "--share", "0.1"], "All sizes are 0"),
        (["--name", "x", "--share", "0.1", "--only", "none.txt", "--head", "1"], "none.txt"),
    ],
)
def test_a_stratum_that_cannot_be_added_is_one_line(
    more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert stratum(*more)[0] == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
