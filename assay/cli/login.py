"""The command ``assay login``: check a token and store it for later commands."""

from __future__ import annotations

import argparse
import os
import sys
from urllib.parse import urlsplit

from assay.cli import option
from assay.cli.options.server import add_token_options, given_token, prompted_token
from assay.core.errors import NotValid
from assay.core.text_rules import amount

EXAMPLE = "assay login --server https://assay.example.com --collection shop"
LOCAL = {"localhost", "127.0.0.1", "::1"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "--server URL", "address of the server; default: ASSAY_SERVER")
    option(parser, "--collection SLUG", "collection of later commands; default: your only collection")
    add_token_options(parser)


def run(args: argparse.Namespace) -> int:
    """Check the token at the server, and store it."""
    from assay.client.client import Client
    from assay.client.connection import print_notice, server_address
    from assay.client.credentials import SERVER, TOKEN, Login, default_server, remember

    url = args.server or os.environ.get(SERVER, "") or default_server()
    if not url:
        raise NotValid("no server was given; use --server URL")
    url = server_address(url)
    if urlsplit(url).scheme == "http" and urlsplit(url).hostname not in LOCAL:
        sys.stderr.write(f"note: {url} does not use https, so the token is sent without encryption\n")
    token = given_token(args) or os.environ.get(TOKEN, "") or prompted_token()
    with Client(url, token, collection=args.collection, notice=print_notice) as client:
        slugs = [row["slug"] for row in client.collections()]
    chosen = args.collection or (slugs[0] if len(slugs) == 1 else "")
    if args.collection and args.collection not in slugs:
        known = ", ".join(slugs[:20]) or "none"
        raise NotValid(f"the token's user is not a member of {args.collection!r}; collections: {known}")
    place = remember(Login(url, token, chosen))
    where = "the system's keyring" if place == "keyring" else place
    sys.stdout.write(f"Logged in to {url} ({amount(len(slugs), 'collection')}). The token is stored in {where}.\n")
    return 0
