"""The command ``assay formats``: list the file formats or explain one of them."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from assay.cli import option
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.formats import Format

EXAMPLE = "assay formats trec-qrels"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "name FORMAT", "the format to explain", nargs="?")
    option(parser, "--kind KIND", "list only formats of this kind: qrels, run, documents, queries, ...")
    option(parser, "--format", "output format", "table", choices=["table", "json"])


def run(args: argparse.Namespace) -> int:
    """List the formats, or explain one."""
    from assay.formats import FORMATS

    kinds = dict.fromkeys(member.kind for member in FORMATS.values())
    if args.kind not in (None, *kinds):
        raise NotValid(f"unknown kind {args.kind!r}; known: {', '.join(kinds)}")
    members = [FORMATS[args.name]] if args.name else list(FORMATS.values())
    chosen = [member for member in members if args.kind in (None, member.kind)]
    if args.format == "json":
        text = json.dumps([_described(member) for member in chosen], ensure_ascii=False, indent=2) + "\n"
    else:
        text = _explained(chosen[0]) if args.name and chosen else _listed(chosen)
    sys.stdout.write(text)
    return 0


def _described(member: Format) -> dict[str, object]:
    return {
        "name": member.name,
        "title": member.title,
        "kind": member.kind,
        "extensions": list(member.extensions),
        "description": member.description,
        "reads": True,
        "writes": member.write is not None,
        "options": dict(member.options),
        "example": member.example,
    }


def _listed(members: list[Format]) -> str:
    from assay.cli import text_table

    rows = [[member.name, member.kind, " ".join(member.extensions), member.description] for member in members]
    return text_table(["format", "kind", "files", "contents"], rows, left=4)


def _explained(member: Format) -> str:
    options = "".join(f"  {name}: {meaning}\n" for name, meaning in member.options.items())
    return (
        f"{member.name}: {member.title} ({member.kind}; {' '.join(member.extensions)})\n{member.description}\n\n"
        f"options of the reader:\n{options or '  none' + chr(10)}\nexample:\n{member.example}"
    )
