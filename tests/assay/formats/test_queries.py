"""Tests of the query formats: missing ids, groups, strata, TSV headers, round trips."""

from __future__ import annotations

import io

import pytest

from assay.core.errors import UnreadableInput
from assay.formats import FORMATS
from assay.formats.queries import numbered_ids, read_written
from assay.formats.row_types import QueryRow, StratumRow

ROWS = [
    QueryRow("q1", '=sum, "red"', "need\nof two lines", "g1", "head", 12, 3, 0.25, 0.125),
    QueryRow("q2", "'=x 😀", "", "", "", None, None, None, None),
]
GOLDEN = (
    "query_id,query,narrative,group,tier,frequency,clients,probability,weight\n"
    'q1,"\'=sum, ""red""","need\nof two lines",g1,head,12,3,0.25,0.125\n'
    "q2,''=x 😀,,,,,,,\n"
)


def read(text: str, format: str = "queries-csv", **options: object):
    return FORMATS[format].read(text.encode(), path="a", **options)


def written(rows: list[QueryRow], format: str = "queries-csv"):
    stream = io.BytesIO()
    write = FORMATS[format].write
    assert write is not None
    done = write(rows, stream)
    return stream.getvalue().decode(), done


def test_golden_bytes_and_round_trip():
    assert written(list(reversed(ROWS)))[0] == GOLDEN
    assert read(GOLDEN).rows == ROWS
    assert read(GOLDEN).report.codes == {"W37": 2}
    assert written([])[0] == GOLDEN.partition("\n")[0] + "\n"


IN_STRATA = QueryRow("q3", "hats", stratum="shoes", share=0.5, also=(StratumRow("hats", 0.2, "head", 0.5, 0.03),))


@pytest.mark.parametrize(
    "text",
    [
        GOLDEN,
        written([*ROWS, IN_STRATA])[0],
        "query_id,query\nq1,hats\nq1,hats\n",
        # What `write_queries_csv` never writes.
        "query_id;query\nq1;hats\n",
        "query_id,query,other\nq1,hats,2\n",
        "qid,query,frequency\nq1,hats,2.0\n",
    ],
)
def test_unchecked_reading_gives_the_same_rows(text: str):
    assert list(read_written(text.encode(), "a")) == list(read(text).rows)


def test_only_the_query_is_required():
    ids = numbered_ids(["tent", "boots"])
    assert read("query\ntent\nboots\ntent\n").rows == [QueryRow(ids["tent"], "tent"), QueryRow(ids["boots"], "boots")]


def test_ids_of_two_files_never_collide():
    one, other = (set(numbered_ids([f"{name} {n}" for n in range(20)]).values()) for name in ("tent", "boots"))
    assert len(one) == len(other) == 20
    assert not one & other


def test_numbers_are_wide_enough_to_sort():
    rows = read("query\n" + "".join(f"query {n}\n" for n in range(1000))).rows
    assert [row.query_id.rpartition("-")[2] for row in (rows[0], rows[-1])] == ["0001", "1000"]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ("q1,,head,1,0.5", "E11"),
        (",tent,head,1,0.5", "E11"),
        (f"q1,{'x' * 2049},head,1,0.5", "E21"),
        ("q1,tent,middle,1,0.5", "E23"),
        ("q1,tent,head,many,0.5", "E12"),
        ("q1,tent,head,-1,0.5", "E12"),
        ("q1,tent,head,1,1.5", "E12"),
        ("q1,tent,head,1", "E10"),
        ("q0,boots,head,1,0.5", "E18"),
        ("q0,tent,tail,1,0.5", "E16"),
    ],
)
def test_each_odd_row_has_its_code(row: str, code: str):
    result = read(f"query_id,query,tier,frequency,probability\nq0,tent,head,1,0.5\n{row}\n")
    assert [(problem.line, problem.code) for problem in result.report.errors] == [(3, code)]
    assert len(result.rows) == 1


def test_a_file_without_header_is_refused_with_an_offer():
    with pytest.raises(UnreadableInput, match=r"no column query; it has 'q1', 'tent'.*query=NAME") as caught:
        read("q1,tent\nq2,boots\n")
    assert caught.value.code == "F04"


def test_tsv_golden_bytes():
    rows = [QueryRow("q2", "tent"), QueryRow("q1", "a\tb\r\nc")]
    text, done = written(rows, "queries-tsv")
    assert text == "q1\ta b c\nq2\ttent\n"
    assert done.notes == ("query 'q1': TABs and line breaks were replaced with spaces",)
    assert written([], "queries-tsv")[0] == ""


def test_tsv_round_trip():
    assert read('q1\t=a, "b"\nq2\ttent\n', "queries-tsv").rows == [QueryRow("q1", '=a, "b"'), QueryRow("q2", "tent")]


def test_unclear_header_is_refused():
    text = "qid\tquery\nq1\ttent\n"
    with pytest.raises(UnreadableInput, match="looks like a header") as caught:
        read(text, "queries-tsv")
    assert caught.value.code == "F04"
    assert len(read(text, "queries-tsv", header=True).rows) == 1
    assert len(read(text, "queries-tsv", header=False).rows) == 2


def test_second_tab_is_refused():
    text = "q1\ttent\tsmall\n"
    assert read(text, "queries-tsv").report.codes == {"E10": 1}
    assert read(text, "queries-tsv", tabs=True).rows[0].query == "tent\tsmall"


@pytest.mark.parametrize(("group", "code"), [("g" * 501, "E21"), ("a\x01", "E19")])
def test_a_group_is_an_id(group: str, code: str):
    assert read(f"query,group\ntent,{group}\nboots,g1\n").report.codes == {code: 1}


