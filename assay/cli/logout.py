"""The command ``assay logout``: delete a stored token."""

from __future__ import annotations

import argparse
import sys

from assay.cli import option
from assay.core.errors import NotValid

EXAMPLE = "assay logout --server https://assay.example.com"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "--server URL", "address of the server; default: that of the last login")


def run(args: argparse.Namespace) -> int:
    """Delete the token of a server from the keyring and the file."""
    from assay.client.credentials import default_server, forget

    url = args.server or default_server()
    if not url:
        raise NotValid("there is no stored login; use --server URL")
    if not forget(url):
        raise NotValid(f"there is no stored login for {url}; check the address")
    sys.stdout.write(
        f"Deleted the stored token of {url}. The token itself is still valid: revoke it on the page Tokens.\n"
    )
    return 0
