"""Entry point of ``python -m assay``, the same command as ``assay``."""

from __future__ import annotations

from assay.cli.process import run

if __name__ == "__main__":
    run()
