"""Generator of docs/formats.md, printed by ``python -m assay.formats.reference_page`` and checked by a test."""

from __future__ import annotations

import sys
from pathlib import Path
from string import Template
from typing import NamedTuple

from assay.formats import FORMATS, Format
from assay.formats.column_names import LABEL_COLUMNS, RESULT_COLUMNS


class Code(NamedTuple):
    """The meaning of an issue code and its effect."""

    meaning: str
    effect: str


_REFUSED = "the file is refused"
_REJECTED = "the row is rejected"
_ROW_ACCEPTED = "the row is accepted"

CODES: dict[str, Code] = {
    "F00": Code("the file cannot be opened", _REFUSED),
    "F01": Code("the file is UTF-16, or not valid UTF-8", _REFUSED),
    "F02": Code("the archive is damaged, truncated, unsafe or too large", _REFUSED),
    "F03": Code("not this format: binary, another format, or only errors in the first 1,000 rows", _REFUSED),
    "F04": Code("the header is missing, lacks a column, or is present but not expected", _REFUSED),
    "F05": Code("a JSON syntax error", _REFUSED),
    "F06": Code("the bundle has no manifest, or a zip archive does not contain exactly one file", _REFUSED),
    "F07": Code("the file is empty or has no row of the expected kind", _REFUSED),
    "E10": Code("a wrong number of fields or cells, or broken quotes", _REJECTED),
    "E11": Code("an empty id or query", _REJECTED),
    "E12": Code("not a number", _REJECTED),
    "E13": Code("a fraction, although the scale has whole grades", "the row is rejected; map the grades first"),
    "E14": Code("a grade that is not on the scale", "the row is rejected; map the grades first"),
    "E15": Code("an id with white space, which the format does not allow", _REJECTED),
    "E16": Code("the same pair (or id, or counted query) with a different value", "all of its rows are rejected"),
    "E17": Code("a label or judgment of a query that is not in the collection", _REJECTED),
    "E18": Code("a query id with two texts", _REJECTED),
    "E19": Code("a control character, NUL or an unpaired surrogate", _REJECTED),
    "E20": Code("a repeated key in a JSON object", _REJECTED),
    "E21": Code("an id over 500, a query over 2,048 or a narrative over 5,000 characters", _REJECTED),
    "E22": Code("two columns with the same name", _REFUSED),
    "E23": Code("a value of the wrong type, or one that contradicts another value", _REJECTED),
    "E24": Code("a line that is not a JSON object", _REJECTED),
    "E25": Code("a different narrative for a query that is being judged", _REJECTED),
    "E26": Code("a different share of a stratum, or a different stratum of a query", _REJECTED),
    "E27": Code("a query that the engine failed to run", _REJECTED),
    "E28": Code("a formula in a cell of a workbook", _REJECTED),
    "E29": Code("a training negative that is also a positive of its query", _REJECTED),
    "W30": Code("a byte order mark", "removed"),
    "W31": Code("lines that end in CRLF or CR", "read as line endings"),
    "W32": Code("a whole grade with a decimal point, such as 3.0", "read as a whole number"),
    "W33": Code("a repeated row", "counted once"),
    "W34": Code("a comment line", "skipped"),
    "W35": Code("a blank line", "skipped"),
    "W36": Code("no line ending at the end of the file", "read as a complete line"),
    "W37": Code("an apostrophe or space in front of a formula, or doubled quotation marks", "removed"),
    "W38": Code("documents whose content is not in the collection", "stored; raters see no text for them"),
    "W39": Code("an id with an unusual space, or not in Unicode form NFC", _ROW_ACCEPTED),
    "W40": Code("a rank that contradicts the scores", "ordered by score"),
    "W41": Code("an unknown column or key", "ignored"),
    "W42": Code("a number as an id", "read as text"),
    "W43": Code("a grade as a number where the format has text", "read as if it were text"),
    "W44": Code("an infinite score", "accepted; the document sorts first or last"),
    "W45": Code("more fields than the format defines", "the extra fields are ignored or added to the tag"),
    "W46": Code("cells separated by a character other than a comma", "read with this separator"),
    "W47": Code("a column with an alternative name", "read as the standard column"),
    "W48": Code("no column for the rater", "all rows are assigned to one rater"),
    "W49": Code("a run without scores", "minus the rank is used as the score"),
    "W50": Code("a search without a query", "skipped and counted"),
    "W51": Code(
        "an event of a different kind, such as a click in a query log, or a row of another snapshot",
        "skipped and counted",
    ),
    "W52": Code("a model's preference below -1 or above 1", "limited to -1 or 1"),
    "W53": Code("a document compared with itself, as in zbench for queries with one document", "skipped and counted"),
    "W54": Code("times that are not ISO 8601 with a time zone", "the report shows how they were read"),
    "W55": Code(
        "two columns or keys with the same meaning, such as docno and docid", "one is read and the other is ignored"
    ),
    "W56": Code("a query that may contain a disguised email address", "accepted; a person must review it"),
    "W57": Code("a run with queries that are not in the collection", "stored; these queries are not scored"),
    "W58": Code(
        "a run in which most rows share their score with another row of the query",
        "stored; tied documents are sorted by id, descending",
    ),
    "W59": Code(
        "a query that may contain personal data",
        "accepted; a person must review it, or remove it when the query is stored",
    ),
    "W60": Code("samples that are variants of a missing sample", "stored; robustness metrics skip these samples"),
    "W61": Code(
        "samples with neither a reference answer nor relevant documents",
        "stored; metrics that need them skip these samples",
    ),
    "W62": Code("samples that are variants of each other in a cycle", "stored; robustness metrics skip these samples"),
    "W63": Code("a document with different fields in two pairs of a book", "the first fields are used"),
    "W64": Code("documents whose content in the collection differs", "stored; the collection keeps its content"),
    "W65": Code("a query without documents", "skipped"),
    "W66": Code("a group of several queries", "each query gets the labels of the group"),
    "W67": Code("documents that a machine judge failed to judge", "without a label"),
    "W68": Code("documents of several indexes", "read by their ids alone"),
    "W69": Code("other sheets of a workbook", "not read"),
    "W70": Code("a model's label among ratings, or a rating among labels of models", "skipped and counted"),
    "W71": Code("machine judgments without ids", "queries are numbered; documents get ids made from their texts"),
}


