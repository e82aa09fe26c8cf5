"""TREC topics as SGML and XML: title or query, description and narrative of each topic."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import BinaryIO

from assay.core.errors import NotValid
from assay.core.read_report import RowFault, Tally
from assay.formats.format import Format
from assay.formats.grade_cells import Keyed, checked_id
from assay.formats.queries import checked_query, note_personal
from assay.formats.reader import note_unusual, reader
from assay.formats.row_types import QueryRow
from assay.formats.text_lines import Content
from assay.formats.writer import Written, write_text

SGML, XML = "trec-topics", "trec-topics-xml"
# Topics are written by people; a larger file is something else.
MOST = 64 << 20
_TOPIC = re.compile(r"<top(?:ic)?(\s[^>]*)?>(.*?)</top(?:ic)?\s*>", re.S | re.I)
_OUTSIDE = re.compile(r"<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>|</?(?:topics|root|xml)\b[^>]*>", re.S | re.I)
_NUMBER = re.compile(r"""\bnumber\s*=\s*["']([^"']*)["']""", re.I)
# A tag of classic topics is not closed: the next one ends it. Other tags are those of early tracks.
_TAG = re.compile(
    r"</?(num|number|title|query|question|desc|description|narr|narrative|head|dom|smry|con|fac|nat|def|note|subtopic|web)"
    r"(?:\s[^<>]*)?>",
    re.I,
)
_HEADINGS = re.compile(r"(?:Number|Topic|Description|Narrative)\s*:", re.I)
_TEXTS, _NEEDS = ("title", "query"), ("question", "desc", "description", "narr", "narrative")
_KNOWN = {"num", "number", *_TEXTS, *_NEEDS}
_LINE = "<top><num> Number: 301 <title> running shoes </top>"


def _parse(content: Content, tally: Tally) -> Iterator[QueryRow]:
    if b"<top" not in content.head.lower():
        tally.refuse("has no <top> or <topic> in its first 64 KB")
    text = content.text(MOST).replace("\r\n", "\n").replace("\r", "\n")
    by_key: Keyed[QueryRow] = Keyed(tally)
    end = 0
    for match in _TOPIC.finditer(text):
        _refuse_outside(text, end, match.start(), tally)
        end = match.end()
        line = text.count("\n", 0, match.start()) + 1
        tally.read()
        with tally.rejecting(line, raw=match[0]):
            row = _topic(match[1] or "", match[2], line, tally)
            note_personal(tally, line, row.query)
            note_unusual(tally, line, row.query_id)
            by_key.add(row.query_id, (row.query, row.narrative), row, line, row.query_id)
    _refuse_outside(text, end, len(text), tally)
    yield from by_key.rows()


def _refuse_outside(text: str, begin: int, end: int, tally: Tally) -> None:
    """Report text between topics, such as a topic that is not closed."""
    rest = _OUTSIDE.sub(lambda match: " " * len(match[0]), text[begin:end])
    if stray := rest.strip():
        line = text.count("\n", 0, begin + rest.index(stray)) + 1
        tally.read()
        fix = "begin each topic with <top> and end it with </top>"
        tally.reject("E10", line, "text outside of a topic", fix=fix, raw=stray)


def _topic(attributes: str, body: str, line: int, tally: Tally) -> QueryRow:
    parts: dict[str, str] = {}
    tags = list(_TAG.finditer(body))
    if not tags:
        # Tracks of clinical trials have the text itself as the topic.
        parts["query"] = " ".join(html.unescape(body).split())
    elif stray := body[: tags[0].start()].strip():
        raise RowFault("E10", f"the text {stray[:80]!r} is in front of the first tag", "move it into a tag")
    ends = [*(match.start() for match in tags[1:]), len(body)]
    for match, end in zip(tags, ends, strict=False):
        tag, text = match[1].lower(), body[match.end() : end].strip()
        if match[0].startswith("</"):
            if text:
                raise RowFault("E10", f"the text {text[:80]!r} follows {match[0]}", "move it into a tag")
        elif tag not in _KNOWN:
            if text:
                tally.once("W41", line, f"the tag <{tag}>", done="ignored", column=tag)
        elif tag in parts:
            raise RowFault("E20", f"two <{tag}> in one topic", "keep one, and end every topic with </top>")
        else:
            heading = _HEADINGS.match(text)
            parts[tag] = " ".join(html.unescape(text[heading.end() if heading else 0 :]).split())
    number = _NUMBER.search(attributes)
    query_id = checked_id(
        html.unescape(number[1]).strip() if number else parts.get("num", parts.get("number", "")), "number"
    )
    query = next((parts[tag] for tag in _TEXTS if parts.get(tag)), "")
    checked_query(query)
    need = "\n\n".join(parts[tag] for tag in _NEEDS if parts.get(tag))
    return QueryRow(query_id, query, need, line=line)


def _write(rows: Iterable[QueryRow], stream: BinaryIO, *, xml: bool = False) -> Written:
    """Write topics with a title and a narrative; the other values of the queries are left out."""
    lines, number = ["<topics>\n"] if xml else [], 0
    for row in rows:
        number += 1
        if any(" ".join(text.split()) != text for text in (row.query_id, row.query)):
            raise NotValid(f"query {row.query_id!r}: {SGML} cannot contain repeated or outer white space; remove it")
        query_id, query, need = (html.escape(text) for text in (row.query_id, row.query, row.narrative))
        if xml:
            lines.append(f'  <topic number="{query_id}">\n    <query>{query}</query>\n')
            lines.append(f"    <narrative>{need}</narrative>\n" if need else "")
            lines.append("  </topic>\n")
        else:
            lines.append(f"<top>\n<num> Number: {query_id}\n<title> {query}\n")
            lines.append(f"<narr> Narrative:\n{need}\n" if need else "")
            lines.append("</top>\n")
    lines += ["</topics>\n"] if xml else []
    write_text(stream, "".join(lines))
    return Written(number)


SGML_FORMAT = Format(
    name=SGML,
    title="TREC topics, SGML",
    tool="TREC",
    kind="queries",
    extensions=(".txt", ".topics"),
    description="Topics with number, title, description and narrative, as TREC publishes them; tags may be unclosed.",
    read=reader(SGML, _LINE, _parse),
    write=_write,
    example="<top>\n<num> Number: 301\n<title> running shoes\n<narr> Narrative:\nShoes for roads.\n</top>\n",
)
XML_FORMAT = Format(
    name=XML,
    title="TREC topics, XML",
    tool="TREC",
    kind="queries",
    description="Topics with a number, a query and a narrative, as newer TREC tracks publish them.",
    read=reader(XML, '<topic number="1"><query>running shoes</query></topic>', _parse),
    write=partial(_write, xml=True),
    example=(
        '<topics>\n  <topic number="1">\n    <query>running shoes</query>\n'
        "    <narrative>Shoes for roads.</narrative>\n  </topic>\n</topics>\n"
    ),
)
