"""Tests of ``assay rag``."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main

SAMPLES = [
    {"sample_id": f"s{n:02}", "query": "What is in the kit?", "reference_answer": "two seals",
     "relevant_docs": ["d1"], "labels": {"topic": "repair" if n % 2 else "care"}}
    for n in range(12)
]  # fmt: skip
GOOD = [{"sample_id": one["sample_id"], "retrieved": ["d1", "d2"], "response": "Two seals."} for one in SAMPLES]
POOR = [{"sample_id": one["sample_id"], "retrieved": ["d2", "d1"], "response": "two boots"} for one in SAMPLES]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, list[dict[str, Any]]], str]:
    def write(name: str, rows: list[dict[str, Any]]) -> str:
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(tmp_path / name)

    return write


@pytest.fixture
def files(write) -> tuple[str, str, str]:
    return write("samples.jsonl", SAMPLES), write("good.jsonl", GOOD[::-1]), write("poor.jsonl", POOR)


def as_json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["rag", *words, "--format", "json"]) == 0
    parsed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return parsed


def test_systems_are_measured_side_by_side(capsys, files) -> None:
    samples, good, poor = files
    words = ["-m", "TokenF1 recall@1", "--slice", "topic", "--baseline", "poor"]
    evaluation = as_json(capsys, samples, good, f"poor={poor}", *words)
    first, second = evaluation["systems"]
    assert [first["name"], second["name"]] == ["good", "poor"]
    assert first["metrics"]["TokenF1"]["value"] == 1.0
    assert second["metrics"]["TokenF1"] | {"details": 0} == {"value": 0.5, "low": 0.5, "high": 0.5, "details": 0}
    assert second["metrics"]["RecallAtK(k=1)"]["details"]["num_samples"] == 12
    assert {
        value: scores["TokenF1"]["details"]["num_samples"] for value, scores in second["slices"]["topic"].items()
    } == {
        "care": 6,
        "repair": 6,
    }
    (f1, _) = evaluation["comparisons"]
    assert (f1["a"], f1["b"], f1["difference"], f1["wins"]) == ("poor", "good", 0.5, 12)
    assert f1["p"] == pytest.approx(2 / 2**12)
    assert set(evaluation["files"]) == {"samples", "good", "poor"}
    assert "per_sample" not in first


def test_comparisons_take_the_tests_and_corrections_of_compare(capsys, files) -> None:
    words = [*files, "-m", "TokenF1 recall@1", "--compare"]
    plain = as_json(capsys, *words)["comparisons"][0]
    assert (plain["p"], plain["p_corrected"]) == (pytest.approx(2 / 2**12), pytest.approx(2 / 2**12))
    assert as_json(capsys, *words, "--correction", "none")["comparisons"][0]["p_corrected"] is None
    assert as_json(capsys, *words, "--test", "sign")["comparisons"][0]["p"] == pytest.approx(2 / 2**12)
    assert main(["rag", *words, "--test", "tukey", "--correction", "holm"]) == 2


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_a_comparison_says_once_why_it_has_no_interval(capsys, files, write, form) -> None:
    few = [write(f"few-{name}.jsonl", rows[:4]) for name, rows in (("s", SAMPLES), ("g", GOOD), ("p", POOR))]
    words = [*few, "-m", "TokenF1 recall@1", "--compare"]
    (reason,) = {one["reason"] for one in as_json(capsys, *words)["comparisons"]}
    assert "samples" in reason
    assert main(["rag", *words, "--format", form]) == 0
    assert capsys.readouterr().out.count(reason) == 1


def test_values_of_each_sample_are_printed_on_demand(capsys, files) -> None:
    samples, good, _ = files
    assert main(["rag", samples, good, "-m", "TokenF1", "--per-sample", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["sample_id"] for row in rows] == [one["sample_id"] for one in SAMPLES]
    assert {row["value"] for row in rows} == {"1.0"}
    evaluation = as_json(capsys, samples, good, "-m", "TokenF1", "--per-sample")
    assert evaluation["systems"][0]["per_sample"]["s00"] == {"TokenF1": 1.0}


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_unmeasured_values_are_not_zero(capsys, files, form) -> None:
    samples, good, _ = files
    assert main(["rag", samples, good, "-m", "MeanLatency", "--format", form]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if "MeanLatency" in line)
    assert "not measured" in line
    assert "0.0000" not in line


@pytest.mark.parametrize(("missing", "value", "number"), [("skip", 1.0, 11), ("zero", 11 / 12, 12)])
def test_missing_outputs_are_skipped_or_zero_on_request(capsys, files, write, missing, value, number) -> None:
    lacking = write("lacking.jsonl", GOOD[1:])
    evaluation = as_json(capsys, files[0], lacking, "-m", "TokenF1", "--missing", missing)
    score = evaluation["systems"][0]["metrics"]["TokenF1"]
    assert score["value"] == pytest.approx(value)
    assert score["details"]["num_samples"] == number
    assert evaluation["systems"][0]["missing"] == ["s00"]


def test_csv_reports_further_values_on_standard_error(capsys, files, write) -> None:
    lacking = write("lacking.jsonl", GOOD[1:])
    words = ["rag", files[0], files[1], lacking, "-m", "TokenF1", "--missing", "zero", "--baseline", "good"]
    assert main([*words, "--format", "csv"]) == 0
    printed = capsys.readouterr()
    assert len(list(csv.DictReader(io.StringIO(printed.out)))) == 2
    assert "lacking: counted 1 sample without an output as 0" in printed.err
    assert "--baseline" in printed.err
    assert main([*words[:-2], "--format", "json"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["-m", "TokenF2"], "TokenF1"),
        (["-m", "RecallAtK(k=0)"], "k is 0"),
        (["-m", "TokenF1("], "TokenF1("),
        (["--slice", "color"], "topic"),
        (["--baseline", "old"], "two systems"),
        (["--ci", "2"], "level"),
        (["-m", "LLMFaithfulnessScore"], "critic"),
    ],
)
def test_mistakes_are_reported_in_one_line(capsys, files, words, named) -> None:
    assert main(["rag", files[0], files[1], *words]) == 2
    message = capsys.readouterr().err
    assert named in message
    assert message.count("\n") == 1


def test_faults_in_files_name_file_and_line(capsys, files, write) -> None:
    odd = write("odd.jsonl", [GOOD[0], {"sample_id": "s01", "response": 5}, *GOOD[2:]])
    assert main(["rag", files[0], odd]) == 2
    assert "odd.jsonl:2" in capsys.readouterr().err
    twice = write("twice.jsonl", [*GOOD, {"sample_id": "s00", "response": "else"}])
    assert main(["rag", files[0], twice]) == 2
    assert "s00" in capsys.readouterr().err
    lacking = write("lacking.jsonl", GOOD[3:])
    assert main(["rag", files[0], lacking]) == 2
    assert "'s00', 's01', 's02'" in capsys.readouterr().err


def test_variants_of_nothing_are_noted_and_counted(capsys, write) -> None:
    labels = ({}, {"variant_of": "gone", "scenario": "typo"}, {"variant_of": "c", "scenario": "typo"})
    rows = [
        {"id": name, "question": "?", "ground_truth": "x", "labels": one}
        for name, one in zip("abc", labels, strict=True)
    ]
    outputs = write("o.jsonl", [{"id": name, "answer": "x"} for name in "abc"])
    evaluation = as_json(capsys, write("s.jsonl", rows), outputs, "-m", "NoiseRobustness(TokenF1)")
    details = evaluation["systems"][0]["metrics"]["NoiseRobustness(TokenF1)"]["details"]
    assert details["skipped"] == {"unknown_parent": 1, "circular_variant": 1}
    assert details["defined"] is False
    assert len(evaluation["notes"]) == 2


def gated(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    status = main(["gate", *words, "--format", "json"])
    return status, json.loads(capsys.readouterr().out)


def test_gate_takes_rag_metrics(capsys, files) -> None:
    samples, good, poor = files
    rules = ["--rule", "TokenF1 >= 0.9", "--rule", "drop(NoiseRobustness(RecallAtK(k=1))) <= 0.1"]
    rules += ["--rule", "drop(recall@1) <= 0.1 unless p >= 0.05"]
    status, verdicts = gated(capsys, "--samples", samples, "--baseline", poor, "--candidate", good, *rules)
    assert status == 1
    assert [rule["passed"] for rule in verdicts["rules"]] == [True, False, True]
    assert verdicts["rules"][1]["reason"]
    assert verdicts["rules"][2]["value"] == -1.0
    assert verdicts["samples"]["samples"] == 12
    status, verdicts = gated(capsys, "--samples", samples, "--baseline", good, "--candidate", poor, *rules[4:])
    assert status == 1
    assert verdicts["rules"][0]["p"] == pytest.approx(2 / 2**12)


@pytest.mark.parametrize("form", ["text", "junit", "markdown"])
def test_undefined_value_fails_a_rule(capsys, files, form) -> None:
    words = ["--samples", files[0], "--candidate", files[1], "--rule", "MeanLatency <= 2", "--format", form]
    assert main(["gate", *words]) == 1
    assert "undefined" in capsys.readouterr().out


def test_reasons_of_a_gate_are_about_samples(capsys, files, write) -> None:
    few = write("few.jsonl", SAMPLES[:4])
    outputs = [write(f"{name}.jsonl", rows[:4]) for name, rows in (("old", GOOD), ("new", POOR))]
    words = ["--samples", few, "--baseline", outputs[0], "--candidate", outputs[1]]
    _, evaluation = gated(capsys, *words, "--rule", "drop(recall@1) <= 0.1 unless p >= 0.05")
    assert "samples" in evaluation["rules"][0]["reason"]
    assert "queries" not in evaluation["rules"][0]["reason"]


def test_gate_takes_samples_or_qrels(capsys, files, write) -> None:
    assert main(["gate", "--candidate", files[1], "--rule", "TokenF1 >= 0"]) == 2
    assert main(["gate", files[0], "--samples", files[0], "--candidate", files[1], "--rule", "TokenF1 >= 0"]) == 2
    lacking = write("lacking.jsonl", GOOD[1:])
    rule = ["--rule", "TokenF1 >= 0.9"]
    assert main(["gate", "--samples", files[0], "--candidate", lacking, *rule]) == 2
    assert main(["gate", "--samples", files[0], "--candidate", lacking, *rule, "--missing", "zero"]) == 0


def test_people_correct_the_mean_of_a_metric(capsys, files, tmp_path) -> None:
    samples, good, poor = files
    rows = [f"s{n:02},{system},{rater},{grade}" for n in range(6) for rater in ("r1", "r2")
            for system, grade in (("good", 2), ("poor", 1 if n % 2 else 0))]  # fmt: skip
    people = tmp_path / "people.csv"
    people.write_text("\n".join(["sample_id,system,rater,grade", *rows]) + "\n")
    evaluation = as_json(capsys, samples, good, poor, "-m", "TokenF1", "--people", str(people))["people"]
    first, second = evaluation["systems"]
    assert first["estimate"]["estimate"] == pytest.approx(1.0)
    # The metric says 0.5 for each answer, so that only the grades tell: 0, 0.5, 0, 0.5, 0, 0.5.
    assert second["metric_mean"] == 0.5
    assert second["estimate"]["estimate"] == pytest.approx(0.25)
    assert evaluation["calibration"]["pairs"] == 12
    assert evaluation["calibration"]["bias"] == pytest.approx((6 * 0 + 3 * 0 + 3 * 1) / 12)
    assert main(["rag", samples, good, poor, "-m", "TokenF1", "--people", str(people)]) == 0
    assert "kappa" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "words", "named"),
    [
        (["s00,good,r1,3"], [], "people.csv:2"),
        (["s00,new,r1,2"], [], "good"),
        (["s00,good,r1,2"], ["-m", "TokenF1", "-m", "RougeL"], "--people-metric"),
        (["s00,good,r1,2"], ["-m", "TokenF1", "--people-metric", "RougeL"], "RougeL"),
        (["s00,good,r1,2"], ["-m", "TokenF1", "--scale", "2:0"], "scale"),
    ],
)
def test_mistakes_about_people_are_reported(capsys, files, tmp_path, rows, words, named) -> None:
    people = tmp_path / "people.csv"
    people.write_text("\n".join(["sample_id,system,rater,grade", *rows]) + "\n")
    assert main(["rag", files[0], files[1], *(words or ["-m", "TokenF1"]), "--people", str(people)]) == 2
    assert named in capsys.readouterr().err
