"""The command ``assay zelo``: draw battles between documents, judge them with models, fit and use scores."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from assay.cli import option
from assay.cli.inputs.files import add_out, warn_no_effect, write_out, written
from assay.cli.options import provider
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.formats.battles_jsonl import Battle
    from assay.llm.pairwise.score_fitting import Fitted

EXAMPLE = "assay zelo fit battles.jsonl --out scores.jsonl"

PAIRS, JUDGE, FIT, NEXT, GRADES, BENCHMARK, RERANK = "pairs", "judge", "fit", "next", "grades", "benchmark", "rerank"
MATRIX, BATTLES = "matrix", "battles"
DRAW: dict[str, Any] = {"cycles": 4, "most": None, "both": 0.0, "seed": 0}
PROVIDER_DEFAULTS = dict.fromkeys(provider.NAMES)
# The options of each action, with their defaults.
OPTIONS: dict[str, dict[str, Any]] = {
    PAIRS: DRAW,
    JUDGE: {
        **DRAW,
        **PROVIDER_DEFAULTS,
        "model": None,
        "texts": None,
        "guidelines": None,
        "ledger": None,
        "dry_run": False,
    },
    FIT: {"method": "map", "prior": None, "annotate": None},
    NEXT: {"most": None, "prior": None},
    MATRIX: {"method": "map", "prior": None, "query": None},
    BATTLES: {"method": "map", "prior": None, "query": None, "document": None, "format": "table"},
    GRADES: {"scale": None},
    BENCHMARK: {"most": None, "documents": None, "k": 5, "k_truth": None, "format": "table"},
    RERANK: {
        "most": None,
        "scorer": None,
        "url": None,
        "name": None,
        "model": None,
        "key_variable": None,
        "timeout": None,
        "concurrency": None,
        "per_minute": None,
        "tokens_per_minute": None,
        "resume": None,
    },
}
PRIOR = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their options."""
    option(parser, "act ACT", f"one of {', '.join(OPTIONS)}", choices=OPTIONS)
    option(
        parser,
        "source FILE",
        "pairs, judge, rerank: pairs.jsonl or a file with documents; fit, next, matrix, battles: battles.jsonl",
    )
    option(parser, "others FILE", "grades: human grades; benchmark: the scores to compare", nargs="*")
    draw = parser.add_argument_group("pairs, judge")
    option(
        draw,
        "--cycles N",
        "number of random rounds, each of which compares every document with two others; default: 4",
        type=int,
    )
    option(draw, "--most N", "compare only the first N documents of each query; next: N battles", type=int)
    option(draw, "--both SHARE", "share of the comparisons to show in both orders; default: 0", type=float)
    option(draw, "--seed", "seed for the draw; default: 0", type=int)
    ask = parser.add_argument_group("judge")
    option(
        ask,
        "--model MODEL",
        "a name, or PROVIDER:NAME[@URL][,PRICE_IN,PRICE_OUT[,KEY_VARIABLE]]; may be repeated",
        action="append",
    )
    option(ask, "--texts FILE", "pairs.jsonl or a zbench data set with the texts of FILE's documents")
    option(ask, "--guidelines FILE", "the guidelines for raters, as text or Markdown")
    option(ask, "--ledger FILE", "file that records all calls to the model; default: a file next to --out")
    option(ask, "--dry-run", "print an estimate without calling a model", action="store_true", default=None)
    provider.add_provider_options(parser)
    fit = parser.add_argument_group("fit, next, matrix, battles")
    option(fit, "--method", "map: maximum a posteriori; zbench: as in zbench; default: map", choices=("map", "zbench"))
    option(fit, "--prior X", "precision of the prior for map; default: 1", type=float)
    option(fit, "--annotate DATASET", "fit: add the scores to this zbench data set")
    option(fit, "--query ID", "matrix, battles: only this query")
    option(fit, "--document ID", "battles: document whose battles and reasons to list")
    more = parser.add_argument_group("grades, benchmark, rerank")
    option(more, "--scale MIN:MAX", "grades: grade scale; default: 0:3")
    option(more, "-k K", "benchmark: number of top documents; default: 5", type=int)
    option(more, "--k-truth K", "benchmark: number of best documents in the reference; default: same as -k", type=int)
    option(more, "--documents FILE", "benchmark: the documents in their original order, for --most and ties")
    option(more, "--format", "benchmark, battles: output format; default: table", choices=("table", "json"))
    option(more, "--scorer MODULE:NAME", "rerank: function(query, documents), or an object with score(...)")
    option(more, "--url URL", "rerank: address of a reranking API")
    option(more, "--resume", "rerank: continue an interrupted run", action="store_true", default=None)
    option(more, "--name NAME", "rerank: name of the run; default: rerank")
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Run the action."""
    mine = OPTIONS[args.act]
    for name in dict.fromkeys(name for options in OPTIONS.values() for name in options):
        if name in mine:
            if getattr(args, name) is None:
                setattr(args, name, mine[name])
        elif getattr(args, name) is not None:
            owners = " and ".join(act for act, options in OPTIONS.items() if name in options)
            flag = f"--{name.replace('_', '-')} {getattr(args, name)}"
            warn_no_effect(flag, f"it applies to assay zelo {owners}")
    if args.method == "zbench" and args.prior is not None:
        warn_no_effect(f"--prior {args.prior:g}", "the method zbench has no prior")
    if args.others and args.act not in (GRADES, BENCHMARK):
        raise NotValid(f"assay zelo {args.act} takes one file; remove {args.others[0]}")
    if args.most is not None and args.most < 2 and args.act in (PAIRS, JUDGE):
        raise NotValid(f"--most is {args.most}; use 2 or more")
    return _acts()[args.act](args)


def _acts() -> dict[str, Callable[[argparse.Namespace], int]]:
    from assay.cli.zelo.battles import battles, matrix
    from assay.cli.zelo.benchmark import benchmark
    from assay.cli.zelo.grades import grades, next_battles
    from assay.cli.zelo.judge import judge
    from assay.cli.zelo.rerank import rerank

    return {
        PAIRS: _pairs,
        JUDGE: judge,
        FIT: _fit,
        NEXT: next_battles,
        MATRIX: matrix,
        BATTLES: battles,
        GRADES: grades,
        BENCHMARK: benchmark,
        RERANK: rerank,
    }


def _pairs(args: argparse.Namespace) -> int:
    from assay.cli.inputs.documents import documents
    from assay.formats.battles_jsonl import Battle
    from assay.llm.pairwise.score_fitting import drawn_battles

    doc_ids = documents(args.source)
    rows = drawn_battles(doc_ids, cycles=args.cycles, most=args.most, both=args.both, seed=args.seed)
    battles = [Battle(query_id, a, b, swapped=swapped) for query_id, a, b, swapped in rows]
    write_out(written("battles-jsonl", battles), args.out)
    alone = sum(len(listed) < 2 for listed in doc_ids.values())
    more = f"; {amount(alone, 'query has', 'queries have')} only one document and no battle" if alone else ""
    sys.stderr.write(
        f"{amount(len(rows), 'battle')} of {amount(len(doc_ids), 'query', 'queries')}, seed {args.seed}{more}\n"
    )
    return 0


def _fit(args: argparse.Namespace) -> int:
    from assay.cli.inputs.documents import documents
    from assay.cli.zelo.grades import read_battles
    from assay.formats.scores_jsonl import DocumentScore
    from assay.llm.pairwise.score_fitting import fit_queries

    rows = read_battles(args.source)
    answers = [(row.query_id, row.a, row.b, row.score, row.model) for row in rows]
    prior = PRIOR if args.prior is None else args.prior
    every = documents(args.annotate) if args.annotate else None
    fitted = fit_queries(answers, method=args.method, prior=prior, documents=every)
    if not fitted.battles:
        raise NotValid(f"{args.source}: no battle has a score; judge the battles first with assay zelo judge")
    if args.annotate:
        from assay.llm.pairwise.benchmark_scores import annotate

        scores = {(query_id, doc_id): score for query_id, doc_id, score, _ in fitted.scores}
        as_zbench = args.method == "zbench"
        write_out("".join(annotate(args.annotate, scores, every=as_zbench)), args.out)
        without = len((every or {}).keys() - {query_id for query_id, _ in scores})
        if without:
            what = "all their documents get the score 0, as in zbench" if as_zbench else "they are left out"
            left = f"{amount(without, 'query', 'queries')} of {args.annotate}"
            sys.stderr.write(f"note: no score for {left}; {what}\n")
    else:
        write_out(written("scores-jsonl", [DocumentScore(*row) for row in fitted.scores]), args.out)
    sys.stderr.write("".join(f"{line}\n" for line in _fit_summary(fitted, rows)))
    return 0


def _fit_summary(fitted: Fitted, rows: Sequence[Battle]) -> list[str]:
    """Return a summary of the fit: documents, failures, convergence and position bias."""
    from assay.llm.pairwise.battles import first_place

    lines = [
        f"{amount(len(fitted.scores), 'document')} of {amount(fitted.queries, 'query', 'queries')} scored from "
        f"{amount(fitted.battles, 'answer')}"
    ]
    if fitted.failed:
        lines.append(
            f"note: {amount(fitted.failed, 'row')} without a score left out, because a failed call is not a vote"
        )
    if fitted.voted:
        votes = amount(fitted.voted, "failed call counts as a vote", "failed calls count as votes")
        lines.append(f"note: {votes} for the first document, as in zbench; --method map leaves them out")
    if fitted.not_converged:
        lines.append(
            f"note: no convergence for {amount(fitted.not_converged, 'query', 'queries')}; "
            "--method map always converges"
        )
    place = first_place(rows)
    if place.share is not None and any(row.swapped for row in rows):
        lines.append(f"the document shown first won {place.share:.1%} of {amount(place.answers, 'answer')}")
    return lines
