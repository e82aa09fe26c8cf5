"""Pictures of README.md, made from the demo.

    python -m tests.browser.pictures docs/pictures [NAME ...]

Loads the demo into a temporary folder, adds a decision, a machine judge and a change report, starts a server, and takes
the pictures with Chromium.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WIDTH = 1280
BASELINE, CANDIDATE = "bm25", "chargram"


def main(folder: Path, names: list[str]) -> None:
    """Take the pictures with these names, or all."""
    with tempfile.TemporaryDirectory(prefix="assay-pictures-") as temporary:
        place = Path(temporary)
        os.environ |= {"DEBUG": "1", "ASSAY_VAR": temporary, "STORAGE_URL": f"{temporary}/files"}
        os.environ |= {
            "DATABASE_URL": f"sqlite:///{temporary}/demo.sqlite3",
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        for command in (["migrate", "--verbosity", "0"], ["load_demo", "--quiet"]):
            subprocess.run([sys.executable, "manage.py", *command], check=True)
        import django

        django.setup()
        with served() as address:
            pages = {**of_pages(address), "change-report": (change_report(place), 880, None)}
            take(folder, {name: pages[name] for name in names or pages}, address)


@contextmanager
def served() -> Iterator[str]:
    """Serve the demo on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "manage.py", "serve", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/login/", timeout=5)
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait()


Page = tuple[str, int, Callable[[Any], None] | None]


def of_pages(address: str) -> dict[str, Page]:
    """Return the pages of the server with their heights, and what is done before the picture."""
    from judgments.agreement import conflicts
    from judgments.models import Collection, Round, User

    collection = Collection.objects.get()
    autumn, lead = Round.objects.get(name="Autumn"), User.objects.get(username="lead")
    wide = conflicts.with_details(conflicts.in_conflict(autumn, viewer=lead, steps=2))
    noted = next(pair for pair in wide if pair.judgments.exclude(note="").exists())
    here = f"{address}/c/{collection.slug}"
    samples = collection.rag_sample_sets.get()
    return {
        "overview": (f"{here}/", 1400, None),
        "decision": (f"{here}/decisions/{decided(collection).uuid}/", 1300, None),
        "agreement": (f"{address}/rounds/{autumn.uuid}/agreement/", 1550, None),
        "adjudication": (f"{address}/rounds/{autumn.uuid}/conflicts/{noted.uuid}/", 1262, resolving),
        "judge": (f"{address}/rounds/{autumn.uuid}/judges/{judged(autumn).uuid}/", 1190, None),
        "rag": (f"{here}/rag/{samples.uuid}/", 1000, None),
        "station": (f"{address}/rounds/{autumn.uuid}/rate/", 800, as_rater),
        "station-list": (f"{address}/rounds/{autumn.uuid}/rate/", 800, as_list),
    }


def decided(collection: Any) -> Any:
    """Let the demo's raters judge BM25 against tf-idf until there is a verdict."""
    from demo.management.commands import load_demo
    from evaluation.decisions import decisions
    from judgments.models import User

    people = {user.username: user for user in User.objects.all()}
    baseline, candidate = (collection.runs.get(name=name) for name in ("tfidf", "bm25"))
    settings = decisions.Settings(metric="nDCG@10", ratings_per_pair=1, overlap=0.0)
    raters = [people[name] for name in load_demo.RATERS]
    made, _ = decisions.start(
        baseline, [candidate], actor=people["lead"], name="BM25 instead of tf-idf", settings=settings, raters=raters
    )
    for share in range(1, 21):
        if made.round.state == "open":
            load_demo._rate(made.round, people, share=share / 20, answer=load_demo._answer)
            decisions.look(made)
            made.round.refresh_from_db()
    return made


def judged(round_: Any) -> Any:
    """Let the judge that compares words grade the round, and wait for the worker."""
    from judgments.machines.judge_runs import judge_runs
    from judgments.machines.judge_runs.judge_settings import JudgeSettings
    from judgments.models import User

    queries = round_.pairs.order_by().values_list("query__query_id", "query__text").distinct()
    expected = {query_id: [text] for query_id, text in queries}
    choice = JudgeSettings(kind="token_overlap", expected=expected, parameters={"min_tokens": 1})
    lead = User.objects.get(username="lead")
    run = judge_runs.start(round_, choice, actor=lead, cap_usd=None, cap_calls=None, audit_share=0.2)
    for _ in range(300):
        run.job.refresh_from_db()
        if run.job.over:
            break
        time.sleep(0.2)
    return run.judge


def change_report(folder: Path) -> str:
    """Write the change report of two runs of the demo, and return its address."""
    write_files(folder)
    gate = [sys.executable, "-m", "assay", "gate", "qrels.txt", "--queries", "queries.csv"]
    gate += ["--documents", "documents.jsonl", "--baseline", f"{BASELINE}.run", "--candidate", f"{CANDIDATE}.run"]
    gate += ["--rule", "drop(nDCG@10) <= 0.02 unless p >= 0.05", "--rule", "Judged@10 >= 0.8"]
    subprocess.run([*gate, "--report", "change.html"], cwd=folder, check=False)
    return (folder / "change.html").as_uri()


def write_files(folder: Path) -> None:
    """Write the labels and queries of the demo's snapshot, its documents and its runs."""
    from demo import catalogue
    from judgments.models import Snapshot
    from pooling.models import Run
    from pooling.runs import downloads

    snapshot = Snapshot.objects.get()
    for file in ("qrels.txt", "queries.csv"):
        (folder / file).write_bytes(snapshot.read_file(file))
    rows = "".join(f"{json.dumps(document)}\n" for document in catalogue.documents())
    (folder / "documents.jsonl").write_text(rows, encoding="utf-8")
    for name in (BASELINE, CANDIDATE):
        _, blocks = downloads.export(Run.objects.get(name=name), "trec-run")
        (folder / f"{name}.run").write_bytes(b"".join(blocks))


def take(folder: Path, pages: dict[str, Page], address: str) -> None:
    """Take a picture of the top of each page, as the lead sees it."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import CHROMIUM, SWITCHES

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[f"--{switch}" for switch in SWITCHES])
        for name, (page, height, before) in pages.items():
            context = browser.new_context(viewport={"width": WIDTH, "height": height}, color_scheme="light")
            tab = context.new_page()
            if page.startswith("http"):
                log_in(tab, address, "rater1" if name.startswith("station") else "lead")
            tab.goto(page)
            tab.wait_for_load_state("networkidle")
            if before:
                before(tab)
            tab.screenshot(path=folder / f"{name}.png")
            context.close()
        browser.close()


def resolving(tab: Any) -> None:
    """Fill in a resolution."""
    tab.locator("input[type=radio]").first.check()
    tab.locator("textarea").fill("According to the guidelines, the need decides, not matching words.")


def as_rater(tab: Any) -> None:
    """Wait for the first pair."""
    tab.wait_for_selector("#doc h2, #doc .prose")
    tab.wait_for_timeout(500)


def as_list(tab: Any) -> None:
    """Show a query's documents as a list."""
    as_rater(tab)
    tab.get_by_role("link", name="As a list").click()
    tab.wait_for_timeout(1000)


def log_in(tab: Any, address: str, name: str) -> None:
    tab.goto(f"{address}/login/")
    tab.fill("input[name=username]", name)
    tab.fill("input[name=password]", "demo")
    tab.click("button[type=submit]")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
