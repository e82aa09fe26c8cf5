"""The subcommand ``assay serve``: the web server and a worker, with all data in ``var/`` of the working directory."""

from __future__ import annotations

import argparse
import os
import sys

from judgments.management import serve_options

NAME = "serve"
HELP = "start the web app: web server, worker and database, with all data in the directory var/"
EXAMPLE = "assay serve --demo"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    serve_options.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Start the server and its worker; Ctrl-C stops both."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # The child processes import this project even if the working directory contains packages with the same names.
    os.environ["PYTHONSAFEPATH"] = "1"
    if args.demo:
        os.environ.setdefault("DEBUG", "1")
    import django
    from django.core.management import CommandError, call_command

    django.setup()
    try:
        call_command(NAME, **vars(args))
    except CommandError as error:
        sys.stderr.write(f"assay {NAME}: {error}\n")
        return error.returncode
    return 0
