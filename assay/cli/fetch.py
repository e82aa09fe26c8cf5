"""The command ``assay fetch``: send queries to a live engine and write what it returns as a run."""

from __future__ import annotations

import argparse
import io
import sys
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.engine_options import add_engine_options, engine_settings, operators_own
from assay.cli.files import STDIN, add_out, tell_warnings, write_out
from assay.cli.text_table import counted
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from assay.cli.fetch_resume import Left
    from judgments.formats.rows import RunRow
    from pooling.connectors import ConnectorKind, EngineFault
    from pooling.connectors.gathered import Gathered

NAME = "fetch"
EXAMPLE = (
    "assay fetch queries.csv --engine elasticsearch --set address=http://localhost:9200 --set index=shop "
    "--name bm25 --out bm25.run --documents-out documents.jsonl"
)
# So many queries without an answer are told one by one.
SHOWN = 5

Queries = list[tuple[str, str]]


@dataclass
class _Asked:
    """What came, what failed and why, and what ended it early."""

    gathered: Gathered
    failed: dict[str, str] = field(default_factory=dict)
    end: EngineFault | KeyboardInterrupt | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("queries", metavar="QUERIES", help="queries.csv: query_id, query")
    add_engine_options(parser)
    parser.add_argument("--depth", type=int, default=10, metavar="K", help="documents of each query; default 10")
    parser.add_argument("--name", metavar="RUN", help="the run's name, in its last column; by default KIND")
    parser.add_argument("--documents-out", metavar="FILE", help="the documents' contents, as documents.jsonl")
    parser.add_argument("--concurrency", type=int, default=4, metavar="N", help="queries at a time; default 4")
    parser.add_argument("--timeout", type=float, default=10.0, metavar="S", help="seconds for a request; default 10")
    parser.add_argument(
        "--resume", action="store_true", help="go on with the files that an interrupted fetch left: ask only the rest"
    )
    add_out(parser)


def run(args: argparse.Namespace) -> int:
    """Ask, write what came, and say what did not."""
    _check(args)
    kind, values = engine_settings(args)
    kind.check_depth(args.depth, values)
    queries = _queries(args.queries)
    left = _left(args, queries)
    rest = [one for one in queries if one[0] not in left.answered]
    asked = _ask(args, kind, values, rest)
    if asked.gathered.documents:
        _write_run(args, asked.gathered, queries, left)
    _tell(args.name or kind.name, asked, len(rest), len(left.answered))
    if isinstance(asked.end, KeyboardInterrupt):
        raise asked.end
    return int(bool(asked.failed or asked.end or not (asked.gathered.documents or left.rows)))


def _left(args: argparse.Namespace, queries: Queries) -> Left:
    """What an earlier fetch left, if this one goes on with it."""
    from assay.cli.fetch_resume import Left, left_by

    if not args.resume:
        return Left()
    how = {"name": args.name or args.engine, "depth": args.depth}
    return left_by(args.out, args.documents_out, queries=(query_id for query_id, _ in queries), **how)


def _check(args: argparse.Namespace) -> None:
    """Refuse before anything is asked what could not be done or written afterwards."""
    from pooling.connectors.fetch import LONGEST_TIMEOUT, MOST_AT_ONCE

    if not 1 <= args.concurrency <= MOST_AT_ONCE:
        raise NotValid(f"--concurrency is {args.concurrency}; from 1 to {MOST_AT_ONCE}")
    if not 0 < args.timeout <= LONGEST_TIMEOUT:
        raise NotValid(f"--timeout is {args.timeout:g}; more than 0 and at most {LONGEST_TIMEOUT:g} seconds")
    outputs = [args.out or STDIN, args.documents_out or ""]
    if outputs[0] == outputs[1]:
        raise NotValid("--out and --documents-out are the same; give each a file of its own")
    for path in outputs:
        if path not in ("", STDIN) and (Path(path).is_dir() or not Path(path).parent.is_dir()):
            raise NotValid(f"{path}: cannot be written there; name a file in a folder that is there")


def _queries(path: str) -> Queries:
    from judgments.formats import FORMATS
    from judgments.formats.decoding import kept

    read = FORMATS["queries-csv"].read(kept(Path(path)), path=path)
    read.report.raise_if_errors()
    tell_warnings([read.report])
    return [(row.query_id, row.query) for row in read.rows]


