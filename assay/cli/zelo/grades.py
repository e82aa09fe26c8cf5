"""The ``grades`` and ``next`` actions of ``assay zelo``: grades from scores and anchors, and the next battles."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from assay.cli.inputs.documents import format_of, kind_of
from assay.cli.inputs.files import DEFAULT, read_rows, scale_values, write_out, written
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.formats.battles_jsonl import Battle


def grades(args: argparse.Namespace) -> int:
    """Learn cut points from documents that people graded, and write qrels with a grade for every scored document."""
    from assay.cli.inputs.files import read_human_labels
    from assay.llm.pairwise.cut_points import learn

    (anchors,) = others(args, 1, "human grades: qrels or ratings")
    scores = scores_of(args.source)
    people = read_human_labels(anchors, scale_values(args.scale or DEFAULT))
    both = [pair for pair in scores if pair in people]
    odd = next((pair for pair in both if people[pair] != int(people[pair])), None)
    if odd is not None:
        raise NotValid(f"{anchors}: {' '.join(odd)} has the grade {people[odd]:g}; use whole grades")
    cut_points = learn([scores[pair] for pair in both], [int(people[pair]) for pair in both])
    given = cut_points.grades(list(scores.values())).tolist()
    # Column 2 marks labels of a machine.
    lines = [f"{query} 1 {doc} {grade}\n" for (query, doc), grade in zip(scores, given, strict=True)]
    write_out("".join(lines), args.out)
    cuts = ", ".join(
        f"{low}|{high} at {cut:.2f}"
        for low, high, cut in zip(cut_points.values, cut_points.values[1:], cut_points.cuts, strict=False)
    )
    sys.stderr.write(
        f"{amount(len(given), 'grade')} from {amount(cut_points.anchors, 'anchor')}: {cuts}; the cut points "
        f"reproduce the grades of {cut_points.right:.0%} of the anchors\n"
    )
    return 0


def next_battles(args: argparse.Namespace) -> int:
    """Write the battles that would most reduce the uncertainty of each query's scores."""
    from assay.formats.battles_jsonl import Battle
    from assay.llm.pairwise.score_fitting import most_telling

    rows = read_battles(args.source)
    most = 10 if args.most is None else args.most
    if most < 1:
        raise NotValid(f"--most is {most}; use 1 or more battles per query")
    prior = 1.0 if args.prior is None else args.prior
    battles = most_telling([(row.query_id, row.a, row.b, row.score) for row in rows], most, prior=prior)
    write_out(written("battles-jsonl", [Battle(query, a, b) for query, a, b in battles]), args.out)
    sys.stderr.write(f"{amount(len(battles), 'battle')}, most informative first in each query\n")
    return 0


def read_battles(path: str) -> list[Battle]:
    """Return judged battles from battles.jsonl or zbench's ai_scores.json."""
    name = None if path == "-" else format_of(path, "battles")
    return read_rows(name or "battles-jsonl", path)


def scores_of(path: str) -> dict[tuple[str, str], float]:
    """Return scores of documents in the order of the file, from scores.jsonl or an annotated zbench data set."""
    format_name = None if path == "-" else format_of(path)
    if format_name == "zbench-dataset":
        raise NotValid(f"{path}: has no scores; annotate it first with assay zelo fit --annotate {path}")
    name = format_name if format_name is not None and kind_of(format_name) == "document-scores" else "scores-jsonl"
    return {(row.query_id, row.doc_id): row.score for row in read_rows(name, path)}


def by_query(path: str) -> dict[str, dict[str, float]]:
    """Return scores by query, of a file as in `scores_of` or of a run."""
    name = None if path == "-" else format_of(path)
    if name is not None and kind_of(name) == "run":
        from assay.formats.qrels_and_runs import load_run

        return load_run(path)[0].to_dict()
    scores: dict[str, dict[str, float]] = {}
    for (query_id, doc_id), score in scores_of(path).items():
        scores.setdefault(query_id, {})[doc_id] = score
    return scores


def others(args: argparse.Namespace, wanted: int, what: str) -> list[str]:
    """Return the files after the first one."""
    if len(args.others) != wanted:
        raise NotValid(f"assay zelo {args.act} needs a second file: {what}")
    return list(args.others)
