"""The command ``assay verify``: check the files of a bundle against its manifest."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

NAME = "verify"
EXAMPLE = "assay verify snapshot/"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("bundle", metavar="BUNDLE", help="the folder, its manifest.json, or the zip archive")


def run(args: argparse.Namespace) -> int:
    """Compare, and name each file that differs."""
    from judgments.formats.manifest import FILE, verify

    bundle = Path(args.bundle)
    found = verify(bundle.parent if bundle.name == FILE else bundle)
    for what in ("missing", "extra", "different"):
        for path in getattr(found, what):
            sys.stdout.write(f"{what}: {path}\n")
    verdict = f"{found.files} file{'s' * (found.files != 1)} as the manifest says" if found.ok else "not as it was"
    sys.stdout.write(f"{args.bundle}: {verdict}\n")
    return 0 if found.ok else 1
