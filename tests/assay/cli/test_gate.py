"""Tests of ``assay gate``: verdicts, exit statuses and output formats."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shlex
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from assay.core.markdown_text import code, plain
from tests import worked_example
from tests.assay.cli.test_docs import DOCS, examples
from tests.assay.conftest import Call

PASSING, FAILING = "Success@1 >= 0.5", "drop(RR) <= 0.1"
LUCKY = "drop(RR) <= 0.1 unless p >= 0.05"


@pytest.fixture
def files(assay: Call) -> None:
    """Forty queries with one good and nine bad documents; the new run puts the good one second in twenty of them."""
    documents = ["good", *(f"bad{n}" for n in range(9))]
    labels = [f"q{n:02} 0 {doc} {int(doc == 'good')}\n" for n in range(40) for doc in documents]
    Path("many.txt").write_text("".join(labels))
    for name, hits in (("old.run", 40), ("new.run", 20)):
        lines = []
        for n in range(40):
            order = documents if n < hits else [documents[1], documents[0], *documents[2:]]
            lines += [f"q{n:02} Q0 {doc} {rank} {10 - rank} x\n" for rank, doc in enumerate(order, 1)]
        Path(name).write_text("".join(lines))


def gate(assay: Call, *words: str) -> tuple[int, str, str]:
    return assay("gate", "many.txt", "--baseline", "old.run", "--candidate", "new.run", *words)


def rules(*texts: str) -> list[str]:
    return [word for text in texts for word in ("--rule", text)]


@pytest.mark.usefixtures("files")
def test_one_line_a_rule(assay: Call) -> None:
    status, out, err = gate(assay, *rules(PASSING, FAILING, LUCKY, "drop(RR) <= 2%"), "--permutations", "499")
    assert (status, err) == (1, "")
    passing, failing, lucky, relative = out.splitlines()
    assert passing == "pass  Success@1 >= 0.5: 0.5000, 40 queries"
    assert failing.startswith(
        "FAIL  drop(RR) <= 0.1: 0.2500 (from 1.0000 to 0.7500), p <=0.002, 40 queries; 0.1500 above"
    )
    assert failing.endswith("inspect with: assay compare many.txt baseline=old.run candidate=new.run -m RR")
    assert "and p 0.002 is below 0.05" in lucky
    assert relative.startswith("FAIL  drop(RR) <= 2%: 25.00% (from 1.0000 to 0.7500)")


@pytest.mark.usefixtures("files")
def test_the_suggested_commands_run(assay: Call) -> None:
    out = gate(assay, *rules(FAILING), "--missing", "skip")[1]
    assert "+0.2500" not in out
    status, table, _ = assay(*shlex.split(out.rpartition("inspect with: assay ")[2]))
    assert status == 0
    assert "-0.2500" in table
    alone = assay("gate", "many.txt", "--candidate", "new.run", *rules("P(rel=2)@5 > 0"))[1]
    status, table, _ = assay(*shlex.split(alone.rpartition("inspect with: assay ")[2]))
    assert status == 0
    assert "candidate, by query" in table
    scaled = gate(assay, *rules("drop(ERR@10) <= 0.01"), "--scale", "0:3", "--qrels-format", "trec-qrels")[1]
    again = shlex.split(scaled.rpartition("inspect with: assay ")[2])
    assert again[-4:] == ["--scale", "0:3", "--qrels-format", "trec-qrels"]
    assert assay(*again)[0] == 0


@pytest.mark.usefixtures("files")
def test_the_status_is_0_when_all_pass(assay: Call) -> None:
    assert gate(assay, *rules(PASSING, "drop(RR) <= 0.25"))[::2] == (0, "")
    assert assay("gate", "many.txt", "--candidate", "new.run", *rules(PASSING))[0] == 0


@pytest.mark.usefixtures("files")
def test_the_json(assay: Call) -> None:
    words = (*rules(PASSING, FAILING), "--format", "json", "--permutations", "500", "--seed", "3")
    status, out, err = gate(assay, *words)
    assert (status, err) == (1, "")
    verdicts: dict[str, Any] = json.loads(out)
    assert verdicts["passed"] is False
    assert {"rule", "passed", "value", "baseline", "p", "reason"} <= set(verdicts["rules"][0])
    first, second = verdicts["rules"]
    assert (first["rule"], first["passed"], first["value"], first["baseline"]) == (PASSING, True, 0.5, 1.0)
    assert (first["p"], first["reason"]) == (None, None)
    # Twenty halves of one sign: 500 draws find no other pattern that is as far from 0.
    assert (second["passed"], second["value"], second["baseline"], second["p"]) == (False, 0.25, 1.0, 1 / 501)
    assert second["reason"] == "0.1500 above the limit"
    assert verdicts["settings"] == {
        "test": "randomization",
        "permutations": 500,
        "seed": 3,
        "missing": "zero",
        "scale_top": None,
        "queries": 40,
    }
    assert (verdicts["qrels"]["queries"], verdicts["qrels"]["judgments"]) == (40, 400)
    for key, path in (("baseline", "old.run"), ("candidate", "new.run")):
        assert verdicts["files"][key]["sha256"] == hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert gate(assay, *words)[1] == out


@pytest.mark.usefixtures("files")
def test_a_difference_that_rounds_to_zero_is_printed(assay: Call) -> None:
    out = gate(assay, *rules("Success@1 >= 0.50001"))[1]
    assert "0.5000, 40 queries; 1.0e-05 below the limit" in out


@pytest.mark.usefixtures("files")
def test_junit(assay: Call) -> None:
    status = gate(assay, *rules(PASSING, FAILING, LUCKY), "--format", "junit", "--out", "gate.xml")[0]
    suites = Xml.parse("gate.xml").getroot()
    (suite,) = suites
    assert status == 1
    assert (suites.tag, suite.tag, suite.get("name")) == ("testsuites", "testsuite", "assay gate")
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["3", "2", "0", "0"]
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == [PASSING, FAILING, LUCKY]
    assert [len(case.findall("failure")) for case in cases] == [0, 1, 1]
    assert "0.1500 above the limit" in str(cases[1].find("failure").get("message"))  # type: ignore[union-attr]
    assert all(float(element.get("time", "none")) >= 0 for element in (suites, suite, *cases))
    properties = {element.get("name"): element.get("value") for element in suite.iter("property")}
    assert properties["candidate.sha256"] == hashlib.sha256(Path("new.run").read_bytes()).hexdigest()
    assert properties["seed"] == "0"
    assert "scale_top" not in properties


@pytest.mark.usefixtures("files")
def test_names_that_xml_and_markdown_would_read(assay: Call) -> None:
    odd = "a&b <i>|`x`\x07]]>.run"
    Path(odd).write_bytes(Path("new.run").read_bytes())
    words = ("gate", "many.txt", "--candidate", odd, *rules("RR >= 0.9"))
    suites = Xml.fromstring(assay(*words, "--format", "junit")[1])
    assert suites.find(".//property[@name='candidate']").get("value") == odd.replace("\x07", "�")  # type: ignore[union-attr]
    table = assay(*words, "--format", "markdown")[1]
    (command,) = (line for line in table.splitlines() if line.startswith("- inspect with"))
    assert command.startswith("- inspect with `` assay evaluate")


@pytest.mark.usefixtures("files")
def test_markdown(assay: Call) -> None:
    status, out, _ = gate(assay, *rules(PASSING, FAILING), "--format", "markdown", "--permutations", "499")
    lines = out.splitlines()
    assert status == 1
    assert lines[0] == "### Gate failed: 1 of 2 rules passed"
    assert lines[4] == "| ✅ pass | `Success@1 >= 0.5` | 0.5000 | 1.0000 | 0.5000 | - | 40 |  |"
    numbers = "0.2500 | 1.0000 | 0.7500 | &lt;=0.002 | 40 | 0.1500 above the limit"
    assert lines[5] == f"| ❌ **fail** | `drop(RR) <= 0.1` | {numbers} |"
    assert "- inspect with `assay compare many.txt baseline=old.run candidate=new.run -m RR`" in lines
    assert all(line.count("|") == 9 for line in lines[2:6])


def test_a_cell_ends_where_it_should() -> None:
    assert plain("a|b *c* <d> `e` [f](g)\nh") == r"a\|b \*c\* &lt;d&gt; \`e\` \[f\](g) h"
    assert code("a|b") == r"`a\|b`"
    assert code("a `b` ``c``") == "``` a `b` ``c`` ```"


@pytest.mark.usefixtures("files")
def test_rules_of_a_file(assay: Call) -> None:
    Path("gate.rules").write_bytes(f"\ufeff# what must hold\r\n\r\n{PASSING}  # half of them\r\n{FAILING}".encode())
    status, out, _ = gate(assay, "--rules", "gate.rules", *rules("RR >= 0.1"))
    assert status == 1
    assert [line.split(":")[0] for line in out.splitlines()] == [
        "pass  RR >= 0.1",
        f"pass  {PASSING}",
        f"FAIL  {FAILING}",
    ]
    verdicts = json.loads(gate(assay, "--rules", "gate.rules", "--format", "json")[1])["files"]["rules"]
    assert verdicts == [{"path": "gate.rules", "sha256": hashlib.sha256(Path("gate.rules").read_bytes()).hexdigest()}]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("# none\n\n", "gate.rules: has no rules"),
        ("", "gate.rules: is empty"),
        ("RR >= 0.1\n\nRR >= high\n", "gate.rules:3: the rule 'RR >= high': 'high'"),
        ("RR >= 0.1\nnDGC@10 >= 0.1 # typo\n", "gate.rules:2: the rule 'nDGC@10 >= 0.1': unknown metric"),
    ],
)
def test_a_bad_file_of_rules(assay: Call, content: str, message: str) -> None:
    Path("gate.rules").write_text(content)
    status, out, err = assay("gate", "qrels.txt", "--candidate", "bm25.run", "--rules", "gate.rules")
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--candidate", "bm25.run"), "no rules were given; add one, such as --rule"),
        (("--rule", "RR > 0"), "--candidate"),
        (("--candidate", "bm25.run", "--rule", "drop(RR) <= 0.1"), "--baseline RUN"),
        (("--candidate", "bm25.run", "--rule", "RR is 1"), "the rule 'RR is 1': there is no comparison"),
        (("--candidate", "no.run", "--rule", "RR > 0"), "no.run: cannot be opened"),
        (("--candidate", "bm25.run", "--rules", "no.rules"), "no.rules: cannot be opened"),
        (("--candidate", "qrels.txt", "--rule", "RR > 0"), "qrels.txt"),
        (("--candidate", "-", "--baseline", "-", "--rule", "RR > 0"), "standard input"),
        (("--candidate", "-", "--rules", "-"), "standard input"),
        (("--candidate", "bm25.run", "--rule", "RR > 0", "--permutations", "0"), "from 1 to"),
        (("--candidate", "bm25.run", "--rule", "RR > 0", "--seed", "-1"), "0 or more"),
        (("--candidate", "bm25.run", "--rule", "RR > 0", "--format", "html"), "invalid choice"),
    ],
)
def test_mistakes_end_with_2_and_one_line(assay: Call, words: tuple[str, ...], message: str) -> None:
    status, out, err = assay("gate", "qrels.txt", *words)
    assert (status, out, len(err.splitlines())) == (2, "", 1)
    assert message in err


def test_the_worked_example(assay: Call) -> None:
    words = ("--baseline", "bm25.run", "--candidate", "neural.run", "--format", "json")
    status, out, err = assay("gate", "qrels.txt", *words, *rules("nDCG@3 >= 0.8", "drop(nDCG@3) <= 0 unless p >= 0.05"))
    first, second = json.loads(out)["rules"]
    assert status == 0
    assert (first["value"], first["baseline"]) == pytest.approx(
        (worked_example.NDCG_AT_3["neural"], worked_example.NDCG_AT_3["bm25"]), abs=5e-5
    )
    assert second["value"] == pytest.approx(first["baseline"] - first["value"])
    assert second["p"] is None
    assert "fewer than 6 queries" in second["reason"]
    assert (
        err == "warning: based on 1 query, fewer than 25: a different sample of queries may give a different result\n"
    )


def test_unjudged_documents_and_the_same_file_are_warned_of(assay: Call) -> None:
    err = assay("gate", "qrels.txt", "--baseline", "bm25.run", "--candidate", "new.run", *rules("RR > 0"))[2]
    assert "warning: 67% of the candidate's top 10 is judged, 100% of the baseline's" in err
    err = assay("gate", "qrels.txt", "--baseline", "bm25.run", "--candidate", "x=bm25.run", *rules("RR > 0"))[2]
    assert "warning: the baseline and the candidate are the same file, so no metric can drop" in err.splitlines()


def test_gzip_names_and_standard_input(assay: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("old.run.gz").write_bytes(gzip.compress(Path("bm25.run").read_bytes()))
    stdin = io.TextIOWrapper(io.BytesIO(Path("neural.run").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    words = ("--baseline", "main=old.run.gz", "--candidate", "-", "--format", "json")
    status, out, _ = assay("gate", "qrels.txt", *words, *rules("drop(nDCG@3) <= 0"))
    verdicts = json.loads(out)["files"]
    assert status == 0
    assert (verdicts["baseline"]["name"], verdicts["candidate"]["name"]) == ("main", "stdin")


@pytest.mark.parametrize("line", examples("gates.md"))
def test_the_examples_of_the_page_run(assay: Call, line: str) -> None:
    page = (DOCS / "gates.md").read_text(encoding="utf-8")
    Path("gate.rules").write_text(page.split("```text\n")[1].split("```")[0])
    status, _, err = assay(*shlex.split(line)[1:])
    assert status == 0, err
