"""Tests of the document formats: column names, odd lines, CSV quoting, round trips."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import NotValid, UnreadableInput
from assay.formats import FORMATS, sniff
from assay.formats.row_types import DocumentRow

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
FIELDS = st.dictionaries(
    TEXT.filter(lambda name: name not in ("fields",)), st.one_of(TEXT, st.integers(-9, 9), st.booleans()), max_size=3
)
DOCUMENTS = st.lists(
    st.builds(
        DocumentRow,
        doc_id=st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=5),
        title=TEXT,
        text=TEXT,
        url=TEXT,
        image=TEXT,
        fields=FIELDS,
    ),
    max_size=4,
    unique_by=lambda row: row.doc_id,
)


def read(text: str, format: str = "documents-jsonl", **options: object):
    return FORMATS[format].read(text.encode(), path="a", **options)


def written(rows: list[DocumentRow], format: str = "documents-jsonl") -> bytes:
    stream = io.BytesIO()
    write = FORMATS[format].write
    assert write is not None
    write(rows, stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    "line",
    [
        '{"doc_id": "7", "title": "T", "text": "x", "fields": {"price": 3}}',
        '{"id": "7", "name": "T", "description": "x", "price": 3}',
        '{"_id": 7, "title": "T", "content": "x", "price": 3}',
        '{"id": "7", "title": "T", "body": "x", "price": 3, "url": null}',
    ],
)
def test_names_that_are_read(line: str):
    assert read(line + "\n").rows == [DocumentRow("7", "T", "x", fields={"price": 3})]


def test_a_second_text_stays_a_field():
    row = read('{"doc_id": "7", "text": "long", "description": "short"}\n').rows[0]
    assert (row.text, row.fields) == ("long", {"description": "short"})


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"title": "T"}', "E23"),
        ('{"doc_id": ""}', "E11"),
        ('{"doc_id": 1.5}', "E23"),
        ('{"doc_id": true}', "E23"),
        ('{"doc_id": "d", "title": ["a"]}', "E23"),
        ('{"doc_id": "d", "fields": 3}', "E23"),
        ('{"doc_id": "d", "doc_id": "e"}', "E20"),
        ('{"doc_id": "d", "price": NaN}', "E12"),
        ('{"doc_id": "d", "price": 1e999}', "E12"),
        ('{"doc_id": "d", "price": -%s}' % ("1" * 400), "E12"),
        ('{"doc_id": "d", "text": "a\\u0000"}', "E19"),
        ('{"doc_id": "d", "text": "\\ud800"}', "E19"),
        ("[1]", "E24"),
        ('{"doc_id": "d"', "E24"),
        ("[" * 50_000, "E24"),
        ('{"doc_id": "d", "field": ' + "[" * 100 + "]" * 100 + "}", "E24"),
        ('{"doc_id": ' + "9" * 5000 + "}", "E24"),
    ],
)
def test_each_odd_line_has_its_code(line: str, code: str):
    result = read('{"doc_id": "good"}\n' + line + "\n")
    assert [problem.code for problem in result.report.errors] == [code]
    assert result.report.errors[0].line == 2
    assert len(result.rows) == 1


def test_a_hundred_levels_are_not_too_many():
    line = '{"doc_id": "d", "field": ' + "[" * 99 + "]" * 99 + ', "list": [' + "{}, " * 200 + "{}]}\n"
    assert len(read(line).rows) == 1


def test_a_first_line_that_is_too_deep_looks_like_nothing():
    assert sniff(b'{"a": ' + b"[" * 50_000) is None


def test_an_escaped_backslash_is_no_nul():
    assert read('{"doc_id": "d", "text": "\\\\u0000"}\n').rows[0].text == "\\u0000"


def test_two_documents_with_one_id():
    one, two = '{"doc_id": "d", "title": "a"}\n', '{"doc_id": "d", "title": "b"}\n'
    assert read(one + one).report.codes == {"W33": 1}
    assert (read(one + two).rows, read(one + two).report.codes) == ([], {"E16": 2})
    assert [row.title for row in read(one + two, conflicts="last").rows] == ["b"]


def test_golden_bytes():
    rows = [DocumentRow("d2", "=x", 'a,"b"\n', fields={"z": 1, "a": "é"}), DocumentRow("d1")]
    assert written(rows).decode() == (
        '{"doc_id": "d1", "title": "", "text": "", "url": "", "image": "", "fields": {}}\n'
        '{"doc_id": "d2", "title": "=x", "text": "a,\\"b\\"\\n", "url": "", "image": "", '
        '"fields": {"z": 1, "a": "é"}}\n'
    )
    assert written(rows, "documents-csv").decode() == (
        'doc_id,title,text,url,image,fields\nd1,,,,,\nd2,\'=x,"a,""b""\n",,,"{""z"": 1, ""a"": ""é""}"\n'
    )


@pytest.mark.parametrize("format", ["documents-jsonl", "documents-csv"])
def test_half_a_character_cannot_be_written(format: str):
    with pytest.raises(NotValid, match="cannot be written"):
        written([DocumentRow("d", "\ud800")], format)


@given(DOCUMENTS)
def test_round_trip(documents: list[DocumentRow]):
    expected = sorted(documents, key=lambda row: row.doc_id)
    for format in ("documents-jsonl", "documents-csv"):
        data = written(documents, format)
        if documents:
            result = FORMATS[format].read(data, path="a")
            assert result.rows == expected
            assert written(result.rows, format) == data


def test_columns_of_a_csv():
    result = read("sku;name;description;price\n7;T;x;3\n8;U;;\n", "documents-csv", columns={"doc_id": "sku"})
    assert result.rows == [DocumentRow("7", "T", "x", fields={"price": "3"}), DocumentRow("8", "U")]
    assert result.report.codes == {"W46": 1, "W47": 3}


def test_a_csv_without_ids_is_refused():
    with pytest.raises(UnreadableInput, match="no column doc_id; it has 'sku', 'name'") as caught:
        read("sku,name\n1,T\n", "documents-csv")
    assert caught.value.code == "F04"


def test_two_columns_with_one_name_are_refused():
    with pytest.raises(UnreadableInput) as caught:
        read("id,title,title\n1,T,U\n", "documents-csv")
    assert caught.value.code == "E22"


def test_multiline_record_counts_once():
    result = read('id,text\n1,"a\nb"\n2,c,d\n3,e\n', "documents-csv")
    assert [row.text for row in result.rows] == ["a\nb", "e"]
    assert [(problem.line, problem.code) for problem in result.report.errors] == [(4, "E10")]


def test_broken_quotes_are_reported_with_their_lines():
    result = read('id,text\n1,a\n2,"open\n3,b\n', "documents-csv")
    problem = result.report.errors[0]
    assert (problem.line, problem.code) == (3, "E10")
    assert "to line 4" in problem.what
    assert len(result.rows) == 1


def test_a_carriage_return_inside_quotes_stays():
    assert read('id,text\n1,"a\r\nb"\n', "documents-csv").rows[0].text == "a\r\nb"