def page() -> str:
    """Return the whole page."""
    rows = [
        f"| `{member.name}` | {member.kind} | {' '.join(member.extensions)} | {member.title} | {member.tool} | "
        f"{'read and written' if member.write else 'read'} |\n"
        for member in FORMATS.values()
    ]
    template = Template(Path(__file__).with_suffix(".md").read_text(encoding="utf-8"))
    return template.substitute(
        formats=len(FORMATS),
        foreign=len(foreign()),
        written=len(foreign(written=True)),
        overview="".join(rows),
        names=_names(),
        sections="".join(map(_section, FORMATS.values())),
        codes="".join(f"| {code} | {what.meaning} | {what.effect} |\n" for code, what in CODES.items()),
    )


def foreign(written: bool = False) -> list[str]:
    """Return the formats of other tools that are read, or of those the ones that are written."""
    return [name for name, member in FORMATS.items() if member.tool and (member.write or not written)]


def _names() -> str:
    columns = LABEL_COLUMNS | RESULT_COLUMNS
    return "".join(
        f"| `{name}` | {', '.join(f'`{other}`' for other in others)} |\n" for name, others in columns.items()
    )


def _section(member: Format) -> str:
    file = f"FILE{member.extensions[0]}"
    made = f"assay convert FILE.csv --from {member.kind}-csv --to {member.name} --out {file}"
    shown = f"Create such a file from the rows below with `{made}`.\n\n" if member.binary else ""
    options = "".join(f"- `{name}`: {meaning}\n" for name, meaning in member.options.items())
    return (
        f"### `{member.name}`\n\n{member.description}\n\n{options}{'' if not options else chr(10)}"
        f"{shown}```\n{member.example}```\n\nCheck a file with `assay validate {file} --format {member.name}`.\n\n"
    )


if __name__ == "__main__":
    sys.stdout.write(page())