STRATA = [
    QueryRow(
        "q1", "tent", "", "", "head", 12, 3, 0.5, 0.5, "first", 0.8, (StratumRow("zelte", 0.2, "tail", 1.0, 0.1),)
    ),
    QueryRow("q2", "boots", stratum="shoes, hiking", share=0.2, probability=1.0, weight=0.5),
]


def test_strata_have_columns_of_their_own_only_where_there_are_any():
    text = written(STRATA)[0]
    head, first, second = text.splitlines()
    assert head.endswith(",weight,stratum,share,also")
    assert first.endswith(",first,0.8,zelte|0.2|tail|1.0|0.1")
    assert second == 'q2,boots,,,,,,1.0,0.5,"shoes, hiking",0.2,'
    assert read(text).rows == STRATA


@pytest.mark.parametrize(
    "cells",
    [
        "shoes,,",
        "s" * 101 + ",0.2,",
        ",0.2,",
        "shoes,2,",
        "sh|oes,0.2,",
        "shoes,0.2,zelte|0.2|head|0.5",
        "shoes,0.2,zelte|0.2|top|0.5|1",
    ],
)
def test_half_a_stratum_is_no_stratum(cells: str):
    result = read(f"query_id,query,stratum,share,also\nq1,tent,{cells}\nq2,boots,shoes,0.2,\n")
    assert [row.query_id for row in result.rows] == ["q2"]
    assert result.report.error_count == 1


def test_jsonl_comes_back_with_all_columns():
    rows = [*ROWS, QueryRow("q3", "tent", tier="tail", stratum="camping", share=0.5, language="de")]
    text, _ = written(rows, "queries-jsonl")
    assert text.splitlines()[1] == '{"query_id": "q2", "query": "\'=x 😀"}'
    assert read(text, "queries-jsonl").rows == rows


def test_queries_of_beir_are_read():
    result = read('{"_id": "1", "text": "rain", "metadata": {}}\n{"_id": 2, "text": "tent", "x": 1}\n', "queries-jsonl")
    assert [(row.query_id, row.query) for row in result.rows] == [("1", "rain"), ("2", "tent")]
    assert result.report.codes == {"W41": 1}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"_id": "2"}', "E23"),
        ('{"text": "no id"}', "E23"),
        ('{"_id": "2", "text": {"en": "rain"}}', "E23"),
        ('{"_id": "2", "text": " "}', "E11"),
        ('{"_id": "1", "text": "another"}', "E18"),
        ("[1]", "E24"),
    ],
)
def test_invalid_jsonl_line_is_reported(line: str, code: str):
    result = read('{"_id": "1", "text": "rain"}\n' + line + "\n", "queries-jsonl")
    assert [(problem.line, problem.code) for problem in result.report.errors] == [(2, code)]
    assert [row.query for row in result.rows] == ["rain"]


def test_jsonl_without_ids_is_numbered():
    rows = read('{"query": "b"}\n{"query": "a"}\n', "queries-jsonl").rows
    assert [row.query_id for row in rows] == list(numbered_ids(["b", "a"]).values())


def test_a_tsv_holds_no_formula_and_is_read_back_as_it_was() -> None:
    texts = {"q1": "=HYPERLINK(1)", "q2": "+1", "q3": "-x", "q4": "@a", "q5": "'=x", "q6": "'tis", "=q7": "tent"}
    stream = io.BytesIO()
    FORMATS["queries-tsv"].write([QueryRow(query_id, text) for query_id, text in texts.items()], stream)
    cells = [cell for line in stream.getvalue().decode().splitlines() for cell in line.split("\t")]
    assert not any(cell[0] in "=+-@" for cell in cells)
    result = FORMATS["queries-tsv"].read(stream.getvalue(), path="queries.tsv")
    assert {row.query_id: row.query for row in result.rows} == texts
    assert result.report.bins["repaired"] == 6


PERSONAL = [
    "mail to jo@example.org",
    "call +49 30 901820",
    "4111 1111 1111 1111",
    "jo doe AT host.example",
    "rain jacket",
]


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("queries-csv", "query_id,query\n" + "".join(f"q{place},{one}\n" for place, one in enumerate(PERSONAL))),
        ("queries-tsv", "".join(f"q{place}\t{one}\n" for place, one in enumerate(PERSONAL))),
        (
            "queries-jsonl",
            "".join(f'{{"query_id": "q{place}", "query": "{one}"}}\n' for place, one in enumerate(PERSONAL)),
        ),
    ],
)
def test_likely_personal_data_is_reported_and_stays(format: str, text: str):
    result = read(text, format)
    assert [row.query for row in result.rows] == PERSONAL
    first = 2 if format == "queries-csv" else 1
    odd = result.report.problems
    assert [(one.code, one.line) for one in odd] == [("W59", first + place) for place in range(4)]
    assert result.report.ok
    assert not any(word in one.raw for one in odd for word in ("example.org", "901820", "4111"))


def test_possible_personal_data_is_reported():
    assert read("query_id,query\nq1,jobs at example.com\n").report.codes == {"W56": 1}


def test_a_judgment_list_tells_once_of_a_query():
    element = '{"query_id": "q1", "query": "jo@example.org", "ratings": [{"doc_id": "%s", "rating": 1}]}'
    result = read(f"[{element % 'd1'},\n{element % 'd2'}]\n", "judgment-list")
    assert (result.report.codes["W59"], len(result.rows)) == (1, 2)
