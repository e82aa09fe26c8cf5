"""The command ``assay convert``: write the rows of a file in another format."""

from __future__ import annotations

import argparse
import inspect
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from assay.cli import option
from assay.cli.inputs.data_sets import check_report, rows_of, settings_of, training_rows, write_data_set
from assay.cli.options.reader import add_reader_options, read_file
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.formats import Format

# Column 2 of qrels marks a label of a machine.
MACHINE = "1"
# Parameters of writers that have an option of their own.
_OF_OPTIONS = ("rows", "stream", "queries", "documents", "outputs", "tag", "encode_ids")
EXAMPLE = "assay convert qrels.txt --to judgment-list --queries queries.csv --out judgments.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(
        parser,
        "source IN",
        "input file; - for standard input; .gz files are decompressed. Or a data set: a folder in the layout of BEIR "
        "or MTEB, or ir_datasets:ID, such as ir_datasets:beir/scifact/test",
    )
    option(parser, "--from FORMAT", "input format; default: detected from the content", dest="source_format")
    option(
        parser,
        "--to FORMAT",
        "target format, see assay formats; beir or mteb for a folder with corpus, queries and qrels",
        dest="target_format",
        required=True,
    )
    option(parser, "--out OUT", "write to OUT instead of standard output; compressed if the name ends in .gz")
    option(parser, "--queries FILE", "queries with ids and texts, for formats that need the texts or lack the ids")
    option(
        parser,
        "--documents FILE",
        "documents, for a folder of BEIR or MTEB, training files, and formats that need or show their texts",
    )
    option(parser, "--runs RUN", "runs that rank the negatives of training files", action="append", default=[])
    option(parser, "--outputs FILE", "outputs of a system, for rows of ragas")
    option(parser, "--split NAME", "split of a data set's qrels; default: the only one, or test; folders: all")
    option(parser, "--labels-of JUDGE", "the judge whose labels to write, if labels.jsonl has several judges")
    option(parser, "--tag NAME", "name of the system, for TREC runs")
    parser.add_argument(
        "--encode-ids", action="store_true", help="percent-encode the characters in ids that TREC files cannot contain"
    )
    option(
        parser,
        "--set NAME=VALUE",
        "a setting of the target format, such as index=products; @FILE reads a JSON value; see assay formats",
        action="append",
        default=[],
    )
    option(parser, "--skip-errors", "skip rows with errors instead of stopping", action="store_true")
    add_reader_options(parser)


def run(args: argparse.Namespace) -> int:
    """Convert the whole file, or write nothing."""
    from assay.formats import FORMATS
    from assay.formats.data_sets.data_set import LAYOUTS, is_data_set

    if args.target_format in LAYOUTS:
        write_data_set(args, _with_ids)
        return 0
    target = FORMATS[args.target_format]
    if target.write is None:
        raise NotValid(f"Assay cannot write the format {target.name}; choose another format with --to")
    training = _training(args, target)
    for name in ("documents", "runs"):
        if getattr(args, name) and not training and name not in inspect.signature(target.write).parameters:
            raise NotValid(f"--{name} does not apply to the format {target.name}; remove it")
    if training:
        names = settings_of(target.kind)
        given = _settings(target, args, names)
        selection = {name: value for name, value in given.items() if name in names}
        others = {name: value for name, value in given.items() if name not in names}
        _write(args, target, training_rows(args, target.kind, selection, _with_ids), others)
        return 0
    if is_data_set(args.source):
        return _convert_part(args, target)
    if args.split:
        raise NotValid("--split applies only to data sets and to --to beir or mteb; remove it")
    source, read = read_file(args.source, args.source_format, args, likely=target.kind, option="--from {}")
    check_report(args, args.source, read.report)
    rows = _rows(source, target, _with_ids(args, read.rows) if source.by_text else read.rows)
    if source.kind == "labels" and target.kind == "qrels":
        rows = _machine_qrels(args, read.rows)
    elif args.labels_of is not None:
        rows = _labels_of(args, source, target, read.rows)
    _write(args, target, rows, _options(target, args, source.by_text))
    return 0


def _training(args: argparse.Namespace, target: Format) -> bool:
    """Return whether training data are to be selected from judgments, and not read from a training file."""
    from assay.formats import FORMATS
    from assay.formats.data_sets.data_set import is_data_set
    from assay.formats.reader import sniff
    from assay.formats.text_lines import Content

    if target.kind not in ("triplets", "graded-pairs"):
        return False
    if is_data_set(args.source):
        return True
    name = args.source_format
    if name is None and args.source != "-":
        with Content(Path(args.source), args.source, hashed=False) as content:
            name = sniff(content.head)
    return name not in FORMATS or FORMATS[name].kind != target.kind


