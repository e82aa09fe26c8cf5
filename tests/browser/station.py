"""Helpers for browser tests of the station: a round to rate, key presses, and stored judgments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from django.urls import reverse
from playwright.sync_api import Locator, Page, Request

from assay.core.content_hash import content_hash
from judgments.guidelines import guidelines
from judgments.models import Collection, Document, Judgment, Query, Round
from judgments.models.pair import JudgmentQuerySet
from judgments.rating import assignment
from judgments.rounds import rounds
from tests.world import grade_together

# Every document tries to run a script.
HOSTILE = "<p>Fine text</p><script>document.title = 'taken over'</script><img src=x onerror=\"document.title='x'\">"
NEEDS = (("q1", "rain jacket"), ("q2", "tent"))


def make_round(collection: Collection, lead: Any, raters: list[Any], documents: int = 6, **options: Any) -> Round:
    """An open round over two queries with so many documents each."""
    candidates = []
    for query_id, text in NEEDS:
        query = Query.objects.create(collection=collection, query_id=query_id, text=text, narrative=f"A {text}.")
        for number in range(1, documents + 1):
            title = f"{text} {number}"
            document = Document.objects.create(
                collection=collection,
                doc_id=f"{query_id}-d{number}",
                title=title,
                text=HOSTILE,
                content_sha256=content_hash(title, HOSTILE, "", "", {}),
            )
            candidates.append(rounds.Candidate(query, document, {"runs": {"bm25": number}}))
    made = rounds.create_round(
        collection,
        name="Round 1",
        candidates=candidates,
        provenance={"strategy": "depth", "seed": 1},
        guidelines=guidelines.add_version(collection, markdown="# Grade what helps", actor=lead),
        actor=lead,
        raters=raters,
        **options,
    )
    return rounds.open_round(made, actor=lead)


def rate_all(round_: Round, rater: Any, grade: Any = lambda pair: 2) -> None:
    """Everything that the rater can get, graded past the browser."""
    while batch := assignment.claim_batch(round_, rater=rater, size=20):
        grade_together(round_, rater, {pair.uuid: grade(pair) for pair in batch})


def ready(page: Page) -> None:
    """The page has been seen: keys count from here on. One that is being left is ready no more."""
    page.wait_for_selector("html[data-ready]")


def press(page: Page, key: str) -> None:
    """One key on a document that was seen; the server has what it said when this returns."""
    ready(page)
    with wait_until_submitted(page):
        page.keyboard.press(key)


# What this browser keeps. A page that has been seen has opened it; where that is refused, nothing outlives the page.
ALL_STORED = """() => new Promise((done) => {
    const none = () => done([]);
    try {
        const asked = indexedDB.open("assay-station");
        asked.onerror = none;
        asked.onsuccess = () => {
            const rows = asked.result.transaction("outbox").objectStore("outbox").getAll();
            rows.onerror = none;
            rows.onsuccess = () => { asked.result.close(); done(rows.result.map((row) => [row.kind, row.client_id])); };
        };
    } catch { none(); }
})"""


# How many pages were read by the script: those that lie ready.
READS = """window.read = 0;
const text = Response.prototype.text;
Response.prototype.text = function () { return text.call(this).finally(() => { window.read += 1; }); };"""


@contextmanager
def wait_until_submitted(page: Page) -> Iterator[None]:
    """Wait until the server has answered what is said on the page within the block.

    Of several tabs one sends for all. What was said before may be on its way still, and so may what somebody else said
    in another tab: neither of them is it.
    """
    before = {tuple(row) for row in page.evaluate(ALL_STORED)}
    with answered(page, lambda request: submitted_pairs(request) - before):
        yield


@contextmanager
def answered(page: Page, it: Callable[[Request], object]) -> Iterator[Any]:
    """Wait for the answer to such a request of any tab that is begun within the block."""
    begun: list[Request] = []

    def note(request: Request) -> None:
        begun.append(request)

    context = page.context
    context.on("request", note)
    try:
        with context.expect_event(
            "response", lambda answer: answer.request in begun and it(answer.request)
        ) as response:
            yield response
    finally:
        context.remove_listener("request", note)


def submitted_pairs(request: Request) -> set[tuple[str, str]]:
    """The answers that a request tells, and those that it takes back."""
    _, judgments, taken = urlsplit(request.url).path.partition("/judgments/")
    if request.method != "POST" or not judgments:
        return set()
    if taken:
        return {("undo", taken.partition("/")[0])}
    return {("answer", one["client_id"]) for one in json.loads(request.post_data or "[]")}


def quick(page: Page, keys: str) -> None:
    """Keys on documents that were seen, without waiting for the server."""
    for key in keys:
        ready(page)
        page.keyboard.press(key)


def list_of(round_: Round) -> str:
    """The path of the documents of a query as a list."""
    return f"{reverse('rate', args=[round_.uuid])}?mode=list"


def stand_still(page: Page) -> None:
    """The clock of pages that are opened from here on moves by hand alone."""
    page.clock.install(time=0)
    page.clock.pause_at(1000)


def hold_time(page: Page) -> None:
    """The page's clock, which was installed, is put on by a minute and moves by hand alone from here on."""
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)


def rows(page: Page) -> Locator:
    return page.locator("#list > li")


def button(row: Locator, value: str) -> Locator:
    return row.locator(f"label:has(input[value='{value}'])")


def chosen(row: Locator) -> str:
    return row.evaluate("(one) => one.querySelector(':checked')?.value ?? ''")


def stored_notice(page: Page) -> Locator:
    """What the page says of answers that the browser still keeps."""
    return page.locator("#stored")


def query_of(page: Page) -> str:
    return page.locator(".ask__query").inner_text()


def title(page: Page) -> str:
    return page.locator("#shown h2").inner_text()


def mine(user: Any) -> JudgmentQuerySet:
    """The rater's answers that stand, as the server has them."""
    return Judgment.objects.current().filter(rater=user)
