"""Tests of TREC topics."""

from __future__ import annotations

import io
from typing import Any

import pytest

from assay.formats import FORMATS, sniff
from assay.formats.row_types import QueryRow

CLASSIC = """<top>

<num> Number: 301
<title> Running shoes

<desc> Description:
Shoes for roads
and trails.

<narr> Narrative:
Boots are not relevant.

</top>

<top>
<num>Number: 302</num>
<title>Salt &amp; pepper</title>
</top>
"""
WEB = """<?xml version="1.0" encoding="UTF-8"?>
<!-- made by hand -->
<topics>
  <topic number="7" type="faceted">
    <query>obama family tree</query>
    <description>Find the tree.</description>
  </topic>
  <topic number='8'><query>tent</query><question>Which tent?</question><narrative>Light ones.</narrative></topic>
</topics>
"""


def read(name: str, text: str) -> Any:
    return FORMATS[name].read(text.encode(), path="topics")


def test_classic_topics_with_unclosed_tags() -> None:
    rows = read("trec-topics", CLASSIC).rows
    assert [(row.query_id, row.query, row.narrative) for row in rows] == [
        ("301", "Running shoes", "Shoes for roads and trails.\n\nBoots are not relevant."),
        ("302", "Salt & pepper", ""),
    ]
    assert sniff(CLASSIC.encode()) == "trec-topics"


def test_xml_topics() -> None:
    rows = read("trec-topics-xml", WEB).rows
    assert [(row.query_id, row.query, row.narrative) for row in rows] == [
        ("7", "obama family tree", "Find the tree."),
        ("8", "tent", "Which tent?\n\nLight ones."),
    ]
    assert sniff(WEB.encode()) == "trec-topics-xml"


@pytest.mark.parametrize("name", ["trec-topics", "trec-topics-xml"])
def test_round_trips(name: str) -> None:
    stream, again, write = io.BytesIO(), io.BytesIO(), FORMATS[name].write
    assert write is not None
    write([QueryRow("q1", "a < b & c", "not <d>"), QueryRow("q2", "tent")], stream)
    rows = FORMATS[name].read(stream.getvalue(), path="a").rows
    assert [(row.query_id, row.query, row.narrative) for row in rows] == [
        ("q1", "a < b & c", "not <d>"),
        ("q2", "tent", ""),
    ]
    write(rows, again)
    assert again.getvalue() == stream.getvalue()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("<top><num>2<title></top>", "E11"),
        ("<top><title>tent</top>", "E11"),
        ("<top><num>1<title>rope</top>", "E16"),
        ("<top><num>2<title>rope", "E10"),
        ("stray words", "E10"),
        ("<top><num>2<title>a<title>b</top>", "E20"),
    ],
)
def test_bad_topics_are_reported_with_their_line(text: str, code: str) -> None:
    report = read("trec-topics", f"<top><num>1<title>tent</top>\n{text}\n").report
    assert code in {problem.code for problem in report.errors}
    assert report.errors[-1].line == 2


# The shapes of TREC-1 (topic 51) and of the clinical trials track 2021
EARLY = """<top>
<head> Tipster Topic Description
<num> Number: 051
<dom> Domain: International Economics
<title> Topic: Airbus Subsidies
<desc> Description:
Document will discuss prices < 100 and > 10.
<con> Concept(s):
1. Airbus
</top>
"""
TRIALS = """<topics task="2021 TREC Clinical Trials">
  <topic number="1">
A 45-year-old man with anaplastic astrocytoma &lt; 5 cm.
  </topic>
</topics>
"""


def test_topics_of_early_tracks() -> None:
    result = read("trec-topics", EARLY)
    assert [(row.query_id, row.query, row.narrative) for row in result.rows] == [
        ("051", "Airbus Subsidies", "Document will discuss prices < 100 and > 10.")
    ]
    assert result.report.codes == {"W41": 3}


def test_a_topic_that_is_only_text() -> None:
    [row] = read("trec-topics-xml", TRIALS).rows
    assert (row.query_id, row.query) == ("1", "A 45-year-old man with anaplastic astrocytoma < 5 cm.")


def test_text_after_a_closed_tag_is_an_error() -> None:
    report = read("trec-topics", "<top><num>1</num><title>a</title> b </top>\n").report
    assert [problem.code for problem in report.errors] == ["E10"]