def _ask(args: argparse.Namespace, kind: ConnectorKind, values: dict[str, str], queries: Queries) -> _Asked:
    """Ask all queries; whatever ends it early, what was answered is kept."""
    from assay.cli.progress import progress
    from pooling.connectors import EngineFault
    from pooling.connectors.fetch import Plan, fetch
    from pooling.connectors.gathered import Gathered

    asked = _Asked(Gathered())
    watch = progress(len(queries), "asking")
    plan = Plan(depth=args.depth, concurrency=args.concurrency)
    try:
        with closing(kind.engine(values, operators_own(values), args.timeout)) as engine:
            for done, answer in enumerate(fetch(engine, queries, plan), start=1):
                if answer.error:
                    asked.failed[answer.query_id] = answer.error
                else:
                    asked.gathered.add(answer)
                watch(done)
    except (EngineFault, KeyboardInterrupt) as end:
        asked.end = end
    return asked


def _write_run(args: argparse.Namespace, gathered: Gathered, queries: Queries, left: Left) -> None:
    from judgments.formats import trec_run

    stream = io.BytesIO()
    written = trec_run.write(
        [*left.rows, *_rows(gathered, queries)], stream, tag=args.name or args.engine, encode_ids=True
    )
    write_out(stream.getvalue().decode(), args.out)
    if written.idmap:
        first = next(iter(written.idmap))
        more = f"{counted(len(written.idmap), 'id has', 'ids have')} white space or % in them, such as {first!r}"
        sys.stderr.write(f"note: {more}; percent-encoded, in the documents too\n")
    if args.documents_out:
        _write_documents(args.documents_out, gathered, written.idmap, left)


def _rows(gathered: Gathered, queries: Queries) -> list[RunRow]:
    from judgments.formats.rows import RunRow
    from pooling.connectors.fetch import falling_scores

    return [
        RunRow(query_id, hit.doc_id, score)
        for query_id, _ in queries
        if query_id in gathered
        for hit, score in zip(
            gathered.answers[query_id].hits, falling_scores(gathered.answers[query_id].hits), strict=True
        )
    ]


def _write_documents(path: str, gathered: Gathered, encoded: Mapping[str, str], left: Left) -> None:
    """Write each document that came with something to read; one that cannot be written costs no other."""
    from judgments.formats import documents_jsonl
    from judgments.formats.rows import DocumentRow

    stream, left_out = io.BytesIO(), []
    rows = {
        hit.doc_id: DocumentRow(hit.doc_id, hit.title, hit.text, hit.url, hit.image, hit.fields)
        for hit in gathered.readable()
    }
    # Of two contents the first counts, in files as in one sitting.
    rows |= {row.doc_id: row for row in left.documents}
    for _, row in sorted(rows.items()):
        doc_id = encoded.get(row.doc_id, row.doc_id)
        try:
            documents_jsonl.write([replace(row, doc_id=doc_id)], stream)
        except NotValid as error:
            left_out.append(f"{doc_id!r}: {error}")
    write_out(stream.getvalue().decode(), path)
    if left_out:
        sys.stderr.write(f"note: documents left out: {len(left_out)}, the first {left_out[0]}\n")


def _tell(name: str, asked: _Asked, number: int, before: int) -> None:
    if before and not number:
        sys.stderr.write(
            f"{name}: {counted(before, 'query', 'queries')} answered before; nothing was asked or written\n"
        )
        return
    answers = asked.gathered.answers.values()
    told = {
        "without a document": sum(not answer.hits for answer in answers),
        "without an answer": len(asked.failed),
        "not asked": number - len(answers) - len(asked.failed),
        "repeated documents left out": sum(answer.repeated for answer in answers),
        "sent with two contents, the first kept": len(asked.gathered.differing),
    }
    results = sum(len(answer.hits) for answer in answers)
    more = "".join(f"; {count} {what}" for what, count in told.items() if count)
    there = f"; {counted(before, 'was', 'were')} answered before" if before else ""
    lines = [
        f"{name}: {len(answers):,} of {counted(number, 'query', 'queries')} "
        f"answered, {counted(results, 'result')}{more}{there}"
    ]
    lines += [f"  no answer to {query_id}: {error}" for query_id, error in list(asked.failed.items())[:SHOWN]]
    if len(asked.failed) > SHOWN:
        lines.append(f"  and to {len(asked.failed) - SHOWN} more")
    if asked.end and not isinstance(asked.end, KeyboardInterrupt):
        lines.append(f"  stopped: {asked.end}")
    if not asked.gathered.documents:
        lines.append("  no document came, nothing was written")
    sys.stderr.write("\n".join(lines) + "\n")
