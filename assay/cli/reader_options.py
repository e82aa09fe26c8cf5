"""Options for what a file does not say about itself: format, encoding, columns and other reader settings."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.scale import scale_values
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats import Format
    from judgments.formats.reading import Read


def add_reader_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that readers share; each format takes those that mean something to it."""
    group = parser.add_argument_group("how to read the file")
    group.add_argument("--scale", metavar="MIN:MAX", help="the grades that are valid, such as 0:3")
    group.add_argument(
        "--column",
        metavar="NAME=COLUMN",
        action="append",
        default=[],
        help="which column of the file is which, such as count=searches; repeats",
    )
    group.add_argument("--conflicts", choices=["first", "last", "min", "max"], help="which of two grades counts")
    group.add_argument("--repeated", choices=["sum", "max", "first"], help="a counted log that holds a query twice")
    group.add_argument("--delimiter", metavar="CHARACTER", help="what separates cells; TAB is written tab")
    group.add_argument("--header", choices=["yes", "no"], help="whether queries.tsv begins with a header")
    group.add_argument("--encoding", choices=["utf-8", "latin-1"], help="latin-1 for old files")


def read_file(
    path: str,
    name: str | None,
    args: argparse.Namespace,
    kind: str | None = None,
    likely: str | None = None,
    option: str = "--format {}",
) -> tuple[Format, Read[Any]]:
    """Read a file in the format named, or in the one that it looks like.

    Parameters
    ----------
    path : str
        The file; ``-`` is standard input, whose format must be named.
    name : str or None
        The format.
    args : namespace
        With what `add_reader_options` declares.
    kind : str, optional
        The kind that is wanted, when the format is to be told from the content.
    likely : str, optional
        The kind that is taken where the content may be of several.
    option : str
        By which the user names the format.

    Raises
    ------
    UnreadableInput
        When the file is refused.
    NotValid
        When no format is named and none is recognized, or the format takes no such option.
    """
    from judgments.formats import FORMATS

    source: Path | str | bytes = Path(path)
    if name is None:
        source, name = _recognized(path, kind, likely, option)
    member = FORMATS[name]
    return member, member.read(source, path=path, **_options(member, args))


def _recognized(path: str, kind: str | None, likely: str | None, option: str) -> tuple[Path | str | bytes, str]:
    """Return what is left to be read, and the format that it looks like."""
    from judgments.formats import FORMATS
    from judgments.formats.decoding import Content, kept
    from judgments.formats.sniffing import recognize

    if path == "-":
        raise NotValid("standard input is not looked at twice: name the format (convert: --from, validate: --format)")
    source = kept(Path(path))
    with Content(source, path) as content:
        found = recognize(content.head, path, kind or likely, option) or recognize(content.head, path, kind, option)
    if found is None:
        raise NotValid(f"{path}: the format is not recognized; name one of {', '.join(FORMATS)}")
    return source, found


def _options(member: Format, args: argparse.Namespace) -> dict[str, Any]:
    given = {
        "grades": None if args.scale is None else scale_values(args.scale),
        "columns": _columns(args.column),
        "conflicts": args.conflicts,
        "repeated": args.repeated,
        "delimiter": {"tab": "\t", "\\t": "\t"}.get(args.delimiter, args.delimiter),
        "header": None if args.header is None else args.header == "yes",
        "encoding": args.encoding,
    }
    options = {name: value for name, value in given.items() if value is not None}
    for name in options:
        if name not in member.options:
            known = ", ".join(member.options) or "none"
            raise NotValid(f"the format {member.name} takes no option {name}; it takes: {known}")
    if len(options.get("delimiter", ",")) != 1:
        raise NotValid(f"the delimiter {args.delimiter!r} is not one character")
    return options


def _columns(given: list[str]) -> dict[str, str] | None:
    columns = {}
    for one in given:
        name, equals, column = one.partition("=")
        if not (name and equals and column):
            raise NotValid(f"--column {one!r} is not NAME=COLUMN, such as count=searches")
        columns[name] = column
    return columns or None
