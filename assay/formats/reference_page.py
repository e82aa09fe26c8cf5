"""Generator of docs/formats.md, printed by ``python -m assay.formats.reference_page`` and checked by a test."""

from __future__ import annotations

import sys

from assay.formats import FORMATS, Format
from assay.formats.column_names import LABEL_COLUMNS, RESULT_COLUMNS
from assay.formats.report_codes import CODES

_HEAD = """# File formats

This page is generated from the formats' declarations; `python -m assay.formats.reference_page` prints it.

- Assay detects the format from the content of a file, not from its name. gzip and zip with one file are
  unpacked, a byte order mark is removed, and lines may end in LF, CRLF or CR. Text is UTF-8; `--encoding latin-1` reads
  old files.
- The report accounts for every line: header, blank, comment, accepted, repaired, duplicate, conflict or rejected. It
  lists each problem with its line number, its effect and how to fix it. `assay validate FILE` prints the report; the
  import page shows the same report.
- Ids are opaque: `007` is not `7`, and they are neither trimmed nor case-folded. They are sorted as UTF-8 bytes.
- A pair without a grade is never written as 0. A grade of 0 is always written.
- In Assay's own CSV files, a cell that a spreadsheet might run as a formula (it starts with `=`, `+`, `-`, `@`, also in
  full width, TAB or CR) is written with a leading apostrophe, which is removed when the file is read.
- Some tools identify queries by their text. Their queries are numbered `q001`, `q002`, ... in the order of the file, or
  get the ids of `--queries FILE`; an import into a collection uses the ids of queries with exactly the same text.
- `assay convert` reads whole data sets of BEIR, MTEB and ir_datasets, and writes those of BEIR and MTEB (see
  [cli.md](cli.md)). Their files have the formats `documents-jsonl`, `queries-jsonl`, `beir-qrels`, `qrels-jsonl`, or
  Parquet; `--set beir=true` writes their names of keys.
- An export of an annotation tool, or a file of LARA, contains grades of people and labels of models. Two formats read
  it, one for each kind; Assay uses the one whose kind the import or the command expects.
- `assay convert` also selects training data from qrels: see [cli.md](cli.md#assay-convert) on hard negatives.
- Files of the same kind can be converted into each other, and every kind with pairs can be converted into pairs:
  `assay convert qrels.txt --to judgment-list --queries queries.csv --out judgments.json`.

"""
_SOURCES = """## Published shapes of other tools

These formats follow what the tools publish:

- Argilla: `Record.to_dict` and `Record.from_dict` in the SDK 2, and the checks of its server (`argilla-io/argilla`).
- FlagEmbedding: the README of its fine-tuning examples (`FlagOpen/FlagEmbedding`).
- Label Studio: its page on the task format, the converter in `HumanSignal/label-studio-sdk`, and the import in
  `label_studio/tasks/serializers.py` (`HumanSignal/label-studio`).
- LARA: `src/example-covid-itachi-graded.py` (`RikiyaT/LARA`), which copies the column `annotation` from qrels, although
  the README calls it predicted.
- nuggetizer: `src/nuggetizer/cli/adapters.py` (`castorini/nuggetizer`).
- ragas: `SingleTurnSample` in `src/ragas/dataset_schema.py` (`explodinggradients/ragas`).
- Search Relevance Workbench: the OpenSearch documentation of experiments, of comparing query sets and of evaluating
  search quality (`opensearch-project/documentation-website`).
- sentence-transformers: the dataset overview on sbert.net.
- umbrela: `src/umbrela/cli/normalize.py`, `io.py` and `view.py`, and the examples of its quickstart
  (`castorini/umbrela`).
- zbench: `zbench/common_types.py` and `zbench/annotation.py` (`zeroentropy-ai/zbench`).

"""
_OTHERS = """## Qrels and runs in formats other than TREC

JSON, JSONL, CSV and Parquet contain the same rows: query, document, and a grade or a score. Columns and keys may have
the alternative names below; the first name that is present is used. Others are ignored with a warning (W41, W55).
`--column doc_id=sku` maps a column.

| column | also read as |
|---|---|
"""
_ODD = """
- The command decides whether a file is read as a run or as qrels; `--run-format` and `--qrels-format` name the format
  if the content is ambiguous.
- A grade or score is a number: a word, a quoted string, `true`, `null`, NaN or an empty cell is an error (E12).
  Infinite scores are accepted (W44) but cannot be written as JSON.
- A run without scores is sorted by its ranks: the score is minus the rank (W49). A run with both is sorted by its
  scores, and ranks that contradict them are reported (W40).
- In JSON a repeated query is an error (E20). So is a document that a query lists twice (E16); the report shows its path
  (`q1 / d3`) and line. Ids are strings; a whole number is read as text (W42), a fraction is an error (E23).
- For Parquet, reports show the row number instead of a line number. Numeric ids are read as text (W42); a column of
  another type is an error that names the column (F04).
- LZ4 files of ranx are not supported: save the run as JSON or Parquet in ranx.

"""
_STRICT = """## Strictness

`assay evaluate` and related commands stop at the first error and print the file and line. They accept any number as a
grade, including fractions and negative numbers, and ignore extra fields of a qrels line (W45). With a scale
(`--scale 0:3`, or an import into a collection) fractions (E13), grades off the scale (E14) and a fifth field (E10) are
errors. Scores of a run may be infinite but not NaN. A document that a query lists twice is an error even if both rows
agree, because one of its two positions must be wrong. The rank column is ignored if the run has scores.

"""


def page() -> str:
    """Return the whole page."""
    return "".join(
        [
            _HEAD,
            _overview(),
            _STRICT,
            _SOURCES,
            _OTHERS,
            _names(),
            _ODD,
            "## Each format\n\n",
            *map(_section, FORMATS.values()),
            _codes(),
            _newcomers(),
        ]
    )


def foreign(written: bool = False) -> list[str]:
    """Return the formats of other tools that are read, or of those the ones that are written."""
    return [name for name, member in FORMATS.items() if member.tool and (member.write or not written)]


def _overview() -> str:
    rows = [
        f"| `{member.name}` | {member.kind} | {' '.join(member.extensions)} | {member.title} | {member.tool} | "
        f"{'read and written' if member.write else 'read'} |\n"
        for member in FORMATS.values()
    ]
    counts = (
        f"Of {len(FORMATS)} formats, {len(foreign())} belong to other tools; {len(foreign(written=True))} of these "
    )
    head = "| format | kind | files | | tool | |\n|---|---|---|---|---|---|\n"
    return f"{counts}are written, too.\n\n{head}{''.join(rows)}\n"


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


def _codes() -> str:
    rows = [f"| {code} | {what.meaning} | {what.effect} |\n" for code, what in CODES.items()]
    head = "## Issue codes\n\nF: the file is refused. E: error. W: warning.\n\n"
    head += "| code | issue | effect |\n|---|---|---|\n"
    return head + "".join(rows) + "\n"


def _newcomers() -> str:
    return """## Adding a format

Add one file with `FORMAT = Format(...)`, its `read` and its `write`, and one line in `assay/formats/__init__.py`; or,
in another package, an entry point in the group `assay.formats`. The contract test
(`tests/assay/formats/test_contract.py`) automatically covers the new format: example, round trip, damaged input.
"""


if __name__ == "__main__":
    sys.stdout.write(page())
