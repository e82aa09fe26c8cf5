"""Background jobs: their rows and execution, the audit log, storage, and processes with limits."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    # Jobs queued by earlier versions name judgments.jobs.work_on_job.
    if name == "work_on_job":
        from judgments.jobs.jobs import work_on_job

        return work_on_job
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
