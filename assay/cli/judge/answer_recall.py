"""Recall of expected answers in rankings, by a judge's verdict on each text and answer."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from assay.cli import number, option, text_table
from assay.cli.inputs.files import named_runs, print_warnings, stdin_once
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.formats.row_types import PairRow
    from assay.llm.judges import Context
    from assay.llm.judges.model_judge import ModelJudge
    from assay.llm.judges.token_overlap import YesNoJudge
    from assay.llm.model_reply import Reply
    from assay.llm.providers.protocol import Endpoint

OPTIONS = ("match", "run", "k")
MATCHES = ("first", "all")
CUTOFF = 10
# Ranked documents by name of the ranking and query.
Ranks = dict[str, dict[str, list[str]]]


def add_recall_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of recall."""
    group = parser.add_argument_group("recall of expected answers, for token_overlap, semantic and expected_answer")
    option(group, "--run [NAME=]RUN", "run to measure; default: the ranks in PAIRS", action="append")
    option(group, "-k K", f"number of documents per query; default: {CUTOFF}", type=int)
    option(group, "--match", "count a text for the first answer that it matches, or for all", choices=MATCHES)


def refuse(args: argparse.Namespace) -> None:
    """Reject the recall options for a judge that does not match texts with answers."""
    if given := [option for option in OPTIONS if getattr(args, option) is not None]:
        flag = "-k" if given[0] == "k" else f"--{given[0]}"
        what = f"{flag} applies to judges that match texts with expected answers"
        raise NotValid(f"{what}, and {args.judge} does not; remove it")


def ranks(args: argparse.Namespace, rows: Iterable[PairRow], judge: Any) -> Ranks | None:
    """Return the rankings whose recall is requested; None if it is not."""
    if all(getattr(args, option) is None for option in OPTIONS):
        return None
    if not hasattr(judge, "batch_judge"):
        refuse(args)
    if args.k is not None and args.k < 1:
        raise NotValid(f"-k is {args.k}; use 1 or more")
    if args.run is None:
        ranked = sorted((row for row in rows if row.rank is not None), key=lambda row: row.rank or 0)
        if not ranked:
            raise NotValid(f"{args.pairs}: no pair has a rank; add ranks to the pairs, or name a run with --run FILE")
        return {Path(args.pairs).name: _by_query((row.query_id, row.doc_id) for row in ranked)}
    from assay.formats.qrels_and_runs import open_run

    paths = named_runs(args.run)
    stdin_once([args.pairs, *(path for _, path in paths)])
    files = [open_run(Path(path), path, name, None) for name, path in paths]
    tables = [file.whole() for file in files]
    print_warnings([file.report for file in files])
    return {table.name: {query: table.ranking(query) for query in table.query_ids} for table in tables}


def print_recall(args: argparse.Namespace, rows: Sequence[PairRow], ranked: Ranks, judge: Any) -> None:
    """Print recall for each ranking, on standard error if the labels are on standard output."""
    k, match = args.k or CUTOFF, args.match or "first"
    lines, notes = [], []
    for name, lists in ranked.items():
        values, unknown = _recalls(rows, lists, k, match, judge)
        lines.append([name, f"recall@{k}", match, number(fmean(values)) if values else "-", str(len(values))])
        if unknown:
            queries = amount(unknown, "query", "queries")
            notes.append(
                f"note: {name}: no recall for {queries}, because a document in the top {k} is not among the pairs\n"
            )
    stream = sys.stderr if args.out in (None, "-") else sys.stdout
    stream.write(text_table(["run", "metric", "match", "mean", "queries"], lines, left=3))
    if missing := getattr(judge, "missing", 0):
        notes.append(f"note: {amount(missing, 'unreadable or missing answer')} from the model, counted as no match\n")
    sys.stderr.write("".join(notes))


def _recalls(
    rows: Sequence[PairRow], lists: Mapping[str, Sequence[str]], k: int, match: Any, judge: YesNoJudge
) -> tuple[list[float], int]:
    """Return the recall of each query with expected answers, and the number of queries with unknown documents."""
    from assay.llm.judges.token_overlap import matched, recall

    texts = {(row.query_id, row.doc_id): row.text for row in rows}
    expected: dict[str, dict[str, None]] = {}
    for row in rows:
        expected.setdefault(row.query_id, {}).update(dict.fromkeys(row.expected))
    queries = {row.query_id: row.query for row in rows}
    values: list[float] = []
    unknown = 0
    for query_id, answers in expected.items():
        first = [(query_id, doc_id) for doc_id in lists.get(query_id, ())[:k]]
        if any(pair not in texts for pair in first):
            unknown += bool(answers)
            continue
        answers_matched = matched(judge, queries[query_id], list(answers), [texts[pair] for pair in first], match=match)
        value = recall(answers_matched, len(answers), k)
        values += [] if value is None else [value]
    return values, unknown


def _by_query(pairs: Any) -> dict[str, list[str]]:
    doc_ids: dict[str, list[str]] = {}
    for query_id, doc_id in pairs:
        doc_ids.setdefault(query_id, []).append(doc_id)
    return doc_ids


class RecordedAnswers:
    """Judge that uses only the recorded answers of a model."""

    def __init__(self, judge: ModelJudge, endpoint: Endpoint, replies: Mapping[str, Reply]) -> None:
        self._judge, self._endpoint, self._replies = judge, endpoint, replies
        self.missing = 0

    def batch_judge(self, contexts: Sequence[Context]) -> list[bool]:
        """Return True where the model said yes; unreadable or missing answers are False and counted."""
        from assay.llm.judges.bulk_judging import Asking
        from assay.llm.providers.question_run import Ended

        verdicts: dict[int, bool | None] = {}
        asking = Asking(self._judge, self._endpoint, contexts, self._replies)
        asking.run(
            lambda verdict: verdicts.update({verdict.place: verdict.outcome.relevant}),
            by=lambda *questions, **how: Ended("done", "", 0, 0),
        )
        answers = [verdicts.get(place) for place in range(len(contexts))]
        self.missing += sum(one is None for one in answers)
        return [one is True for one in answers]
