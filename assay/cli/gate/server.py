"""Options of ``assay gate`` for a server: pull the labels and the baseline, and record the verdict."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import option
from assay.cli.options.server import add_token_options, client_of
from assay.core.errors import NotFound, NotValid

if TYPE_CHECKING:
    from assay.client.client import Client

NEWEST, LONGEST_LABEL = "newest", 200
ONLY_WITH_SERVER = ("collection", "snapshot", "baseline_run", "label", "link", "no_push", "token", "token_stdin")


def add_gate_server_options(parser: argparse._ActionsContainer) -> None:
    """Declare ``--server`` and what it pulls and records."""
    option(
        parser,
        "--server URL",
        "use the labels of a snapshot on a server instead of QRELS, and record the verdict there; without URL: "
        "ASSAY_SERVER, then the server of the last assay login",
        nargs="?",
        const="",
    )
    option(parser, "--collection SLUG", "the collection; default: as for assay pull")
    option(parser, "--snapshot NAME", f"the snapshot; default: {NEWEST}")
    option(
        parser,
        "--baseline-run NAME",
        "pull the baseline from the server by name; without NAME: the collection's baseline",
        nargs="?",
        const="",
    )
    option(parser, "--label TEXT", "name of the change on the server, such as a pull request")
    option(parser, "--link URL", "address of the change")
    option(parser, "--no-push", "do not record the verdict", action="store_true")
    add_token_options(parser)


def check_server_options(args: argparse.Namespace) -> None:
    """Refuse options that contradict or need ``--server``."""
    if args.server is None:
        for option in ONLY_WITH_SERVER:
            if getattr(args, option) not in (None, False):
                name = option.replace("_", "-")
                raise NotValid(f"--{name} needs --server; add --server or remove --{name}")
        return
    if args.qrels or args.samples:
        raise NotValid("--server uses the labels of a snapshot; remove QRELS and --samples")
    if args.baseline and args.baseline_run is not None:
        raise NotValid("--baseline and --baseline-run were both given; use one")


class ServerGate:
    """The server's part of a gate: files pulled before it, the verdict recorded after it."""

    def __init__(self, args: argparse.Namespace) -> None:
        args.server = args.server or None
        self._args, self._client = args, client_of(args)
        self._snapshot: dict[str, Any] = {}

    def pull(self) -> None:
        """Pull the labels and the baseline into the cache folder, and set them as the inputs of the gate."""
        args, client = self._args, self._client
        snapshot = client.snapshot(args.snapshot or NEWEST)
        folder, self._snapshot = client.download_snapshot(snapshot["id"], cache_folder() / snapshot["id"])
        args.qrels = str(folder / "qrels.txt")
        if (args.report or args.markdown) and not args.queries and (folder / "queries.csv").exists():
            args.queries = str(folder / "queries.csv")
        if args.baseline_run is not None:
            run = client.run(args.baseline_run) if args.baseline_run else _baseline(client)
            path = cache_folder() / "runs" / f"{run['id']}.run"
            client.download_run(run["name"], path)
            args.baseline = f"{run['name'].replace('/', '-')}={path}"
        sys.stderr.write(f"note: labels of snapshot {snapshot['name']} of {client.collection}\n")

    def push(self, verdict: Mapping[str, Any]) -> None:
        """Record the verdict, unless the user does not want it."""
        if self._args.no_push:
            return
        # Titles of pull requests may be longer than labels.
        label = (self._args.label or "")[:LONGEST_LABEL]
        about = {"snapshot": self._snapshot["id"], "label": label, "link": self._args.link or ""}
        recorded = self._client.push_verdict({**verdict, **about})
        page = f"{self._client.connection.url}/c/{self._client.collection}/gates/{recorded['id']}/"
        sys.stderr.write(f"note: the verdict is recorded at {page}\n")

    def close(self) -> None:
        self._client.close()


def cache_folder() -> Path:
    """Return the folder for pulled files, which only its owner can read."""
    base = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else os.environ.get("XDG_CACHE_HOME")
    folder = Path(base or Path.home() / ".cache") / "assay"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _baseline(client: Client) -> dict[str, Any]:
    baselines = [run for run in client.runs() if run["baseline"]]
    if not baselines:
        raise NotFound(f"{client.collection} has no baseline; mark a run as the baseline, or use --baseline-run NAME")
    return baselines[0]
