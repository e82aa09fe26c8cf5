"""Options of file readers: format, encoding, columns and other settings that the content does not show."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import option
from assay.cli.inputs.files import scale_values
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.formats import Format
    from assay.formats.reader import Read


def add_reader_options(parser: argparse.ArgumentParser) -> None:
    """Declare the shared reader options; each format takes some of them."""
    group = parser.add_argument_group("reading the file")
    option(group, "--scale MIN:MAX", "valid grades, such as 0:3")
    option(
        group,
        "--column NAME=COLUMN",
        "map a column, such as count=searches; may be repeated",
        action="append",
        default=[],
    )
    option(group, "--conflicts", "which of two conflicting grades to use", choices=["first", "last", "min", "max"])
    option(group, "--repeated", "how to combine repeated queries of a counted log", choices=["sum", "max", "first"])
    option(group, "--delimiter CHARACTER", "cell separator; write tab for TAB")
    option(group, "--header", "whether queries.tsv has a header", choices=["yes", "no"])
    option(group, "--snapshot NAME", "the snapshot to read, if a file of Quepid contains several")
    option(group, "--sheet NAME", "the sheet of a workbook; default: the first with the columns")
    option(group, "--requests FILE", "the requests of umbrela's judgments, which have the ids")
    option(group, "--encoding", "character encoding; default: utf-8", choices=["utf-8", "latin-1"])


def read_file(
    path: str,
    name: str | None,
    args: argparse.Namespace,
    kind: str | None = None,
    likely: str | None = None,
    option: str = "--format {}",
) -> tuple[Format, Read[Any]]:
    """Read a file in the given format, or in the format detected from its content."""
    from assay.formats import FORMATS

    source: Path | str | bytes = Path(path)
    if name is None:
        source, name = _recognized(path, kind, likely, option)
    member = FORMATS[name]
    return member, member.read(source, path=path, **_options(member, args))


def _recognized(path: str, kind: str | None, likely: str | None, option: str) -> tuple[Path | str | bytes, str]:
    """Return the source to read and the detected format."""
    from assay.formats import FORMATS
    from assay.formats.reader import recognize
    from assay.formats.text_lines import Content, reusable_source

    if path == "-":
        raise NotValid("the format of standard input cannot be detected; name it (convert: --from, validate: --format)")
    source = reusable_source(Path(path))
    with Content(source, path) as content:
        name = recognize(content.head, path, kind or likely, option) or recognize(content.head, path, kind, option)
    if name is None:
        raise NotValid(f"{path}: the format is not recognized; name one of {', '.join(FORMATS)}")
    return source, name


def _options(member: Format, args: argparse.Namespace) -> dict[str, Any]:
    given = {
        "grades": None if args.scale is None else scale_values(args.scale),
        "columns": _columns(args.column),
        "conflicts": args.conflicts,
        "repeated": args.repeated,
        "delimiter": {"tab": "\t", "\\t": "\t"}.get(args.delimiter, args.delimiter),
        "header": None if args.header is None else args.header == "yes",
        "snapshot": args.snapshot,
        "sheet": args.sheet,
        "requests": args.requests,
        "encoding": args.encoding,
    }
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in member.options:
            known = ", ".join(member.options) or "none"
            raise NotValid(f"the format {member.name} has no option {name}; options: {known}")
    if len(options.get("delimiter", ",")) != 1:
        raise NotValid(f"the delimiter {args.delimiter!r} is not one character; use one, such as ;")
    return options


def columns_of(text: str | None, example: str) -> dict[str, str] | None:
    """Return the columns of ``--columns OURS=THEIRS,...``."""
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(ours and equals and theirs for ours, equals, theirs in pairs):
        raise NotValid(f"--columns is {text!r}; write NAME=COLUMN, such as {example}")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def _columns(given: list[str]) -> dict[str, str] | None:
    columns = {}
    for one in given:
        name, equals, column = one.partition("=")
        if not (name and equals and column):
            raise NotValid(f"--column {one!r} is not NAME=COLUMN, such as count=searches")
        columns[name] = column
    return columns or None
