"""Parser of expected answers: which answers are accepted for each query, pasted or uploaded.

The format is JSON, ``{"q1": "one answer", "q2": ["one", "another"]}``, or CSV with the columns ``query_id,expected``,
where a query with several answers has several lines. An error names its position, and then nothing is accepted.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from judgments.core.amounts import amount
from judgments.core.errors import NotValid

Expected = dict[str, list[str]]
COLUMNS = ("query_id", "expected")
LARGEST = 5_000_000
MOST_QUERIES, MOST_ANSWERS, LONGEST = 20_000, 20, 10_000
MOST_TOLD = 10


def read(content: str | bytes) -> Expected:
    """The accepted answers of a text or a file, told by its first character: ``{`` begins JSON, all else is CSV.

    Raises
    ------
    NotValid
        It is too large, is not UTF-8, or some of it cannot be used: each place is told, and nothing is taken.
    """
    text = _decoded(content)
    if not text.strip():
        raise _refused(f"Nothing is there. Give {_SHAPES}.")
    found, wrong = _of_json(text) if text.lstrip().startswith("{") else _of_csv(text)
    if wrong:
        more = f" And {len(wrong) - MOST_TOLD:,} more." if len(wrong) > MOST_TOLD else ""
        raise _refused(" ".join(wrong[:MOST_TOLD]) + more)
    return found


def checked(given: Mapping[str, str | Sequence[str]]) -> Expected:
    """The same of values that were parsed already.

    Raises
    ------
    NotValid
        As `read`.
    """
    found: Expected = {}
    wrong: list[str] = []
    for query_id, value in given.items():
        _add_all(found, wrong, f"Query {query_id!r}", query_id, value)
    if sum(len(text) for texts in found.values() for text in texts) > LARGEST:
        wrong.insert(0, f"They are larger than {LARGEST // 1_000_000} MB. Give those of this round's queries alone.")
    wrong = _too_many(found, wrong)
    if wrong:
        raise _refused(" ".join(wrong[:MOST_TOLD]))
    return found


def sha256(expected: Mapping[str, Sequence[str]]) -> str:
    """What a judge's parameters name them by."""
    plain = {query_id: list(texts) for query_id, texts in expected.items()}
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


_SHAPES = 'JSON such as {"q1": ["an answer"]}, or CSV whose first line reads query_id,expected'


def _refused(said: str) -> NotValid:
    return NotValid(f"The expected answers cannot be read. {said}", {"expected": said})


def _decoded(content: str | bytes) -> str:
    if len(content) > LARGEST:
        raise _refused(f"They are larger than {LARGEST // 1_000_000} MB. Give those of this round's queries alone.")
    if isinstance(content, str):
        text = content.removeprefix("\ufeff")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content[: error.start].count(b"\n") + 1
            raise _refused(f"Line {line} is not UTF-8. Save the file as UTF-8 and send it again.") from None
    if "\0" in text:
        raise _refused(f"Line {text[: text.index(chr(0))].count(chr(10)) + 1} holds a NUL character. Is this a text?")
    return text


def _of_json(text: str) -> tuple[Expected, list[str]]:
    found: Expected = {}
    wrong: list[str] = []
    try:
        # As pairs, so that a query that is named twice is seen.
        pairs = json.loads(text, object_pairs_hook=_Members)
    except json.JSONDecodeError as error:
        return {}, [f"Line {error.lineno}, column {error.colno}: {error.msg}. Expected {_SHAPES}."]
    except RecursionError:
        return {}, [f"The JSON is nested too deeply. Expected {_SHAPES}."]
    except ValueError:
        # Python reads no number of thousands of digits.
        return {}, [f"A number of the JSON is too long to be read. Expected {_SHAPES}."]
    for query_id, value in pairs:
        _add_all(found, wrong, f"Query {query_id!r}", query_id, value)
    return found, _too_many(found, wrong)


class _Members(list[tuple[str, Any]]):
    """An object's members in their order; no list of JSON is taken for one."""


def _of_csv(text: str) -> tuple[Expected, list[str]]:
    found: Expected = {}
    wrong: list[str] = []
    try:
        for line, cells in _lines(text):
            if len(cells) == len(COLUMNS):
                _add(found, wrong, f"Line {line}", *cells)
            else:
                wrong.append(
                    f"Line {line} has {amount(len(cells), 'cell')} where two are expected: {','.join(COLUMNS)}."
                )
    except csv.Error as error:
        wrong.append(f"It cannot be read as CSV: {error}. Put an answer that holds a comma or a quote in quotes.")
    return found, _too_many(found, wrong)


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


def _too_many(found: Expected, wrong: list[str]) -> list[str]:
    many = len(found) > MOST_QUERIES
    return [f"{len(found):,} queries are too many; {MOST_QUERIES:,} at most."] * many + wrong


def _add_all(found: Expected, wrong: list[str], place: str, query_id: str, value: object) -> None:
    texts = [value] if isinstance(value, str) else value
    if isinstance(texts, _Members) or not isinstance(texts, list | tuple) or not texts:
        wrong.append(f"{place} has {type(value).__name__} where a text or a list of texts is expected.")
    elif query_id in found:
        wrong.append(f"{place} stands there twice: put all its answers into one list.")
    else:
        for text in texts:
            _add(found, wrong, place, query_id, text)


def _add(found: Expected, wrong: list[str], place: str, query_id: str, text: object) -> None:
    answers = found.get(query_id, [])
    if not isinstance(text, str) or not text.strip():
        wrong.append(f"{place} has an empty answer, or one that is no text. Give the answer, or leave the query out.")
    elif not query_id:
        wrong.append(f"{place} names no query.")
    elif not _storable(query_id + text):
        wrong.append(f"{place} holds a NUL or half a surrogate pair, which no text holds.")
    elif len(text) > LONGEST:
        wrong.append(f"{place} has an answer of {len(text):,} characters; {LONGEST:,} at most.")
    elif text in answers:
        wrong.append(f"{place} has an answer that this query has already.")
    elif len(answers) >= MOST_ANSWERS:
        wrong.append(f"{place} has more than {MOST_ANSWERS} answers.")
    else:
        found[query_id] = [*answers, text]


def _storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
