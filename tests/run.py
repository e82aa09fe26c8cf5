"""Runner of the tests: quick ones on SQLite, with ``--all`` every one, also on PostgreSQL.

Tests that are named by path run on both databases, slow or not. What cannot run is skipped by name with its reason, and
counted at the end.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests import migrated  # noqa: E402

# A browser shows nothing else on another database.
ONLY_ON_SQLITE = ("tests/browser", "tests/demo")
QUICK = ["-m", "not slow"]


def main(arguments: list[str]) -> int:
    """Run pytest once per database; answer its worst exit status."""
    everything = "--all" in arguments
    arguments = [one for one in arguments if one != "--all"]
    quick = not everything and not arguments
    postgresql = "" if quick else os.environ.get("TEST_DATABASE_URL", "")
    legs = [("SQLite", "", QUICK if quick else arguments)]
    if postgresql:
        without = [f"--ignore={path}" for path in ONLY_ON_SQLITE]
        legs.append(("PostgreSQL", postgresql, arguments or ["tests", *without]))
    with tables(postgresql) as names:
        results = [(name, *run(name, url, options, names)) for name, url, options in legs]
    print()
    for name, status, line in results:
        print(f"{name}: {line}" + ("" if status == 0 else f" (pytest ended with {status})"))
    if quick:
        print("PostgreSQL and slow tests: not part of make test; make test-all runs them")
    elif not postgresql:
        print("PostgreSQL: skipped, TEST_DATABASE_URL is not set (postgres://user@host:port/database)")
    print(database_label())
    return max(status for _, status, _ in results)


@contextmanager
def tables(postgresql: str) -> Iterator[dict[str, str]]:
    """The migrations, run once on each database, both at once; answers the variables that tell tests where to copy."""
    name = f"assay_tables_{uuid.uuid4().hex[:12]}" if postgresql else ""
    names = {migrated.TEMPLATE: name} if postgresql else {}
    command = [sys.executable, "-m", "tests.migrated"]
    try:
        with ExitStack() as both:
            places = ["", postgresql] if postgresql else [""]
            environments = [beside(url, names) for url in places]
            begun = [both.enter_context(subprocess.Popen(command, cwd=ROOT, env=one)) for one in environments]
        # Where they failed, each test will say so.
        yield {} if any(process.returncode for process in begun) else names
    finally:
        if postgresql:
            migrated.drop_template(postgresql, name)


def beside(url: str, more: dict[str, str]) -> dict[str, str]:
    """The environment of a process on this database, which nothing else in ours may lead elsewhere."""
    # Compiled once, and not by each worker and each subprocess again where Python was told to write no caches.
    caches = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(ROOT / "var" / "pycache")}
    ours = {"DATABASE_URL": url, "REDIS_URL": "", "DEBUG": "", "STORAGE_URL": ""}
    return {**os.environ, **caches, **ours, **more}


def run(name: str, url: str, options: list[str], names: dict[str, str]) -> tuple[int, str]:
    """One pytest run; answers exit status and its closing line."""
    environment = beside(url, {**names, "ONLY_DATABASE_TESTS": "1"} if url else names)
    # One more than there are cores, because some tests wait.
    workers = [] if any(option.startswith("-n") for option in options) else ["-n", str((os.cpu_count() or 1) + 1)]
    # Only slow tests are in groups; to hand out thousands of tests as groups of one takes ten seconds.
    groups = [] if options == QUICK else ["--dist", "loadgroup"]
    command = [sys.executable, "-m", "pytest", "-q", *groups, *workers, *options]
    print(f"== {name}", flush=True)
    began = time.monotonic()
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


def database_label() -> str:
    """What this machine does not have, in one line."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    missing = [
        word
        for word, there in (
            ("a chromium", chromium),
            ("curl", shutil.which("curl")),
            ("../shared", (ROOT.parent / "shared").is_dir()),
            ("a Redis (TEST_REDIS_URL)", os.environ.get("TEST_REDIS_URL")),
            ("an Elasticsearch (TEST_ELASTICSEARCH_URL)", os.environ.get("TEST_ELASTICSEARCH_URL")),
        )
        if not there
    ]
    return f"Not here, so its tests were skipped: {', '.join(missing)}." if missing else "Nothing was missing here."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
