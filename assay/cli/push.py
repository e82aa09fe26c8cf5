"""The command ``assay push``: store a file on a server, in chunks, without sending a stored file again."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli import number, option, progress_of_bytes, text_table
from assay.cli.options.server import add_server_options, client_of, print_report
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.client.client import Client

EXAMPLE = "assay push run neural.run --name neural --scores"
KINDS = ("run", "samples", "outputs", "documents", "queries", "labels", "bundle")
# The options that only some kinds have.
NAMED = {"run", "samples", "outputs", "labels", "bundle"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "kind", "what the file contains", choices=KINDS)
    option(parser, "file FILE", "the file, in any format of its kind; may be compressed with gzip")
    option(parser, "--name NAME", "name on the server; default: derived from the file name")
    option(parser, "--description TEXT", "description of a run")
    option(parser, "--samples ID", "the sample set of outputs; default: the one with their ids")
    option(parser, "--file-format FORMAT", "format of the file; default: detected")
    option(parser, "--accept-errors", "store the valid rows even if other rows cannot be read", action="store_true")
    option(parser, "--no-wait", "do not wait until a large file is stored", action="store_true")
    option(parser, "--scores", "wait for a run's scores on the newest snapshot", action="store_true")
    option(parser, "--format", "output format", "text", choices=["text", "json"])
    add_server_options(parser)


def run(args: argparse.Namespace) -> int:
    """Send the file, and print what the server stored; return 1 if it refuses the content."""
    _check(args)
    path = Path(args.file)
    from assay.client.uploads import Refused

    size = path.stat().st_size if path.is_file() else 0
    with client_of(args) as client:
        try:
            outcome = client.push(
                args.kind,
                path,
                wait=not args.no_wait,
                progress=progress_of_bytes(size, "sending"),
                name=args.name,
                description=args.description,
                samples=args.samples,
                format=args.file_format,
                accept_errors=args.accept_errors,
            )
        except Refused as refusal:
            if refusal.report is None:
                raise
            print_report(args.file, refusal.report)
            sys.stderr.write(f"assay push: {refusal}\n")
            return 1
        stored = {"known": outcome.known, "job": outcome.job or None, **outcome.stored}
        scores = client.scores(outcome.stored) if args.scores else None
        if args.format == "json":
            more = {} if scores is None else {"scores": scores}
            sys.stdout.write(json.dumps({**stored, **more}, ensure_ascii=False, indent=2) + "\n")
            return 0
        sys.stdout.write(_sentence(args, stored, client))
        if scores is not None:
            columns = ("mean", "low", "high")
            rows = [[name, *(number(one[column]) for column in columns)] for name, one in scores.items()]
            sys.stdout.write(text_table(["metric", *columns], rows))
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.name and args.kind not in NAMED:
        raise NotValid(f"--name does not apply to {args.kind}; remove it")
    if args.description and args.kind != "run":
        raise NotValid("--description applies only to a run; remove it")
    if args.samples and args.kind != "outputs":
        raise NotValid("--samples applies only to outputs; remove it")
    if args.scores and (args.kind != "run" or args.no_wait):
        raise NotValid("--scores applies only to a run, and not with --no-wait; remove it")


def _sentence(args: argparse.Namespace, stored: dict[str, object], client: Client) -> str:
    name = f" as {stored['name']}" if stored.get("name") else ""
    if stored["known"]:
        return f"{args.file}: already stored{name} in {client.collection}; nothing was sent or changed\n"
    if "rows" not in stored:
        return f"{args.file}: sent; the server stores it as job {stored['job']}\n"
    left_out = f", {stored['left_out']:,} rows left out" if stored.get("left_out") else ""
    return f"{args.file}: {stored['rows']:,} rows stored{name} in {client.collection}{left_out}\n"
