"""Generate docs/metrics.md from the table of metrics, so that the page stays up to date.

``python -m assay.metrics.reference_page > docs/metrics.md`` writes the page again.
"""

from __future__ import annotations

import re
import sys

from assay.metrics import DEFAULT_METRICS, METRICS, TABLE
from assay.metrics.metric import Metric, Parameter

HEAD = """# Metrics

This page is generated from the declarations in `assay/metrics/`; `python -m assay.metrics.reference_page` prints it.

## Rules for all metrics

- **Order.** Documents are sorted by score descending, then by id descending (UTF-8 bytes), as in trec_eval.
  The rank column and the order of lines are ignored. The diagnostics of each run contain the number of ties.
- **Relevant** means a grade of at least `rel`, which is 1 by default; for example, `P(rel=2)@10` sets it to 2. R is
  the number of relevant documents for the query, returned or not.
- **Unjudged documents** have a gain of 0. `Judged@k` is the share that is judged; `judged_only=True` (or
  `--condensed`) drops unjudged documents before scoring.
- **Negative grades** have a gain of 0 and are never relevant. `Judged` counts them as judged; `Bpref`, `RBPresid` and
  `judged_only=True` treat them as unjudged; `infAP` treats them as pooled and unjudged.
- **The mean** is over the queries in the qrels. A query that the run does not answer counts as an empty ranking:
  it scores 0 (except for `NumQ`, `NumRel` and `RBPresid`), or is left out with `--missing skip`. A query without
  relevant documents scores 0 and stays in the mean. Queries that occur only in the run are ignored.
- **Weighted means** are sum(w/p m) / sum(w/p), where m is the value of a query, w its share of traffic, and p its
  inclusion probability.

## Metric names

Names have the form `NAME(parameter=value)@k`. Case and spaces are ignored on input, `@`, `_` or `.` may precede the
cutoff, and `P@5,10` means two metrics. Names for which tools compute different values (`hits@k`, `unj_k`,
`ndcg@k-l2`, `ndcg_cut` without a cutoff) are rejected with a list of alternatives.

These trec_eval metrics are not supported: preferences, Z-scores, `utility`, `G`, `binG`, `Rndcg`, `ndcg_rel`,
`Rprec_mult`, `set_map`, `gm_bpref`, `num_nonrel_judged_ret`, and the names of sets of metrics (`official`, `all_trec`).
"""

CUTOFFS = {
    "optional": "Cutoff `@k`: optional",
    "required": "Cutoff `@k`: required",
    "none": "Cutoff `@k`: none",
    "level": "Level `@r`: required, the share of the relevant documents, between 0 and 1",
}
MEANS = {
    "geometric": "The mean is geometric: exp of the mean of ln max(value, 0.00001).",
    "sum": "The query values are summed, not averaged.",
}


def page() -> str:
    """Return the page."""
    default = ", ".join(f"`{name}`" for name in DEFAULT_METRICS)
    members = [METRICS[name] for name in TABLE]
    table = ["| Name | Meaning |", "|---|---|", *(f"| `{m.example}` | {m.description} |" for m in members)]
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
        f"- {CUTOFFS[metric.cutoff]}",
    ]
    if metric.by_subtopic:
        lines.append("- Needs labels by subtopic: lines with query, subtopic, document and grade.")
    if metric.mean in MEANS:
        lines.append(f"- {MEANS[metric.mean]}")
    if metric.aliases:
        lines.append(f"- Aliases: {', '.join(f'`{alias}`' for alias in metric.aliases)}")
    flags = "".join(p.trec(p.name) for p in metric.parameters if p.required and p.trec)
    theirs = (metric.trec_name and metric.trec_name + flags, re.sub(r"\{k.*?\}", "k", metric.trec_name_at))
    lines.append(f"- Name in `--format trec`: {', '.join(f'`{name}`' for name in theirs if name) or 'the same'}")
    lines += [_parameter(metric, parameter) for parameter in metric.parameters]
    labels = "--subtopics diversity.qrels" if metric.by_subtopic else "qrels.txt"
    example = f"assay evaluate {labels} bm25.run -m '{metric.example}'"
    return "\n".join([*lines, "", "```", example, "```", ""])


def _parameter(metric: Metric, parameter: Parameter) -> str:
    choices = f" One of {', '.join(f'`{choice}`' for choice in parameter.choices)}." if parameter.choices else ""
    if parameter.required:
        default = "required"
    elif parameter.default is None:
        default = "from the labels" if parameter.name == metric.scale_top else "none by default"
    else:
        default = f"default `{parameter.default}`"
    return f"- Parameter `{parameter.name}` ({default}): {parameter.description}{choices}"


def _extending() -> str:
    return """## Adding a metric

Create a file with a function that takes `JudgedRankings` and a `Metric` that declares it. Add a line to
`assay/metrics/__init__.py` and regenerate this page. Other packages can add metrics through the entry point
`assay.metrics`.
"""


if __name__ == "__main__":
    sys.stdout.write(page())
