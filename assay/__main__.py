"""Entry point of ``python -m assay``, the same command as ``assay``."""

from assay.cli import run_process

if __name__ == "__main__":
    run_process()
