"""Tests of the import report: every line is counted, listing has limits, CSV is safe in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys

import pytest

from assay.core.errors import UnreadableInput
from assay.core.read_report import MAX_LISTED, Report, Tally


def a_report(errors: int = 1) -> Report:
    tally = Tally("a.txt", "trec-qrels", "expected a line")
    tally.read(2 + errors)
    tally.put("accepted", 2)
    for line in range(errors):
        tally.reject("E10", line + 3, "3 fields", fix="expected 4", raw="=1+1\tx")
    tally.once("W31", 1, "CRLF", done="read as line ends")
    return tally.report(sha256="00", size=10, lines=3)


def reject_all(tally: Tally, number: int) -> None:
    for line in range(number):
        tally.read()
        tally.reject("E10", line, "odd", fix="correct it")


def test_counts_and_views():
    report = a_report()
    assert (report.accepted, report.ok, report.error_count, report.warning_count) == (2, False, 1, 1)
    assert [problem.code for problem in report.errors + report.warnings] == ["E10", "W31"]
    assert report.codes == {"E10": 1, "W31": 1}


def test_a_line_in_no_bin_does_not_go_unnoticed():
    tally = Tally("a.txt", "x")
    tally.read(2)
    tally.put("accepted")
    with pytest.raises(AssertionError):
        tally.report()


def test_the_first_error_is_raised_with_its_place():
    with pytest.raises(UnreadableInput, match=r"^a\.txt:3: 3 fields \(1 more\); expected 4$") as caught:
        a_report(errors=2).raise_if_errors()
    assert (caught.value.line, caught.value.code) == (3, "E10")


def test_a_file_without_errors_raises_nothing():
    a_report(errors=0).raise_if_errors()


def test_listing_stops_and_counting_continues():
    tally = Tally("a.txt", "x")
    tally.read()
    tally.put("accepted")
    reject_all(tally, MAX_LISTED + 499)
    report = tally.report()
    assert (len(report.errors), report.error_count) == (MAX_LISTED, MAX_LISTED + 499)


def test_a_file_of_nothing_but_errors_is_refused_at_the_thousandth():
    tally = Tally("a.txt", "trec-run", "expected 'q1 Q0 d1 1 2.5 bm25'")
    with pytest.raises(UnreadableInput, match=r"does not look like trec-run.*q1 Q0 d1") as caught:
        reject_all(tally, MAX_LISTED + 1)
    assert caught.value.code == "F03"
    assert tally.units == MAX_LISTED


def test_the_refusal_names_the_commonest_fault_and_where_it_comes_first():
    tally = Tally("a.txt", "trec-run", "expected 'q1 Q0 d1 1 2.5 bm25'")

    def reject() -> None:
        for line in range(1, MAX_LISTED + 1):
            tally.read()
            if line == 1:
                tally.reject("E10", line, "5 fields instead of 6", fix="add one")
            else:
                tally.reject("E12", line, f"the score 'x{line}' is not a number", fix="give a number")

    with pytest.raises(UnreadableInput) as caught:
        reject()
    assert (caught.value.code, caught.value.line) == ("F03", 2)
    assert "E12, 999 rows" in caught.value.problem
    assert "the score 'x2' is not a number" in caught.value.problem
    assert caught.value.expected == "give a number; expected 'q1 Q0 d1 1 2.5 bm25'"


def test_json_holds_everything():
    content = json.loads(a_report().as_json())
    assert content["bins"]["rejected"] == 1
    assert content["problems"][0]["fix"] == "expected 4"
    assert content["ok"] is False


def test_csv_does_not_run_in_a_spreadsheet():
    rows = list(csv.DictReader(io.StringIO(a_report().as_csv())))
    assert rows[0]["raw"] == "'=1+1\tx"
    assert rows[0]["line"] == "3"


def test_errors_families_and_reports_need_no_numpy():
    code = "import sys, assay.core.errors, assay.core.registry, assay.core.read_report; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
