"""Generator of docs/formats.md, printed by ``python -m assay.formats.reference_page`` and checked by a test."""

from __future__ import annotations

import sys

from assay.formats import FORMATS, Format
from assay.formats.column_names import LABEL_COLUMNS, RESULT_COLUMNS
from assay.formats.report_codes import CODES

_HEAD = """# Formats: what Assay reads and writes

This page is printed from the formats' own declarations (`python -m assay.formats.reference_page > docs/formats.md`).

- The content of a file decides its format, not its name. gzip is unpacked, a byte order mark is removed, and lines may
  end in LF, CRLF or CR. Text is UTF-8; `--encoding latin-1` reads old files.
- Nothing is dropped or repaired without a note in the report. Every line ends in one of eight bins (header, blank,
  comment, accepted, repaired, duplicate, conflict, rejected). The report lists each problem with its line number, what
  was done about it and how to fix it. `assay validate FILE` prints the report; the import page shows the same one.
- Ids are opaque: `007` is not `7`, nothing is trimmed or folded. They are ordered as UTF-8 bytes.
- A pair without a grade is never written as 0. A judged 0 is always written.
- In Assay's own CSV files a cell that a spreadsheet might run (`=`, `+`, `-`, `@`, also in full width, TAB or CR in
  front) gets one apostrophe, and loses it when it is read.
- Files of one kind convert into each other; whatever names pairs converts into pairs:
  `assay convert qrels.txt --to judgment-list --queries queries.csv --out judgments.json`.

"""
_OTHERS = """## Qrels and runs beside TREC's

JSON, JSONL, CSV and Parquet contain the same rows: query, document, and a grade or a score. Columns and keys may have
the alternative names below; the first one present is read. Others are ignored with a warning (W41, W55).
`--column doc_id=sku` maps a column.

| column | also read as |
|---|---|
"""
_ODD = """
- The command decides whether a file is read as a run or as qrels; `--run-format` and `--qrels-format` name the format
  where the content does not show it.
- A grade or score is a number: a word, a text in quotation marks, `true`, `null`, NaN or an empty cell is an error
  (E12). Infinite scores are accepted (W44) but cannot be written as JSON.
- A run without scores is ordered by its ranks: the score is minus the rank (W49). In a run with both, the scores
  decide, and ranks that contradict them are reported (W40).
- In JSON a repeated query is an error (E20). So is a document that a query lists twice (E16); the report names its path
  (`q1 / d3`) and line. Ids are texts; a whole number is read as text (W42), a fraction is an error (E23).
- In Parquet the row number takes the place of a line number. Ids that are numbers are read as text (W42); a column of
  another type is refused with its name (F04).
- LZ4 files of ranx are refused: save the run as JSON or Parquet there.

"""
_STRICT = """## How strict is reading?

`assay evaluate` and related commands stop at the first error and name file and line. They accept any number as a grade,
including fractions and negative numbers, and ignore further fields of a qrels line (W45). With a scale
(`--scale 0:3`, or an import into a collection) fractions (E13), grades off the scale (E14) and a fifth field (E10) are
errors. Scores of a run may be infinite but not NaN. A document that a query lists twice is an error even when both rows
agree, because one of the two is in the wrong place. The rank column does not decide anything.

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

One file with `FORMAT = Format(...)`, its `read` and its `write`, and one line in `assay/formats/__init__.py`; or,
from another package, an entry point in the group `assay.formats`. The contract test
(`tests/assay/formats/test_contract.py`) covers a new member by itself: example, round trip, damaged input.
"""


if __name__ == "__main__":
    sys.stdout.write(page())