def _convert_part(args: argparse.Namespace, target: Format) -> int:
    """Convert the documents, queries or qrels of a data set."""
    if args.labels_of is not None:
        raise NotValid("--labels-of applies only when converting labels.jsonl to qrels or to labels; remove it")
    rows, texts = rows_of(args, target.kind)
    options = _options(target, args, False)
    if "queries" not in options and "queries" in inspect.signature(target.write or print).parameters:
        options["queries"] = texts()
    _write(args, target, _pairs(rows) if target.kind == "pairs" else rows, options)
    return 0


def _write(args: argparse.Namespace, target: Format, rows: Iterable[Any], options: dict[str, Any]) -> None:
    """Write everything to a temporary file first, so that an error leaves no partial output."""
    if target.write is None:
        raise AssertionError(f"{target.name} cannot be written")
    with tempfile.TemporaryFile() as stream:
        written = target.write(rows, stream, **options)
        stream.seek(0)
        _save(stream, args.out)
    for note in written.notes[:20]:
        sys.stderr.write(f"note: {note}\n")
    if written.idmap:
        _save_idmap(written.idmap, written.idmap_name, args.out)


def _rows(source: Format, target: Format, rows: Sequence[Any]) -> Iterable[Any]:
    if source.kind == target.kind or (source.kind, target.kind) == ("labels", "qrels"):
        return rows
    paired = bool(rows) and hasattr(rows[0], "doc_id") and hasattr(rows[0], "query_id")
    if target.kind == "pairs" and paired:
        # An annotated data set contains the texts already.
        return rows if all(hasattr(row, "text") for row in rows) else _pairs(rows)
    if target.kind == "queries" and paired and all(getattr(row, "query", "") for row in rows):
        return _queries(rows)
    from assay.formats import FORMATS

    kinds = {source.kind, "pairs"} if paired else {source.kind}
    same = ", ".join(name for name in FORMATS if FORMATS[name].kind in kinds and FORMATS[name].write)
    why = (
        " (assay aggregate computes labels from ratings)" if (source.kind, target.kind) == ("ratings", "qrels") else ""
    )
    what = f"cannot convert {source.kind} ({source.name}) to {target.kind} ({target.name})"
    raise NotValid(f"{what}{why}; possible formats: {same}")


def _labels_of(args: argparse.Namespace, source: Format, target: Format, rows: Sequence[Any]) -> Sequence[Any]:
    """Return the labels of one judge, for a format of labels."""
    from assay.formats.labels_jsonl import rows_of_judge

    if (source.kind, target.kind) != ("labels", "labels"):
        raise NotValid("--labels-of applies only when converting labels.jsonl to qrels or to labels; remove it")
    return rows_of_judge(args.source, rows, args.labels_of, "--labels-of")


def _machine_qrels(args: argparse.Namespace, rows: Sequence[Any]) -> Iterable[Any]:
    """Return the grades of a judge as qrels rows that are marked as machine grades."""
    from assay.cli.inputs.files import machine_note
    from assay.formats.labels_jsonl import machine_labels
    from assay.formats.row_types import LabelRow

    machine, grades = machine_labels(args.source, rows, args.labels_of, "--labels-of")
    sys.stderr.write(f"note: {args.source}: {machine_note({'machine': machine.to_dict()})}\n")
    return [LabelRow(query_id, doc_id, grade, MACHINE) for (query_id, doc_id), grade in grades.items()]


def _pairs(rows: Sequence[Any]) -> Iterable[Any]:
    from assay.formats.row_types import PairRow

    queries = {(row.query_id, row.doc_id): getattr(row, "query", "") for row in rows}
    return [PairRow(query_id, doc_id, query) for (query_id, doc_id), query in queries.items()]


def _queries(rows: Sequence[Any]) -> Iterable[Any]:
    from assay.formats.row_types import QueryRow

    groups = {(row.query_id, row.query): getattr(row, "group", "") for row in rows}
    return [QueryRow(query_id, query, group=group) for (query_id, query), group in groups.items()]


