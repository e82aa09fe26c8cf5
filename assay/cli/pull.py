"""The command ``assay pull``: download a snapshot's files or a run from a server."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from assay.cli import option
from assay.cli.options.server import add_server_options, client_of
from assay.core.errors import NotValid

EXAMPLE = "assay pull snapshot newest --out labels"
NEWEST = "newest"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "what", "what to download", choices=["snapshot", "run"])
    option(parser, "name NAME", f"name of the snapshot or run; default for a snapshot: {NEWEST}", nargs="?")
    option(
        parser,
        "--out PATH",
        "folder for the files of a snapshot, or file for a run; default: the name, with .run for a run",
    )
    add_server_options(parser)


def run(args: argparse.Namespace) -> int:
    """Download the files; an interrupted download continues."""
    if args.what == "run" and not args.name:
        raise NotValid("assay pull run needs the name of the run")
    with client_of(args) as client:
        if args.what == "run":
            path = Path(args.out or f"{_file_name(args.name)}.run")
            stored = client.download_run(args.name, path)
            sys.stdout.write(f"{path}: run {stored['name']}, {stored['rows']:,} rows, {stored['queries']:,} queries\n")
            return 0
        snapshot = client.snapshot(args.name or NEWEST)
        folder, _ = client.download_snapshot(snapshot["id"], args.out or _file_name(snapshot["name"]))
        labels = snapshot["summary"].get("labels")
        about = "" if labels is None else f", {labels:,} labels"
        sys.stdout.write(f"{folder}: snapshot {snapshot['name']}{about}; the files match their manifest\n")
    return 0


def _file_name(name: str) -> str:
    """Return a name without characters that would lead to another folder."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name).lstrip(".") or "pulled"
