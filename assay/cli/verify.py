"""The command ``assay verify``: check the files of a bundle against its manifest."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from assay.cli import option

EXAMPLE = "assay verify snapshot/"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    option(parser, "bundle BUNDLE", "the folder of the bundle, its manifest.json, or its zip archive")


def run(args: argparse.Namespace) -> int:
    """Compare the files with the manifest and print each difference."""
    from assay.formats.manifest import FILE, verify

    bundle = Path(args.bundle)
    check = verify(bundle.parent if bundle.name == FILE else bundle)
    for what in ("missing", "extra", "different"):
        for path in getattr(check, what):
            sys.stdout.write(f"{what}: {path}\n")
    for fault in check.content:
        sys.stdout.write(f"{fault}\n")
    verdict = (
        f"{check.files} file{'s match' if check.files != 1 else ' matches'} the manifest"
        if check.ok
        else "does not match its manifest"
    )
    sys.stdout.write(f"{args.bundle}: {verdict}\n")
    return 0 if check.ok else 1
