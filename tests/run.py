"""Which tests run where? All of them on SQLite; those that touch a database once more on PostgreSQL, when it answers.

What cannot run is skipped by name with its reason, and counted at the end.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A browser shows nothing else on another database.
ONLY_ON_SQLITE = ("tests/browser", "tests/demo")


def main(arguments: list[str]) -> int:
    """Run pytest once per database; answer its worst exit status."""
    postgresql = os.environ.get("TEST_DATABASE_URL", "")
    legs = [("SQLite", "", arguments)]
    if postgresql:
        without = [f"--ignore={path}" for path in ONLY_ON_SQLITE]
        legs.append(("PostgreSQL", postgresql, arguments or ["tests", *without]))
    results = [(name, *run(name, url, options)) for name, url, options in legs]
    print()
    for name, status, line in results:
        print(f"{name}: {line}" + ("" if status == 0 else f" (pytest ended with {status})"))
    if not postgresql:
        print("PostgreSQL: skipped, TEST_DATABASE_URL is not set (postgres://user@host:port/database)")
    print(told())
    return max(status for _, status, _ in results)


def run(name: str, url: str, options: list[str]) -> tuple[int, str]:
    """One pytest run; answers exit status and its closing line."""
    # Compiled once, and not by each worker and each subprocess again where Python was told to write no caches.
    caches = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(ROOT / "var" / "pycache")}
    if url:
        caches["ONLY_DATABASE_TESTS"] = "1"
    environment = {**os.environ, **caches, "DATABASE_URL": url, "REDIS_URL": "", "DEBUG": "", "STORAGE_URL": ""}
    workers = [] if any(option.startswith("-n") for option in options) else ["-n", str(os.cpu_count() or 1)]
    command = [sys.executable, "-m", "pytest", "-q", "--dist", "loadgroup", *workers, *options]
    print(f"== {name}", flush=True)
    began = time.monotonic()
    if not url:
        # Once for all workers, and for the processes that tests start.
        subprocess.run([sys.executable, "-m", "tests.migrated"], cwd=ROOT, env=environment, check=True)
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        last = ""
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            if re.search(r"\d+ (passed|failed|error|skipped)", line):
                last = line.strip().strip("=").strip()
    # pytest answers 5 when it was told to run something that has no test on this leg.
    status = 0 if process.returncode == 5 and options else process.returncode
    return status, last or f"nothing ran in {time.monotonic() - began:.0f} s"


def told() -> str:
    """What this machine does not have, in one line."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    missing = [
        word
        for word, there in (
            ("a chromium", chromium),
            ("../shared", (ROOT.parent / "shared").is_dir()),
            ("a Redis (TEST_REDIS_URL)", os.environ.get("TEST_REDIS_URL")),
            ("an Elasticsearch (TEST_ELASTICSEARCH_URL)", os.environ.get("TEST_ELASTICSEARCH_URL")),
        )
        if not there
    ]
    return f"Not here, so its tests were skipped: {', '.join(missing)}." if missing else "Nothing was missing here."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
