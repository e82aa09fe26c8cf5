"""Data sets as input and output of ``assay convert``: a folder, an id of ir_datasets, or training data."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.inputs.files import print_warnings
from assay.cli.options.reader import read_file
from assay.core.errors import NotValid, UnreadableInput
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.core.read_report import Report
    from assay.formats.data_sets.data_set import DataSet, Part
    from assay.formats.row_types import DocumentRow, LabelRow, QueryRow


def rows_of(args: argparse.Namespace, kind: str) -> tuple[Sequence[Any], Callable[[], Mapping[str, str]]]:
    """Return the rows of a kind of a data set, and a function for the texts of its queries."""
    from assay.formats.data_sets.data_set import KINDS, chosen_split

    if args.source_format:
        raise NotValid(f"--from {args.source_format} does not apply to a data set; its files are detected")
    part = "qrels" if kind == "pairs" else kind
    if part not in KINDS:
        raise NotValid(f"{args.source} is a data set with documents, queries and qrels, which cannot become {kind}")
    data = _opened(args)
    split = chosen_split(data, args.split) if part == "qrels" else ""
    if part != "qrels" and args.split:
        raise NotValid(f"--split applies only to qrels, not to {part}; remove it")
    rows = data.read(part, split).rows
    return rows, lambda: {row.query_id: row.query for row in data.read("queries", "").rows}


def write_data_set(
    args: argparse.Namespace, with_ids: Callable[[argparse.Namespace, Sequence[Any]], Sequence[Any]]
) -> None:
    """Write a whole folder from a data set, or from qrels with their queries and documents."""
    from assay.formats.data_sets.data_set import is_data_set, write_folder

    if args.out in (None, "-"):
        raise NotValid(f"--to {args.target_format} writes a folder; name it with --out")
    for name in ("tag", "encode_ids", "set", "labels_of"):
        if getattr(args, name):
            raise NotValid(f"--{name.replace('_', '-')} does not apply to {args.target_format}; remove it")
    parts = _of_data_set(args) if is_data_set(args.source) else _of_files(args, with_ids)
    for note in write_folder(args.target_format, Path(args.out), *parts):
        sys.stderr.write(f"note: {note}\n")


def files_of(
    args: argparse.Namespace, with_ids: Callable[[argparse.Namespace, Sequence[Any]], Sequence[Any]]
) -> tuple[Sequence[DocumentRow], Sequence[QueryRow], Sequence[LabelRow]]:
    """Return documents, queries and the labels of one split, from a data set or from files."""
    from assay.formats.data_sets.data_set import chosen_split, is_data_set

    if not is_data_set(args.source):
        if args.split:
            raise NotValid("--split applies only to data sets; remove it")
        documents, queries, splits = _of_files(args, with_ids)
        return documents, queries, next(iter(splits.values()))
    split = chosen_split(_opened(args), args.split)
    documents, queries, splits = _of_data_set(argparse.Namespace(**vars(args) | {"split": split}))
    return documents, queries, splits[split]


def settings_of(kind: str) -> list[str]:
    """Return the settings with which training data of a kind are selected."""
    from assay.formats.training.selection import SELECTIONS

    parameters = inspect.signature(SELECTIONS[kind]).parameters.values()
    return [one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]


def training_rows(
    args: argparse.Namespace,
    kind: str,
    settings: dict[str, Any],
    with_ids: Callable[[argparse.Namespace, Sequence[Any]], Sequence[Any]],
) -> Sequence[Any]:
    """Return the rows of a training file, selected from a data set or from files."""
    from assay.formats.training.selection import SELECTIONS

    documents, queries, labels = files_of(args, with_ids)
    texts = {row.query_id: row.query for row in queries}
    runs: list[Any] = []
    for number, path in enumerate(args.runs):
        # Two files may have the same tag, or none.
        runs += [replace(row, tag=str(number)) for row in rows_of_file(args, path, "run")]
    if runs and kind != "triplets":
        raise NotValid(f"--runs does not apply to --to {args.target_format}; remove it")
    for name, value in settings.items():
        default = inspect.signature(SELECTIONS[kind]).parameters[name].default
        if not isinstance(value, int | float) or isinstance(value, bool) != isinstance(default, bool):
            wanted = "true or false" if isinstance(default, bool) else "a number"
            raise NotValid(f"--set {name}={value} is not valid; write {wanted}")
    selected = SELECTIONS[kind](labels, texts, documents, *([runs] if kind == "triplets" else []), **settings)
    for note in selected.notes:
        sys.stderr.write(f"note: {note}\n")
    return selected.rows


def rows_of_file(args: argparse.Namespace, path: str, kind: str) -> Sequence[Any]:
    """Return the rows of a file of a kind, which is detected from the content."""
    return _read(args, Path(path), kind).rows


def _of_data_set(
    args: argparse.Namespace,
) -> tuple[Sequence[DocumentRow], Sequence[QueryRow], dict[str, Sequence[LabelRow]]]:
    from assay.formats.data_sets.data_set import chosen_split

    for name in ("source_format", "queries", "documents"):
        if getattr(args, name):
            option = "from" if name == "source_format" else name
            raise NotValid(f"--{option} does not apply to a data set, which has its own files; remove it")
    data = _opened(args)
    splits = data.splits if args.split is None else (chosen_split(data, args.split),)
    labels = {split: data.read("qrels", split).rows for split in splits}
    return data.read("documents", "").rows, data.read("queries", "").rows, labels


def _of_files(
    args: argparse.Namespace, with_ids: Callable[[argparse.Namespace, Sequence[Any]], Sequence[Any]]
) -> tuple[Sequence[DocumentRow], Sequence[QueryRow], dict[str, Sequence[LabelRow]]]:
    from assay.formats.data_sets.data_set import USUAL_SPLIT
    from assay.formats.row_types import QueryRow

    source, read = read_file(args.source, args.source_format, args, likely="qrels", option="--from {}")
    if source.kind != "qrels":
        raise NotValid(f"{args.source} is {source.name}; a data set is written from qrels, --queries and --documents")
    check_report(args, args.source, read.report)
    rows = with_ids(args, read.rows) if source.by_text else read.rows
    queries: Sequence[QueryRow] = rows_of_file(args, args.queries, "queries") if args.queries else ()
    if not queries:
        texts = {row.query_id: row.query for row in rows if row.query}
        queries = [QueryRow(query_id, text) for query_id, text in texts.items()]
    documents = rows_of_file(args, args.documents, "documents") if args.documents else ()
    return documents, queries, {args.split or USUAL_SPLIT: rows}


def _opened(args: argparse.Namespace) -> DataSet:
    from assay.formats.data_sets.data_set import open_data_set

    return open_data_set(args.source, lambda path, kind: _read(args, path, kind))


def _read(args: argparse.Namespace, path: Path, kind: str) -> Part:
    """Read a file whose kind its name or option tells."""
    from assay.formats import FORMATS, sniff
    from assay.formats.data_sets.data_set import Part
    from assay.formats.text_lines import Content

    with Content(path, str(path), hashed=False) as content:
        name = sniff(content.head, kind)
    if name is None:
        known = ", ".join(name for name in FORMATS if FORMATS[name].kind == kind)
        raise UnreadableInput(str(path), None, f"is not recognized as {kind}", f"expected one of {known}", "F03")
    read = FORMATS[name].read(path, path=str(path))
    check_report(args, str(path), read.report)
    return Part(read.rows, (read.report,))


def check_report(args: argparse.Namespace, path: str, report: Report) -> None:
    """Stop at an error, or with ``--skip-errors`` only note it; print the warnings."""
    if not args.skip_errors:
        report.raise_if_errors()
    elif not report.ok:
        sys.stderr.write(f"note: {path}: {amount(report.error_count, 'error')}; these rows were left out\n")
    print_warnings([report])
