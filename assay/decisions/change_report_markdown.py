"""Change reports as Markdown, for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.markdown_text import code, plain
from assay.core.text_rules import amount
from assay.decisions.change_report import (
    ChangedQuery,
    ChangeReport,
    Result,
    decision,
    grade,
    minutes,
    move,
    points,
    summary,
)

# A comment on GitHub may have 65,536 characters; the rules of the gate come before this part.
MOST_CHARACTERS = 55_000
# Queries in the table, and queries whose lists are shown.
LISTED, SHOWN = 20, 10


def as_markdown(report: ChangeReport) -> str:
    """Return the decision, the changed queries by expected loss, some lists, and the unjudged newcomers."""
    head = [f"#### {plain(decision(report))}", "", *(f"- {plain(line)}" for line in summary(report)), ""]
    if not report.changed:
        return "\n".join(head)
    parts = ["\n".join([*head, *_table(report)])]
    left = MOST_CHARACTERS - len(parts[0])
    newcomers = _newcomers(report)
    for query in report.changed[:SHOWN]:
        block = _lists(report, query)
        if len(block) + len(newcomers) > left:
            break
        parts.append(block)
        left -= len(block)
    return "\n".join([*parts, newcomers])


def _table(report: ChangeReport) -> list[str]:
    rows = [
        f"| {_name(report, query)} | {query.baseline:.3f} | {query.candidate:.3f} | {points(-query.expected_loss)} |"
        f" {len(query.newcomers)} |"
        for query in report.changed[:LISTED]
    ]
    more = len(report.changed) - len(rows)
    heading = f"| query | {report.metric} before | after | expected change | unjudged newcomers |"
    return [
        heading,
        "|---|---:|---:|---:|---:|",
        *rows,
        "",
        *([f"{amount(more, 'more changed query', 'more changed queries')}."] if more > 0 else []),
        "",
    ]


def _lists(report: ChangeReport, query: ChangedQuery) -> str:
    before, after = _cells(report, query.before, "gone"), _cells(report, query.after, "new")
    rows = [
        f"| {rank + 1} | {before[rank] if rank < len(before) else ''} | {after[rank] if rank < len(after) else ''} |"
        for rank in range(max(len(before), len(after)))
    ]
    return "\n".join(
        [
            f"<details><summary>{_name(report, query)}: {points(-query.expected_loss)}</summary>",
            "",
            "| rank | baseline | candidate |",
            "|---:|---|---|",
            *rows,
            "",
            "</details>",
            "",
        ]
    )


def _cells(report: ChangeReport, results: Sequence[Result], alone: str) -> list[str]:
    cells = []
    for one in results:
        title = report.titles.get(one.doc_id, "")
        name = f"{code(one.doc_id)} {plain(title)}" if title else code(one.doc_id)
        cells.append(f"{name} ({', '.join(filter(None, (grade(one), move(one, alone))))})")
    return cells


def _newcomers(report: ChangeReport) -> str:
    newcomers = report.newcomers
    if not newcomers:
        return "No unjudged documents entered the results.\n"
    rows = [f"- {_name(report, query)}: {code(one.doc_id)} at rank {one.rank}" for query, one in newcomers[:LISTED]]
    more = len(newcomers) - len(rows)
    summary_text = f"{amount(len(newcomers), 'unjudged newcomer')}, {minutes(report)} to judge"
    return "\n".join(
        [
            f"<details><summary>{summary_text}</summary>",
            "",
            *rows,
            *([f"- {more:,} more"] if more > 0 else []),
            "",
            "</details>",
            "",
        ]
    )


def _name(report: ChangeReport, query: ChangedQuery) -> str:
    text = report.query_texts.get(query.query_id, "")
    return f"{plain(text)} ({code(query.query_id)})" if text else code(query.query_id)
