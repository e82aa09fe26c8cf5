"""Tests of ``assay sample``."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main

HEADER = "query_id,query,tier,frequency,clients,probability,weight"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    lines = ["query,timestamp,client_id"]
    for rank in range(1, 41):
        count = 1 + 80 // rank
        lines += [f"Query {rank},2026-03-{1 + n % 28:02}T10:00:00Z,c{n}" for n in range(count)]
    Path("log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "log.csv"


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_a_stratified_sample_has_the_columns_of_queries_csv(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", log, "--head", "2", "--torso", "3", "--tail", "4", "--seed", "1"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == HEADER
    assert [row["tier"] for row in rows_of(out)] == ["head"] * 2 + ["torso"] * 3 + ["tail"] * 4
    assert rows_of(out)[0]["query_id"].endswith("-001")
    assert all(0 < float(row["probability"]) <= 1 for row in rows_of(out))
    assert "head:" in err


def test_the_seed_gives_the_same_file_again(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    outs = []
    for seed in ("1", "1", "2"):
        main(["sample", log, "--tail", "5", "--seed", seed])
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1] != outs[2]


def test_pps_gives_constant_ratios_of_weight_and_probability(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", log, "--method", "pps", "--n", "8"]) == 0
    rows = rows_of(capsys.readouterr().out)
    uncertain = [float(row["weight"]) / float(row["probability"]) for row in rows if row["probability"] != "1.0"]
    assert len(rows) == 8
    assert uncertain == pytest.approx([uncertain[0]] * len(uncertain))


def test_raw_rows_name_no_client(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", log, "--head", "1", "--raw-out", "raw.csv"]) == 0
    (row,) = rows_of(Path("raw.csv").read_text(encoding="utf-8"))
    (drawn,) = rows_of(capsys.readouterr().out)
    assert (row["query_id"], row["query"]) == (drawn["query_id"], drawn["query"])
    assert "client_id" not in row
    assert Path(log).read_text(encoding="utf-8").splitlines()[int(row["line"]) - 1].startswith(row["query"])


def test_a_counted_log_with_other_column_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("term,searches\ntent,5\nrope,3\nknot,2\n", encoding="utf-8")
    words = [
        "sample",
        str(path),
        "--columns",
        "query=term,count=searches",
        "--head",
        "1",
        "--torso",
        "1",
        "--tail",
        "1",
    ]
    assert main(words) == 0
    rows = rows_of(capsys.readouterr().out)
    assert [(row["query"], row["tier"], row["frequency"], row["clients"]) for row in rows] == [
        ("tent", "head", "5", ""),
        ("rope", "torso", "3", ""),
        ("knot", "tail", "2", ""),
    ]
    assert rows[0]["weight"] == "0.5"


def test_rows_with_an_unknown_column_count_one_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    log.write_text("query,visits\ntent,12\nboots,3\n", encoding="utf-8")
    assert main(["sample", str(log), "--head", "1"]) == 2
    assert "--single-counts" in capsys.readouterr().err
    assert main(["sample", str(log), "--head", "1", "--single-counts"]) == 0
    assert "each row counts as one search; name a column" in capsys.readouterr().err
    assert main(["sample", str(log), "--head", "1", "--column", "count=visits"]) == 0
    assert "counts as one" not in capsys.readouterr().err


def test_a_list_of_queries_is_no_log_and_keeps_its_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Read as a log, it would lose its ids and counts, and runs would attach to other queries."""
    queries = tmp_path / "queries.csv"
    queries.write_text("query_id,query,count_generated\ns9,tent,12\ns3,boots,3\n", encoding="utf-8")
    assert main(["sample", str(queries), "--head", "2"]) == 2
    assert "list of queries" in capsys.readouterr().err
    assert main(["sample", str(queries), "--columns", "count=count_generated", "--head", "1", "--tail", "1"]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert {(row["query_id"], row["query"], row["frequency"]) for row in rows} == {
        ("s9", "tent", "12"),
        ("s3", "boots", "3"),
    }


def test_a_jsonl_log_is_known_by_its_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "counts.jsonl"
    path.write_text('{"query": "tent", "count": 5}\n', encoding="utf-8")
    assert main(["sample", str(path), "--head", "1"]) == 0
    assert rows_of(capsys.readouterr().out)[0]["query"] == "tent"


def test_a_ubi_log_is_known_by_its_content(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ubi.ndjson"
    query = '{"query_id": "1", "client_id": "c1", "user_query": "tent", "timestamp": "2026-03-02T09:14:07Z"}'
    path.write_text(f'{{"index": {{"_index": "ubi_queries"}}}}\n{query}\n' * 2, encoding="utf-8")
    assert main(["sample", str(path), "--head", "1", "--raw-out", str(tmp_path / "raw.csv")]) == 0
    (row,) = rows_of(capsys.readouterr().out)
    assert (row["query"], row["frequency"], row["clients"]) == ("tent", "2", "1")
    (raw,) = rows_of((tmp_path / "raw.csv").read_text(encoding="utf-8"))
    assert (raw["line"], raw["timestamp"]) == ("2", "2026-03-02T09:14:07Z")
    assert main(["sample", str(path), "--head", "1", "--columns", "query=term"]) == 2
    assert "fixed columns" in capsys.readouterr().err


def test_queries_of_few_clients_are_reported_and_can_be_left_out(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["sample", log, "--tail", "100"])
    out, err = capsys.readouterr()
    assert "fewer than 5 clients" in err
    assert "fewer than requested: tail" in err
    main(["sample", log, "--tail", "100", "--min-clients", "5"])
    few, err = capsys.readouterr()
    assert len(rows_of(few)) < len(rows_of(out))
    assert "left out:" in err


def test_the_sample_says_what_it_can_show(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exact power of the paired t test, as tables have it: sd .15 and a difference of .03 take 199 queries."""
    assert main(["sample", log, "--method", "pps", "--n", "20", "--detect", "0.03", "--sd", "0.15"]) == 0
    err = capsys.readouterr().err
    assert "equally weighted queries" in err
    assert "a difference of 0.03: needs 199 such queries" in err


def test_likely_doubles_are_written_for_a_person(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, groups = tmp_path / "counts.csv", tmp_path / "groups.csv"
    path.write_text("query,count\nred tent,5\ntent red,2\nrope,9\n", encoding="utf-8")
    assert main(["sample", str(path), "--head", "1", "--groups-out", str(groups)]) == 0
    assert [(row["group"], row["query"], row["reason"]) for row in rows_of(groups.read_text(encoding="utf-8"))] == [
        ("g001", "red tent", ""),
        ("g001", "tent red", "the same words"),
    ]


def test_a_sample_can_be_read_again(log: str) -> None:
    from assay.formats import FORMATS

    main(["sample", log, "--head", "2", "--tail", "2", "--out", "queries.csv"])
    read = FORMATS["queries-csv"].read(Path("queries.csv"), path="queries.csv")
    assert read.report.ok
    assert [row.tier for row in read.rows] == ["head", "head", "tail", "tail"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["log.csv"], "--head N"),
        (["log.csv", "--n", "3"], "--method stratified"),
        (["log.csv", "--method", "pps"], "--n N"),
        (["log.csv", "--head", "0"], "All sizes are 0"),
        (["log.csv", "--head", "1", "--head-share", "0.9"], "head share"),
        (["log.csv", "--head", "1", "--window-days", "0"], "window"),
        (["log.csv", "--head", "1", "--min-clients", "9999"], "no queries are left"),
        (["log.csv", "--head", "1", "--columns", "query"], "NAME=COLUMN"),
        (["log.csv", "--head", "1", "--detect", "0"], "--detect"),
        (["log.csv", "--head", "1", "--sd", "-1"], "--sd"),
        (["none.csv", "--head", "1"], "none.csv"),
        (["bare.csv", "--head", "1"], "bare.csv"),
    ],
)
def test_an_error_is_one_line(log: str, capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    Path("bare.csv").write_text("tent,5\nrope,3\n", encoding="utf-8")
    assert main(["sample", *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_tiers_end_at_the_requested_ranks(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["--head", "3", "--torso", "3", "--tail", "3", "--head-ranks", "3", "--torso-ranks", "10"]
    assert main(["sample", log, *command]) == 0
    out, err = capsys.readouterr()
    assert "head: 3 queries" in err
    assert "torso: 7 queries" in err
    assert "tail: 30 queries" in err
    assert [row["query"] for row in rows_of(out)[:3]] == ["Query 1", "Query 2", "Query 3"]


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        (["--head-ranks", "500"], "rank at which the torso ends is missing"),
        (["--head-ranks", "9", "--torso-ranks", "5"], "0 < head <= torso"),
    ],
)
def test_ranks_that_cannot_be_are_refused(
    log: str, ranks: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sample", log, "--head", "3", *ranks]) == 2
    assert message in capsys.readouterr().err


def test_one_language_of_a_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text("term,sprache\nZelt,de\nZelt,de-AT\ntent,en\n", encoding="utf-8")
    named = ["sample", "log.csv", "--columns", "query=term,language=sprache", "--head", "9", "--tail", "9"]
    assert main([*named, "--language", "de", "--raw-out", "raw.csv"]) == 0
    out, err = capsys.readouterr()
    assert [(row["query"], row["frequency"]) for row in rows_of(out)] == [("Zelt", "2")]
    assert "2 searches in de for 1 query" in err
    assert "1 search in another language" in err
    assert [row["language"] for row in rows_of(Path("raw.csv").read_text(encoding="utf-8"))] == ["de"]
    assert main(named) == 0
    assert "languages: 'de', 'de-AT', 'en'" in capsys.readouterr().err
    assert main([*named, "--language", "fr"]) == 2
    assert "No search is in 'fr'. Languages in the log: 'de', 'de-AT', 'en'" in capsys.readouterr().err


def test_a_difference_comes_with_its_interval(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", log, "--method", "pps", "--n", "40", "--detect", "0.03"]) == 0
    err = capsys.readouterr().err
    # All 40 queries are drawn for certain: the worth is that of the log itself, 368^2 / 10916.
    assert "12 equally weighted queries" in err
    # t(.975; 11) = 2.201 (tables of Student's t), times .17 / sqrt(12).
    assert "95% interval of a difference is ±0.108" in err
    # (2.8 x .17 / .03)^2 = 252, and half of 1.96^2 more because t is used.
    assert "a difference of 0.03: needs 254 such queries" in err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("counts.csv", "query,count,clients\ntent,9,2\nrope,6,5\n"),
        ("counts.jsonl", '{"query": "tent", "count": 9, "clients": 2}\n{"query": "rope", "count": 6, "clients": 5}\n'),
    ],
)
def test_clients_of_a_counted_log_are_read(
    name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert main(["sample", str(path), "--method", "pps", "--n", "2", "--min-clients", "5"]) == 0
    (row,) = rows_of(capsys.readouterr().out)
    assert (row["query"], row["frequency"], row["clients"]) == ("rope", "6", "5")


def test_a_threshold_on_clients_is_refused_where_the_log_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("query,count\ntent,9\n", encoding="utf-8")
    assert main(["sample", str(path), "--head", "1", "--min-clients", "5"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "column client_id" in err


def test_drawn_queries_that_may_hold_an_address_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("query,count\njo AT host.example,9\njobs at host.example,8\ntent,7\n", encoding="utf-8")
    assert main(["sample", str(path), "--method", "pps", "--n", "3"]) == 0
    out, err = capsys.readouterr()
    assert {row["query"] for row in rows_of(out)} == {"[e-mail]", "jobs at host.example", "tent"}
    assert "email address: 'jobs at host.example'" in err
