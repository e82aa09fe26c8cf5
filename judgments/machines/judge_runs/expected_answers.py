"""Parser of expected answers, which are the accepted answers of each query, pasted or uploaded.

The format is JSON, ``{"q1": "one answer", "q2": ["one", "another"]}``, or CSV with the columns ``query_id,expected``,
where a query with several answers has several lines. An error names its position, and the whole input is rejected.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.core.errors import NotValid
from assay.core.text_rules import amount
from assay.formats.value_kinds import value_kind

Expected = dict[str, list[str]]
COLUMNS = ("query_id", "expected")
LARGEST = 5_000_000
MOST_QUERIES, MOST_ANSWERS, LONGEST = 20_000, 20, 10_000
MOST_LISTED = 10


def read(content: str | bytes) -> Expected:
    """Return the accepted answers of a text or a file: JSON if it begins with ``{``, otherwise CSV."""
    text = _decoded(content)
    if not text.strip():
        raise _refused(f"No answers were given. Send {_SHAPES}.")
    expected, wrong = _of_json(text) if text.lstrip().startswith("{") else _of_csv(text)
    if wrong:
        more = f" And {len(wrong) - MOST_LISTED:,} more." if len(wrong) > MOST_LISTED else ""
        raise _refused(" ".join(wrong[:MOST_LISTED]) + more)
    return expected


def checked(given: Mapping[str, str | Sequence[str]]) -> Expected:
    """Return the accepted answers of parsed values."""
    expected: Expected = {}
    wrong: list[str] = []
    for query_id, value in given.items():
        _add_all(expected, wrong, f"Query {query_id!r}", query_id, value)
    if sum(len(text) for texts in expected.values() for text in texts) > LARGEST:
        wrong.insert(
            0, f"The answers are larger than {LARGEST // 1_000_000} MB. Send only those for queries of this round."
        )
    wrong = _too_many(expected, wrong)
    if wrong:
        raise _refused(" ".join(wrong[:MOST_LISTED]))
    return expected


def sha256(expected: Mapping[str, Sequence[str]]) -> str:
    """Return the hash by which a judge's parameters identify the answers."""
    plain = {query_id: list(texts) for query_id, texts in expected.items()}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


_SHAPES = 'JSON such as {"q1": ["an answer"]}, or CSV with the header query_id,expected'


def _refused(problem: str) -> NotValid:
    return NotValid(f"The expected answers cannot be read. {problem}", {"expected": problem})


def _decoded(content: str | bytes) -> str:
    if len(content) > LARGEST:
        raise _refused(
            f"The answers are larger than {LARGEST // 1_000_000} MB. Send only those for queries of this round."
        )
    if isinstance(content, str):
        text = content.removeprefix("\ufeff")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise _refused(f"Line {line} is not UTF-8. Save the file as UTF-8 and send it again.") from None
    if "\0" in text:
        raise _refused(
            f"Line {text[: text.index(chr(0))].count(chr(10)) + 1} contains a NUL character. Send a text file."
        )
    return text


def _of_json(text: str) -> tuple[Expected, list[str]]:
    expected: Expected = {}
    wrong: list[str] = []
    try:
        # Parse objects as pairs, so that duplicate queries are detected.
        pairs = json.loads(text, object_pairs_hook=_Members)
    except json.JSONDecodeError as error:
        return {}, [f"Line {error.lineno}, column {error.colno}: {error.msg}. Expected {_SHAPES}."]
    except RecursionError:
        return {}, [f"The JSON is nested too deeply. Expected {_SHAPES}."]
    except ValueError:
        # Python refuses to parse numbers with thousands of digits.
        return {}, [f"A number in the JSON is too long. Expected {_SHAPES}."]
    for query_id, value in pairs:
        _add_all(expected, wrong, f"Query {query_id!r}", query_id, value)
    return expected, _too_many(expected, wrong)


class _Members(list[tuple[str, Any]]):
    """Return an object's members in their order; a JSON list is not an object."""


def _of_csv(text: str) -> tuple[Expected, list[str]]:
    expected: Expected = {}
    wrong: list[str] = []
    try:
        for line, cells in _lines(text):
            if len(cells) == len(COLUMNS):
                _add(expected, wrong, f"Line {line}", *cells)
            else:
                wrong.append(
                    f"Line {line} has {amount(len(cells), 'cell')}, but two are expected: {','.join(COLUMNS)}."
                )
    except csv.Error as error:
        wrong.append(f"The text is not valid CSV: {error}. Enclose answers that contain a comma or a quote in quotes.")
    return expected, _too_many(expected, wrong)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    head: list[str] | None = None
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        if head is None:
            head = [cell.strip().lower() for cell in cells]
            if head != list(COLUMNS):
                raise _refused(f"Line {reader.line_num} reads {','.join(cells)[:80]!r}. Expected {_SHAPES}.")
        else:
            yield reader.line_num, cells


def _too_many(expected: Expected, wrong: list[str]) -> list[str]:
    many = len(expected) > MOST_QUERIES
    return [f"{len(expected):,} queries exceed the limit of {MOST_QUERIES:,}. Leave out some of them."] * many + wrong


def _add_all(expected: Expected, wrong: list[str], place: str, query_id: str, value: object) -> None:
    texts = [value] if isinstance(value, str) else value
    if isinstance(texts, _Members) or not isinstance(texts, list | tuple) or not texts:
        wrong.append(f"{place} has {value_kind(value)}, but must have a string or a list of strings.")
    elif query_id in expected:
        wrong.append(f"{place} appears twice. Put all its answers into one list.")
    else:
        for text in texts:
            _add(expected, wrong, place, query_id, text)


def _add(expected: Expected, wrong: list[str], place: str, query_id: str, text: object) -> None:
    answers = expected.get(query_id, [])
    if not isinstance(text, str) or not text.strip():
        wrong.append(f"{place} has an answer that is empty or not a string. Enter the answer, or leave out the query.")
    elif not query_id:
        wrong.append(f"{place} has no query id. Add one.")
    elif not _storable(query_id + text):
        wrong.append(f"{place} contains a NUL character or an unpaired surrogate. Remove it.")
    elif len(text) > LONGEST:
        wrong.append(f"{place} has an answer of {len(text):,} characters. The limit is {LONGEST:,}. Shorten it.")
    elif text in answers:
        wrong.append(f"{place} repeats an answer of this query. Remove the repetition.")
    elif len(answers) >= MOST_ANSWERS:
        wrong.append(f"{place} has more than {MOST_ANSWERS} answers. Remove some.")
    else:
        expected[query_id] = [*answers, text]


def _storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
