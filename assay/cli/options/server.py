"""Command line options of a server: its address, the token, and the collection."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.cli import option
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.client.client import Client

PROMPT = "Token (from the page Tokens of the server): "
# Issues of a refused file that are listed one by one.
SHOWN = 10


def add_server_options(parser: argparse._ActionsContainer) -> None:
    """Declare ``--server``, ``--collection``, ``--token-stdin`` and ``--token``."""
    option(
        parser, "--server URL", "address of the server; default: ASSAY_SERVER, then the server of the last assay login"
    )
    option(
        parser,
        "--collection SLUG",
        "the collection; default: ASSAY_COLLECTION, then that of assay login, then your only collection",
    )
    add_token_options(parser)


def add_token_options(parser: argparse._ActionsContainer) -> None:
    """Declare the sources of a token."""
    parser.add_argument(
        "--token-stdin",
        action="store_true",
        help="read the API token from standard input; default: ASSAY_TOKEN, then the token of assay login",
    )
    option(
        parser,
        "--token TOKEN",
        "the API token itself; it is then visible in the shell history and to other users of the machine",
    )


def given_token(args: argparse.Namespace) -> str:
    """Return the token of the options; empty if they name none."""
    if not args.token_stdin:
        return args.token or ""
    if args.token:
        raise NotValid("--token and --token-stdin were both given; use one")
    token = sys.stdin.readline().strip()
    if not token:
        raise NotValid("--token-stdin: standard input is empty; pipe the token into the command")
    return token


def prompted_token() -> str:
    """Prompt for a token on the terminal without echo."""
    import getpass
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(PROMPT).strip()
        except (getpass.GetPassWarning, EOFError):
            raise NotValid("there is no terminal for a prompt; use --token-stdin or set ASSAY_TOKEN") from None


def client_of(args: argparse.Namespace) -> Client:
    """Return the client of the options, which prints a note before each retry."""
    from assay.client.client import Client
    from assay.client.connection import print_notice

    return Client(args.server, given_token(args), collection=args.collection, notice=print_notice)


def print_report(path: str, report: Mapping[str, Any]) -> None:
    """Print the issues of a file that a server refused."""
    problems = report["problems"]
    for problem in problems[:SHOWN]:
        place = path if problem["line"] is None else f"{path}:{problem['line']}"
        sys.stderr.write(f"{place}: {problem['what']}; {problem['fix']} [{problem['code']}]\n")
    if len(problems) > SHOWN:
        sys.stderr.write(f"{path}: {report['errors']:,} errors in total; assay validate lists them\n")
