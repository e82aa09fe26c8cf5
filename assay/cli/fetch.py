"""The command ``assay fetch``: send queries to a live engine and write what it returns as a run."""

from __future__ import annotations

import argparse
import io
import sys
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from assay.cli import option, progress
from assay.cli.inputs.files import STDIN, add_out, read_rows, write_out
from assay.cli.options.engine import add_engine_options, engine_settings, operator_allowlist
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from assay.connectors import ConnectorKind, EngineFault
    from assay.connectors.collected_answers import Gathered
    from assay.formats.row_types import DocumentRow, RunRow


EXAMPLE = (
    "assay fetch queries.csv --engine elasticsearch --set address=http://localhost:9200 --set index=shop "
    "--name bm25 --out bm25.run --documents-out documents.jsonl"
)
# Number of failed queries that are listed one by one.
SHOWN = 5

Queries = list[tuple[str, str]]


@dataclass
class _FetchOutcome:
    """The answers, the failed queries with their errors, and the reason for an early end."""

    gathered: Gathered
    failed: dict[str, str] = field(default_factory=dict)
    end: EngineFault | KeyboardInterrupt | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "queries QUERIES", "queries.csv with query_id and query")
    add_engine_options(parser)
    option(parser, "--depth K", "documents per query", 10)
    option(parser, "--name RUN", "name of the run, written in the last column; default: KIND")
    option(parser, "--documents-out FILE", "write the documents to FILE as documents.jsonl")
    option(parser, "--concurrency N", "number of concurrent queries", 4)
    option(parser, "--timeout S", "timeout per request in seconds", 10.0)
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue an interrupted fetch: send only the queries that are not in the output files",
    )
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Send the queries, write the answers, and print a summary."""
    _check(args)
    kind, values = engine_settings(args)
    kind.check_depth(args.depth, values)
    queries = [(row.query_id, row.query) for row in read_rows("queries-csv", args.queries)]
    left = _left(args, queries)
    rest = [one for one in queries if one[0] not in left.answered]
    outcome = _ask(args, kind, values, rest)
    if outcome.gathered.documents:
        _write_run(args, outcome.gathered, queries, left)
    _print_summary(args.name or kind.name, outcome, len(rest), len(left.answered))
    if isinstance(outcome.end, KeyboardInterrupt):
        raise outcome.end
    return int(bool(outcome.failed or outcome.end or not (outcome.gathered.documents or left.rows)))


def _left(args: argparse.Namespace, queries: Queries) -> EarlierFetch:
    """Return the results of the interrupted fetch that this fetch continues."""

    if not args.resume:
        return EarlierFetch()
    how = {"name": args.name or args.engine, "depth": args.depth}
    return read_earlier_fetch(args.out, args.documents_out, queries=(query_id for query_id, _ in queries), **how)


def _check(args: argparse.Namespace) -> None:
    """Reject options that would fail later, before any query is sent."""
    from assay.connectors.fetch import LONGEST_TIMEOUT, MOST_AT_ONCE

    if not 1 <= args.concurrency <= MOST_AT_ONCE:
        raise NotValid(f"--concurrency is {args.concurrency}; use 1 to {MOST_AT_ONCE}")
    if not 0 < args.timeout <= LONGEST_TIMEOUT:
        raise NotValid(f"--timeout is {args.timeout:g}; use more than 0 and at most {LONGEST_TIMEOUT:g} seconds")
    outputs = [args.out or STDIN, args.documents_out or ""]
    if outputs[0] == outputs[1]:
        raise NotValid("--out and --documents-out name the same file; use two files")
    for path in outputs:
        if path not in ("", STDIN) and (Path(path).is_dir() or not Path(path).parent.is_dir()):
            raise NotValid(f"{path}: cannot write the file; choose a path in an existing folder")


def _ask(args: argparse.Namespace, kind: ConnectorKind, values: dict[str, str], queries: Queries) -> _FetchOutcome:
    """Send all queries; an early end keeps the answers so far."""
    from assay.connectors import EngineFault
    from assay.connectors.collected_answers import Gathered
    from assay.connectors.fetch import Plan, fetch

    outcome = _FetchOutcome(Gathered())
    watch = progress(len(queries), "asking")
    plan = Plan(depth=args.depth, concurrency=args.concurrency)
    try:
        with closing(kind.engine(values, operator_allowlist(values), args.timeout)) as engine:
            for done, answer in enumerate(fetch(engine, queries, plan), start=1):
                if answer.error:
                    outcome.failed[answer.query_id] = answer.error
                else:
                    outcome.gathered.add(answer)
                watch(done)
    except (EngineFault, KeyboardInterrupt) as end:
        outcome.end = end
    return outcome


def _write_run(args: argparse.Namespace, gathered: Gathered, queries: Queries, left: EarlierFetch) -> None:
    from assay.formats import trec_run

    stream = io.BytesIO()
    written = trec_run.write(
        [*left.rows, *_rows(gathered, queries)], stream, tag=args.name or args.engine, encode_ids=True
    )
    write_out(stream.getvalue().decode(), args.out)
    if written.idmap:
        first = next(iter(written.idmap))
        more = f"{amount(len(written.idmap), 'id contains', 'ids contain')} white space or %, such as {first!r}"
        sys.stderr.write(f"note: {more}; such ids are percent-encoded in the output\n")
    if args.documents_out:
        _write_documents(args.documents_out, gathered, written.idmap, left)


def _rows(gathered: Gathered, queries: Queries) -> list[RunRow]:
    from assay.connectors.fetch import falling_scores
    from assay.formats.row_types import RunRow

    return [
        RunRow(query_id, hit.doc_id, score)
        for query_id, _ in queries
        if query_id in gathered
        for hit, score in zip(
            gathered.answers[query_id].hits, falling_scores(gathered.answers[query_id].hits), strict=True
        )
    ]


def _write_documents(path: str, gathered: Gathered, encoded: Mapping[str, str], left: EarlierFetch) -> None:
    """Write each document with content; a document that cannot be written is skipped."""
    from assay.formats.documents import write_jsonl
    from assay.formats.row_types import DocumentRow

    stream, left_out = io.BytesIO(), []
    rows = {
        hit.doc_id: DocumentRow(hit.doc_id, hit.title, hit.text, hit.url, hit.image, hit.fields)
        for hit in gathered.readable()
    }
    # The first of two contents counts, also across interrupted fetches.
    rows |= {row.doc_id: row for row in left.documents}
    for _, row in sorted(rows.items()):
        doc_id = encoded.get(row.doc_id, row.doc_id)
        try:
            write_jsonl([replace(row, doc_id=doc_id)], stream)
        except NotValid as error:
            left_out.append(f"{doc_id!r}: {error}")
    write_out(stream.getvalue().decode(), path)
    if left_out:
        sys.stderr.write(
            f"note: {amount(len(left_out), 'document was', 'documents were')} left out; the first is {left_out[0]}\n"
        )


def _print_summary(name: str, outcome: _FetchOutcome, number: int, before: int) -> None:
    if before and not number:
        sys.stderr.write(f"{name}: {amount(before, 'query', 'queries')} already answered; nothing to do\n")
        return
    answers = outcome.gathered.answers.values()
    counts = {
        "queries without documents": sum(not answer.hits for answer in answers),
        "queries without an answer": len(outcome.failed),
        "queries not sent": number - len(answers) - len(outcome.failed),
        "duplicate documents left out": sum(answer.repeated for answer in answers),
        "documents with more than one content (the first is used)": len(outcome.gathered.differing),
    }
    results = sum(len(answer.hits) for answer in answers)
    more = "".join(f"; {what}: {count:,}" for what, count in counts.items() if count)
    there = f"; {amount(before, 'was', 'were')} already answered" if before else ""
    lines = [
        f"{name}: {len(answers):,} of {amount(number, 'query', 'queries')} "
        f"answered, {amount(results, 'result')}{more}{there}"
    ]
    lines += [f"  no answer for {query_id}: {error}" for query_id, error in list(outcome.failed.items())[:SHOWN]]
    if len(outcome.failed) > SHOWN:
        lines.append(f"  no answer for {len(outcome.failed) - SHOWN} more")
    if outcome.end and not isinstance(outcome.end, KeyboardInterrupt):
        lines.append(f"  stopped: {outcome.end}")
    if not outcome.gathered.documents:
        lines.append("  no documents returned; nothing written")
    sys.stderr.write("\n".join(lines) + "\n")


@dataclass(frozen=True)
class EarlierFetch:
    """The rows of the run and the documents, with the ids of the engine."""

    rows: tuple[RunRow, ...] = ()
    documents: tuple[DocumentRow, ...] = ()

    @property
    def answered(self) -> set[str]:
        """The queries with an answer; an answer is written completely or not at all."""
        return {row.query_id for row in self.rows}


def read_earlier_fetch(
    out: str | None, documents_out: str | None, *, name: str, depth: int, queries: Iterable[str]
) -> EarlierFetch:
    """Return the results of an earlier fetch; empty if it wrote nothing."""
    if out in (None, STDIN):
        raise NotValid("--resume needs --out FILE with the file to complete")
    assert out is not None  # noqa: S101 (for mypy)
    if not Path(out).exists():
        return EarlierFetch()
    rows = _earlier_rows(out)
    _check_earlier(out, rows, name, depth, set(queries))
    there = documents_out and Path(documents_out).exists()
    if documents_out and not there:
        raise NotValid(
            f"{documents_out}: does not exist, although {out} does, so the documents fetched so far would be "
            "missing. Name the file that the interrupted fetch wrote"
        )
    return EarlierFetch(rows, _earlier_documents(str(documents_out)) if there else ())


def _check_earlier(out: str, rows: tuple[RunRow, ...], name: str, depth: int, queries: set[str]) -> None:
    deep: dict[str, int] = {}
    for row in rows:
        deep[row.query_id] = deep.get(row.query_id, 0) + 1
    if others := {row.tag for row in rows} - {"-".join(name.split())}:
        raise NotValid(f"{out}: contains the run {min(others)}, not {name}; write each run to a separate file")
    if odd := deep.keys() - queries:
        raise NotValid(f"{out}: contains the query {min(odd)}, which is not in QUERIES; use the queries of that run")
    if max(deep.values(), default=0) > depth:
        raise NotValid(
            f"{out}: has {max(deep.values())} documents for a query, more than --depth {depth}; use the depth of "
            "that run"
        )


def _earlier_rows(path: str) -> tuple[RunRow, ...]:
    from assay.formats import trec_run

    read = trec_run.read(Path(path), path=path).strict()
    return tuple(replace(row, query_id=unquote(row.query_id), doc_id=unquote(row.doc_id)) for row in read.rows)


def _earlier_documents(path: str) -> tuple[DocumentRow, ...]:
    from assay.formats import FORMATS

    read = FORMATS["documents-jsonl"].read(Path(path), path=path).strict()
    return tuple(replace(row, doc_id=unquote(row.doc_id)) for row in read.rows)
