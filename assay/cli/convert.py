"""The command ``assay convert``: write the rows of a file in another format."""

from __future__ import annotations

import argparse
import inspect
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from assay.cli.files import tell_warnings
from assay.cli.reader_options import add_reader_options, read_file
from assay.cli.text_table import counted
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats import Format

NAME = "convert"
# Column 2 of qrels, for a label of a machine.
MACHINE = "1"
EXAMPLE = "assay convert qrels.txt --to judgment-list --queries queries.csv --out judgments.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", metavar="IN", help="the file; - is standard input, .gz is unpacked")
    parser.add_argument("--from", dest="source_format", metavar="FORMAT", help="default: what the file looks like")
    parser.add_argument("--to", dest="target_format", metavar="FORMAT", required=True, help="see assay formats")
    parser.add_argument("--out", metavar="OUT", help="write to OUT instead of standard output; .gz is compressed")
    parser.add_argument("--queries", metavar="FILE", help="the queries' texts, for a format that needs them")
    parser.add_argument("--labels-of", metavar="JUDGE", help="labels.jsonl: whose labels, where it has several judges")
    parser.add_argument("--tag", metavar="NAME", help="the system's name in a TREC run")
    parser.add_argument("--encode-ids", action="store_true", help="percent-encode what TREC files cannot carry in ids")
    parser.add_argument("--skip-errors", action="store_true", help="leave out rows with errors instead of stopping")
    add_reader_options(parser)


def run(args: argparse.Namespace) -> int:
    """Read all, write all, or nothing."""
    from judgments.formats import FORMATS

    target = FORMATS[args.target_format]
    source, found = read_file(args.source, args.source_format, args, likely=target.kind, option="--from {}")
    if target.write is None:
        raise NotValid(f"the format {target.name} is read only")
    if not args.skip_errors:
        found.report.raise_if_errors()
    elif not found.report.ok:
        sys.stderr.write(
            f"note: {args.source}: {counted(found.report.error_count, 'error')}; those rows are left out\n"
        )
    tell_warnings([found.report])
    # All of it is written before any of it is seen.
    rows = _rows(source, target, found.rows)
    if source.kind == "labels" and target.kind == "qrels":
        rows = _machine_qrels(args, found.rows)
    elif args.labels_of is not None:
        raise NotValid("--labels-of is for labels.jsonl that become qrels; leave it out")
    with tempfile.TemporaryFile() as stream:
        written = target.write(rows, stream, **_options(target, args))
        stream.seek(0)
        _save(stream, args.out)
    for note in written.notes[:20]:
        sys.stderr.write(f"note: {note}\n")
    if written.idmap:
        _save_idmap(written.idmap, args.out)
    return 0


def _rows(source: Format, target: Format, rows: Sequence[Any]) -> Iterable[Any]:
    if source.kind == target.kind or (source.kind, target.kind) == ("labels", "qrels"):
        return rows
    paired = bool(rows) and hasattr(rows[0], "doc_id") and hasattr(rows[0], "query_id")
    if target.kind == "pairs" and paired:
        # An annotated data set has the texts already.
        return rows if all(hasattr(row, "text") for row in rows) else _pairs(rows)
    from judgments.formats import FORMATS

    kinds = {source.kind, "pairs"} if paired else {source.kind}
    same = ", ".join(name for name in FORMATS if FORMATS[name].kind in kinds)
    why = " (assay aggregate makes labels of ratings)" if (source.kind, target.kind) == ("ratings", "qrels") else ""
    what = f"{source.kind} ({source.name}) do not become {target.kind} ({target.name})"
    raise NotValid(f"{what}{why}; they become: {same}")


def _machine_qrels(args: argparse.Namespace, rows: Sequence[Any]) -> Iterable[Any]:
    """The grades of a judge as rows of qrels that say that they are a machine's."""
    from assay.cli.machine_note import machine_note
    from judgments.formats.labels import machine_labels
    from judgments.formats.rows import LabelRow

    machine, grades = machine_labels(args.source, rows, args.labels_of, "--labels-of")
    sys.stderr.write(f"note: {args.source}: {machine_note({'machine': machine.to_dict()})}\n")
    return [LabelRow(query_id, doc_id, grade, MACHINE) for (query_id, doc_id), grade in grades.items()]


def _pairs(rows: Sequence[Any]) -> Iterable[Any]:
    from judgments.formats.rows import PairRow

    found = {(row.query_id, row.doc_id): getattr(row, "query", "") for row in rows}
    return [PairRow(query_id, doc_id, query) for (query_id, doc_id), query in found.items()]


def _options(target: Format, args: argparse.Namespace) -> dict[str, Any]:
    given: dict[str, Any] = {}
    if args.queries:
        _, queries = read_file(args.queries, None, _without_options(), kind="queries")
        queries.report.raise_if_errors()
        given["queries"] = {row.query_id: row.query for row in queries.rows}
    if args.tag:
        given["tag"] = args.tag
    if args.encode_ids:
        given["encode_ids"] = True
    taken = inspect.signature(target.write).parameters if target.write else {}
    for name in given:
        if name not in taken:
            raise NotValid(f"the format {target.name} has no use for --{name.replace('_', '-')}")
    return given


def _without_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(add_help=False)
    add_reader_options(parser)
    return parser.parse_args([])


def _save(stream: BinaryIO, out: str | None) -> None:
    if out is None or out == "-":
        sys.stdout.flush()
        shutil.copyfileobj(stream, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    elif out.endswith(".gz"):
        import gzip

        # Without time and name inside, the same rows give the same bytes.
        Path(out).write_bytes(gzip.compress(stream.read(), mtime=0))
    else:
        with Path(out).open("wb") as file:
            shutil.copyfileobj(stream, file)


def _save_idmap(idmap: Any, out: str | None) -> None:
    lines = "".join(f"{encoded}\t{original}\n" for original, encoded in sorted(idmap.items()))
    if out is None or out == "-":
        sys.stderr.write(
            f"note: {counted(len(idmap), 'id was', 'ids were')} encoded; --out keeps their list beside the file\n"
        )
        return
    beside = Path(out).with_name("idmap.tsv")
    beside.write_bytes(lines.encode())
    sys.stderr.write(f"note: {counted(len(idmap), 'id was', 'ids were')} encoded; {beside} lists them\n")
