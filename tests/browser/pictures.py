"""Picture of the change report in README.md, made from the demo.

    python -m tests.browser.pictures docs/pictures/change-report.png

Loads the demo into a temporary folder, gates one of its runs against another on its snapshot, and takes a picture of
the report with Chromium.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTH, HEIGHT = 1280, 880
BASELINE, CANDIDATE = "bm25", "chargram"


def main(picture: Path) -> None:
    """Take the picture."""
    with tempfile.TemporaryDirectory(prefix="assay-pictures-") as name:
        folder = Path(name)
        os.environ |= {"DEBUG": "1", "ASSAY_VAR": name, "STORAGE_URL": f"{name}/files"}
        os.environ |= {"DATABASE_URL": f"sqlite:///{name}/demo.sqlite3", "DJANGO_SETTINGS_MODULE": "config.settings"}
        for command in (["migrate", "--verbosity", "0"], ["load_demo", "--quiet"]):
            subprocess.run([sys.executable, "manage.py", *command], check=True)
        write_files(folder)
        gate = [sys.executable, "-m", "assay", "gate", "qrels.txt", "--queries", "queries.csv"]
        gate += ["--documents", "documents.jsonl", "--baseline", f"{BASELINE}.run", "--candidate", f"{CANDIDATE}.run"]
        gate += ["--rule", "drop(nDCG@10) <= 0.02 unless p >= 0.05", "--rule", "Judged@10 >= 0.8"]
        subprocess.run([*gate, "--report", "change.html"], cwd=folder, check=False)
        take(folder / "change.html", picture)


def write_files(folder: Path) -> None:
    """Write the labels and queries of the demo's snapshot, its documents and its runs."""
    import django

    django.setup()
    from demo import catalogue
    from judgments.jobs import storage
    from judgments.models import Snapshot
    from pooling.models import Run
    from pooling.runs import downloads

    snapshot = Snapshot.objects.get()
    for file in ("qrels.txt", "queries.csv"):
        (folder / file).write_bytes(storage.read_bytes(f"{snapshot.folder}/{file}"))
    rows = "".join(f"{json.dumps(document)}\n" for document in catalogue.documents())
    (folder / "documents.jsonl").write_text(rows, encoding="utf-8")
    for name in (BASELINE, CANDIDATE):
        _, blocks = downloads.export(Run.objects.get(name=name), "trec-run")
        (folder / f"{name}.run").write_bytes(b"".join(blocks))


def take(page: Path, picture: Path) -> None:
    """Take a picture of the top of a page."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import CHROMIUM, SWITCHES

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[f"--{switch}" for switch in SWITCHES])
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        tab.goto(page.as_uri())
        tab.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
