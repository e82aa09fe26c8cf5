"""What does docs/metrics.md say? Written from the family, so that it cannot rot.

``python -m evaluation.metrics.document > docs/metrics.md`` writes the page anew.
"""

from __future__ import annotations

import sys

from evaluation.metrics import DEFAULT_METRICS, METRICS, TABLE
from evaluation.metrics.declaration import Metric, Parameter

HEAD = """# Metrics

This page is written from the declarations in `evaluation/metrics/`; `python -m evaluation.metrics.document` prints it.

## How all metrics count

- **Order.** Documents stand by score descending, then by id descending (UTF-8 bytes). That is trec_eval's rule; the
  rank column and the order of lines play no part. Ties are counted in the diagnostics of each run.
- **Relevant** means a grade of at least `rel`, which is 1 unless the name says otherwise: `P(rel=2)@10`. R is the
  number of relevant documents of the query, returned or not.
- **Unjudged documents** gain nothing. `Judged@k` says how many there are; `judged_only=True` (or `--condensed`) drops
  them before scoring.
- **Negative grades** gain nothing, are never relevant, and count as judged.
- **The mean** runs over the queries of the qrels. A query that the run does not answer scores 0, or is left out with
  `--missing skip`. A query with nothing relevant scores 0 and stays in. Queries that only the run has are ignored.
- **Weighted means** are sum(w/p m) / sum(w/p), w the query's share of traffic and p its inclusion probability.

## How metrics are named

`NAME(parameter=value)@k`. Case and blanks do not matter on input, `@`, `_` and `.` before the cutoff are equal, and
`P@5,10` is two metrics. Where tools compute different things under one name (`hits@k`, `unj_k`, `ndcg@k-l2`) the name
is refused, with the names to choose from.
"""


def page() -> str:
    """Return the page."""
    default = ", ".join(f"`{name}`" for name in DEFAULT_METRICS)
    members = [METRICS[name] for name in TABLE]
    table = ["| name | what it tells |", "|---|---|", *(f"| `{m.example}` | {m.description} |" for m in members)]
    parts = [HEAD, f"Without `-m`, `assay evaluate` computes {default}.\n", "\n".join(table) + "\n"]
    return "\n".join([*parts, *map(_section, members), _extending()])


def _section(metric: Metric) -> str:
    lines = [
        f"## {metric.name}: {metric.title.lower() if metric.title[1:2].islower() else metric.title}",
        "",
        metric.description,
        "",
        f"- Per query: {metric.formula}",
        f"- Source: {metric.source}",
        f"- Cutoff `@k`: {metric.cutoff}",
    ]
    if metric.aliases:
        lines.append(f"- Also read as: {', '.join(f'`{alias}`' for alias in metric.aliases)}")
    theirs = [name for name in (metric.trec_name, metric.trec_name_at.format(k="k")) if name]
    lines.append(f"- In `--format trec`: {', '.join(f'`{name}`' for name in theirs) or 'its own name'}")
    lines += [_parameter(parameter) for parameter in metric.parameters]
    example = f"assay evaluate qrels.txt bm25.run -m '{metric.example}'"
    return "\n".join([*lines, "", "```", example, "```", ""])


def _parameter(parameter: Parameter) -> str:
    choices = f" One of {', '.join(f'`{choice}`' for choice in parameter.choices)}." if parameter.choices else ""
    return f"- Parameter `{parameter.name}` (default `{parameter.default}`): {parameter.description}{choices}"


def _extending() -> str:
    return """## Adding a metric

One file with a function of a `JudgedRanking` and a `Metric` that declares it, and one line in
`evaluation/metrics/__init__.py`; then write this page anew. Another package adds one by the entry point
`assay.metrics`.
"""


if __name__ == "__main__":
    sys.stdout.write(page())
