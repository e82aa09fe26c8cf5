"""Generator of docs/formats.md, printed by ``python -m judgments.formats.document`` and checked by a test."""

from __future__ import annotations

import sys

from judgments.formats import FORMATS, Format
from judgments.formats.codes import CODES
from judgments.formats.column_names import LABEL_COLUMNS, RESULT_COLUMNS

_HEAD = """# Formats: what Assay reads and writes

This page is printed from the formats' own declarations (`python -m judgments.formats.document > docs/formats.md`).

- A file's content decides, not its name: gzip is unpacked, a byte order mark is taken off, lines may end in LF, CRLF or
  CR. Text is UTF-8; `--encoding latin-1` is for old files.
- Nothing is dropped or repaired in silence. Every line ends in one of eight bins (header, blank, comment, accepted,
  repaired, duplicate, conflict, rejected), and each that is odd is in the report with its number, what is odd, what was
  done and how to mend it. `assay validate FILE` prints the report; the import page shows the same one.
- Ids are opaque: `007` is not `7`, nothing is trimmed or folded. They are ordered as UTF-8 bytes.
- A pair without a grade is never written as 0. A judged 0 is always written.
- In Assay's own CSV files a cell that a spreadsheet might run (`=`, `+`, `-`, `@`, TAB or CR in front) gets one
  apostrophe, and loses it when it is read.
- Files of one kind convert into each other; whatever names pairs converts into pairs:
  `assay convert qrels.txt --to judgment-list --queries queries.csv --out judgments.json`.

"""
_OTHERS = """## Qrels and runs beside TREC's

JSON, JSONL, CSV and Parquet hold the same rows: query, document, and a grade or a score. Where a file names its columns
or keys, these names are read, the first one that is there. Others are ignored with a warning (W41, W55);
`--column doc_id=sku` says which column is which.

| column | also read as |
|---|---|
"""
_ODD = """
- A file is a run or qrels as the command needs it; `--run-format` and `--qrels-format` say it where content cannot.
- A grade or score is a number: a word, a text in quotation marks, `true`, `null`, NaN or an empty cell is an error
  (E12). Infinite scores are kept (W44) and cannot be written as JSON.
- A run without scores is ranked by its ranks: minus the rank is the score (W49). Where it has both, scores decide, and
  ranks that contradict them are told (W40).
- In JSON a query that stands twice is an error (E20). So is a document that stands twice in a query (E16);
  the report names its path (`q1 / d3`) and line. Ids are texts; a whole number is read as text (W42), a fraction is an
  error (E23).
- In Parquet the number of a row stands for a line. Ids that are numbers are read as text (W42); a column of another
  type is refused with its name (F04).
- LZ4 files of ranx are refused: save the run as JSON or Parquet there.

"""
_STRICT = """## How strict is reading?

`assay evaluate` and its kin stop at the first error and name file and line. They take any number as a grade, fractions
and negative ones too, and ignore further fields of a qrels line (W45). With a scale (`--scale 0:3`, or an import into a
collection) fractions (E13), grades off the scale (E14) and a fifth field (E10) are errors. Scores of a run may be
infinite but not NaN; a document that stands twice in a query is an error even when both rows agree, because one of the
two is in the wrong place. The rank column decides nothing.

"""


def page() -> str:
    """Return the whole page."""
    return "".join(
        [
            _HEAD,
            _overview(),
            _STRICT,
            _OTHERS,
            _names(),
            _ODD,
            "## Each format\n\n",
            *map(_section, FORMATS.values()),
            _codes(),
            _newcomers(),
        ]
    )


def _overview() -> str:
    rows = [
        f"| `{member.name}` | {member.kind} | {' '.join(member.extensions)} | {member.title} |\n"
        for member in FORMATS.values()
    ]
    return "| format | kind | files | |\n|---|---|---|---|\n" + "".join(rows) + "\n"


def _names() -> str:
    columns = LABEL_COLUMNS | RESULT_COLUMNS
    return "".join(
        f"| `{name}` | {', '.join(f'`{other}`' for other in others)} |\n" for name, others in columns.items()
    )


def _section(member: Format) -> str:
    file = f"FILE{member.extensions[0]}"
    made = f"assay convert FILE.csv --from {member.kind}-csv --to {member.name} --out {file}"
    shown = f"The rows below become such a file by `{made}`.\n\n" if member.binary else ""
    options = "".join(f"- `{name}`: {meaning}\n" for name, meaning in member.options.items())
    return (
        f"### `{member.name}`\n\n{member.description}\n\n{options}{'' if not options else chr(10)}"
        f"{shown}```\n{member.example}```\n\nChecked by `assay validate {file} --format {member.name}`.\n\n"
    )


def _codes() -> str:
    rows = [f"| {code} | {what.meaning} | {what.effect} |\n" for code, what in CODES.items()]
    head = "## Codes\n\nF refuses the file, E is an error, W a warning.\n\n| code | found | effect |\n|---|---|---|\n"
    return head + "".join(rows) + "\n"


def _newcomers() -> str:
    return """## A format of your own

One file with `FORMAT = Format(...)`, its `read` and its `write`, and one line in `judgments/formats/__init__.py`; or,
from another package, an entry point in the group `assay.formats`. The contract test
(`tests/judgments/formats/test_contract.py`) covers a new member by itself: example, round trip, damaged input.
"""


if __name__ == "__main__":
    sys.stdout.write(page())
