"""Change reports as one static HTML page without scripts, in light and dark, for narrow and wide screens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import zip_longest

from assay.core.text_rules import amount
from assay.decisions.change_report import (
    ChangedQuery,
    ChangeReport,
    Result,
    decision,
    difference,
    direction,
    grade,
    minutes,
    move,
    points,
    summary,
)
from assay.decisions.gate_verdicts import Verdict
from assay.decisions.gate_verdicts import amount as rule_amount

# Queries whose lists are on the page, queries that are open at first, and newcomers by name.
SHOWN, OPEN, NAMED = 200, 3, 500
STYLE = """
:root { color-scheme: light dark; --ink: #1c1f23; --soft: #59606a; --line: #d5d9de; --page: #fff; --fill: #f4f5f7;
  --good: #1a6b3c; --bad: #a3262a; --good-fill: #e4f3ea; --bad-fill: #fbe9e9; --warn-fill: #fdf3d8; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7e9ec; --soft: #a7aeb8; --line: #3a4048; --page: #16181b;
  --fill: #202429; --good: #7fd3a0; --bad: #f19a9a; --good-fill: #17301f; --bad-fill: #3a1d1e; --warn-fill: #3a3115;
  --link: #8ab8f0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.3; } h2 { font-size: 1.15rem; margin-top: 2rem; }
h1, h2 { text-wrap: balance; }
.verdict { border-inline-start: .4rem solid; padding: .6rem 1rem; background: var(--fill); }
.passed { border-color: var(--good); } .failed { border-color: var(--bad); }
.soft { color: var(--soft); } .number { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; } .scroll th, .scroll td { overflow-wrap: break-word; } .scroll table { min-width: 20rem; }
.scroll.wide table { min-width: 46rem; }
.scroll:focus-visible, summary:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .35rem .5rem; border-block-end: 1px solid var(--line); text-align: start; vertical-align: top; }
th { font-weight: 600; } thead th { color: var(--soft); }
.loss { color: var(--bad); } .gain { color: var(--good); }
details { border: 1px solid var(--line); border-radius: .4rem; margin-block: .5rem; }
summary { padding: .6rem .8rem; cursor: pointer; display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
summary::before { content: "▸"; } details[open] > summary::before { content: "▾"; }
summary .name { flex: 1 1 12rem; font-weight: 600; }
details > div { padding: 0 .8rem .8rem; }
.lists { table-layout: fixed; } .lists .rank { width: 2.6rem; }
.chip { display: inline-block; padding: 0 .4rem; border-radius: .3rem; background: var(--fill); }
.unjudged .chip { background: var(--warn-fill); } .gone { background: var(--bad-fill); }
.new { background: var(--good-fill); } .small { font-size: .875rem; }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def as_html(report: ChangeReport) -> str:
    """Return the page."""
    before, after = (escape(name) for name in report.names)
    verdict = "passed" if report.gate.passed else "failed"
    body = [
        f"<h1>Change report: {after} compared with {before}</h1>",
        f'<p class="verdict {verdict}"><strong>{escape(decision(report))}</strong></p>',
        _list(summary(report)),
        *_rules(report),
        *_queries(report),
        *_newcomers(report),
    ]
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">',
            f"<title>{after}: {verdict}, {escape(difference(report))}</title>",
            f"<style>{STYLE}</style>",
            "</head>",
            "<body>",
            "<main>",
            *body,
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _rules(report: ChangeReport) -> Iterable[str]:
    yield '<h2 id="rules">Rules</h2>'
    yield _table(
        "rules", ["Rule", "Verdict", "#Value", "#Before", "#After", "#p", "Reason"], map(_rule, report.gate.verdicts)
    )
    if report.gate.warnings:
        yield _list(report.gate.warnings)


def _rule(verdict: Verdict) -> str:
    value = "undefined" if verdict.value is None else rule_amount(verdict.value, verdict.rule)
    numbers = [
        value,
        *("" if one is None else f"{one:.4f}" for one in (verdict.baseline, verdict.candidate)),
        "" if verdict.p is None else f"{verdict.p:.3g}",
    ]
    passed = '<span class="gain">✓ passed</span>' if verdict.passed else '<span class="loss">✗ failed</span>'
    cells = "".join(f'<td class="number">{escape(number)}</td>' for number in numbers)
    head, reason = escape(verdict.rule.text), escape(verdict.reason or "")
    return f'<tr><th scope="row">{head}</th><td>{passed}</td>{cells}<td>{reason}</td></tr>'


def _queries(report: ChangeReport) -> Iterable[str]:
    yield "<h2>Changed queries, largest expected loss first</h2>"
    if not report.changed:
        yield f"<p>The first {report.depth} results are the same for every judged query.</p>"
        return
    for place, query in enumerate(report.changed[:SHOWN]):
        yield _query(report, query, opened=place < OPEN)
    if len(report.changed) > SHOWN:
        rest = amount(len(report.changed) - SHOWN, "more changed query has", "more changed queries have")
        yield f'<p class="soft">{rest} a smaller expected loss.</p>'


def _query(report: ChangeReport, query: ChangedQuery, *, opened: bool) -> str:
    text = report.query_texts.get(query.query_id, "")
    name = (
        f'{escape(text)} <span class="soft small">{escape(query.query_id)}</span>' if text else escape(query.query_id)
    )
    newcomers, lists = len(query.newcomers), (query.before, query.after)
    figures = [
        f'<span class="number {direction(query)}">{points(-query.expected_loss)} expected</span>',
        f'<span class="number">{query.baseline:.3f} to {query.candidate:.3f}</span>',
        *([f"<span>{amount(newcomers, 'unjudged newcomer')}</span>"] if newcomers else []),
        *([f'<span class="soft">{query.weight:.2%} of traffic</span>'] if report.weighted else []),
    ]
    rows = [
        f'<tr><th scope="row" class="rank number">{rank}</th>'
        f"{_cell(report, before, 'gone')}{_cell(report, after, 'new')}</tr>"
        for rank, (before, after) in enumerate(zip_longest(*lists), 1)
    ]
    empty = [name if results else f"{name} (no results)" for name, results in zip(report.names, lists, strict=True)]
    heads = ['<th scope="col" class="rank number">#</th>', *(f'<th scope="col">{escape(head)}</th>' for head in empty)]
    table = f'<table class="lists"><thead><tr>{"".join(heads)}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    summary_line = f'<summary><span class="name">{name}</span>{"".join(figures)}</summary>'
    return f"<details{' open' if opened else ''}>{summary_line}<div>{table}</div></details>"


def _cell(report: ChangeReport, result: Result | None, alone: str) -> str:
    """Return the cell of a result, marked if only this list has it."""
    if result is None:
        return "<td></td>"
    title = report.titles.get(result.doc_id, "")
    name = (
        f'{escape(title)} <span class="soft small">{escape(result.doc_id)}</span>' if title else escape(result.doc_id)
    )
    classes = [*([alone] if result.other_rank is None else []), *(["unjudged"] if result.grade is None else [])]
    marked = f' class="{" ".join(classes)}"' if classes else ""
    where = move(result, alone)
    note = f' <span class="soft small">{where}</span>' if where else ""
    return f'<td{marked}>{name}<br><span class="chip small">{grade(result)}</span>{note}</td>'


def _newcomers(report: ChangeReport) -> Iterable[str]:
    newcomers = report.newcomers
    yield '<h2 id="newcomers">Unjudged newcomers</h2>'
    if not newcomers:
        yield "<p>No unjudged documents entered the results.</p>"
        return
    cost = f"about {minutes(report)} to judge at {report.seconds:g} s each"
    yield f"<p>{amount(len(newcomers), 'pair')}, {cost}, in the order of the queries.</p>"
    rows = (
        f"<tr><td>{escape(report.query_texts.get(query.query_id) or query.query_id)}</td>"
        f'<td>{escape(report.titles.get(one.doc_id) or one.doc_id)}</td><td class="number">{one.rank}</td></tr>'
        for query, one in newcomers[:NAMED]
    )
    yield _table("newcomers", ["Query", "Document", "#Rank"], rows)
    if len(newcomers) > NAMED:
        yield f'<p class="soft">{len(newcomers) - NAMED:,} more are not listed.</p>'


def _list(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _table(label: str, heads: Sequence[str], rows: Iterable[str]) -> str:
    """Return a table in a box that scrolls; ``#`` marks numeric columns."""
    cells = "".join(
        f'<th scope="col"{" class=number" if head.startswith("#") else ""}>{head.removeprefix("#")}</th>'
        for head in heads
    )
    table = f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    style = "scroll wide" if len(heads) > 3 else "scroll"
    return f'<div class="{style}" tabindex="0" role="group" aria-labelledby="{label}">{table}</div>'