def _with_ids(args: argparse.Namespace, rows: Sequence[Any]) -> Sequence[Any]:
    """Give the rows of a file without query ids the ids of --queries, by the exact text of the query."""
    from assay.formats.text_keys import query_texts, with_query_ids

    if not args.queries:
        number = len(query_texts(rows))
        sys.stderr.write(
            f"note: {args.source} has no query ids; {amount(number, 'query was', 'queries were')} numbered in the "
            "order of the file. --queries FILE uses the ids of FILE\n"
        )
        return rows
    ids: dict[str, str] = {}
    for query_id, text in _texts(args.queries).items():
        if ids.setdefault(text, query_id) != query_id:
            raise NotValid(f"{args.queries}: the queries {ids[text]!r} and {query_id!r} have the same text; remove one")
    unknown = sorted(set(query_texts(rows)) - ids.keys())
    if unknown:
        count = amount(len(unknown), "query of the file is", "queries of the file are")
        raise NotValid(f"{args.queries}: {count} missing, such as {unknown[0]!r}; add the rows")
    return with_query_ids(rows, ids)


def _rows_of_kind(path: str, kind: str) -> Sequence[Any]:
    """Return the rows of a file without errors, read without the options for the input."""
    parser = argparse.ArgumentParser(add_help=False)
    add_reader_options(parser)
    _, read = read_file(path, None, parser.parse_args([]), kind=kind)
    read.report.raise_if_errors()
    return read.rows


def _texts(path: str) -> dict[str, str]:
    return {row.query_id: row.query for row in _rows_of_kind(path, "queries")}


def _options(target: Format, args: argparse.Namespace, by_text: bool) -> dict[str, Any]:
    given: dict[str, Any] = {}
    taken = inspect.signature(target.write).parameters if target.write else {}
    if args.queries and not (by_text and "queries" not in taken):
        given["queries"] = _texts(args.queries)
    if args.documents:
        from assay.formats.documents import document_texts

        given["documents"] = document_texts(_rows_of_kind(args.documents, "documents"))
    if args.outputs:
        given["outputs"] = {row.sample_id: row for row in _rows_of_kind(args.outputs, "outputs")}
    if args.tag:
        given["tag"] = args.tag
    if args.encode_ids:
        given["encode_ids"] = True
    given |= _settings(target, args)
    for name in given:
        if name not in taken:
            raise NotValid(f"--{name.replace('_', '-')} does not apply to the format {target.name}; remove it")
    return given


def _settings(target: Format, args: argparse.Namespace, more: Sequence[str] = ()) -> dict[str, Any]:
    """Return the settings of ``--set`` for the writer of a format, and for more names."""
    taken = inspect.signature(target.write).parameters if target.write else {}
    names = [*more, *(one for one in taken if one not in _OF_OPTIONS)]
    given: dict[str, Any] = {}
    for setting in args.set:
        name, equals, value = setting.partition("=")
        if not equals or name not in names:
            known = f"settings: {', '.join(names)}" if names else "it has no settings"
            raise NotValid(f"--set {setting} does not apply to the format {target.name}; {known}")
        given[name] = _value(value)
    return given


def _value(text: str) -> Any:
    """Return a setting: a JSON value, the one in a file for ``@FILE``, or else the text itself."""
    path = Path(text[1:]) if text.startswith("@") else None
    try:
        return json.loads(path.read_text(encoding="utf-8") if path else text)
    except (OSError, UnicodeError, ValueError, RecursionError) as error:
        if path:
            raise NotValid(f"{path}: cannot be read as JSON ({error}); name a file with one JSON value") from error
        return text


def _save(stream: BinaryIO, out: str | None) -> None:
    if out is None or out == "-":
        sys.stdout.flush()
        shutil.copyfileobj(stream, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    elif out.endswith(".gz"):
        import gzip

        # Without a time stamp, the same rows give the same bytes.
        Path(out).write_bytes(gzip.compress(stream.read(), mtime=0))
    else:
        with Path(out).open("wb") as file:
            shutil.copyfileobj(stream, file)


def _save_idmap(idmap: Any, name: str, out: str | None) -> None:
    lines = "".join(f"{encoded}\t{original}\n" for original, encoded in sorted(idmap.items()))
    if out is None or out == "-":
        sys.stderr.write(
            f"note: {amount(len(idmap), 'id was', 'ids were')} encoded; use --out to write a list of them next "
            "to the file\n"
        )
        return
    beside = Path(out).with_name(name)
    beside.write_bytes(lines.encode())
    sys.stderr.write(f"note: {amount(len(idmap), 'id was', 'ids were')} encoded; {beside} lists them\n")
