"""How does a test sit at the rater station: a round to rate, one key, and what the server has of it?"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page

from judgments import assignment, guidelines, rounds
from judgments.core.content_hash import content_hash
from judgments.models import Collection, Document, Judgment, Query, Round
from judgments.models.judgment import JudgmentQuerySet
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
    """The page has been seen: keys count from here on."""
    page.wait_for_selector("html[data-ready]")


def press(page: Page, key: str) -> None:
    """One key on a document that was seen; the server has what it said when this returns.

    Of several tabs one sends for all.
    """
    ready(page)
    with page.context.expect_event("response", lambda answer: "/judgments/" in answer.url):
        page.keyboard.press(key)


def quick(page: Page, keys: str) -> None:
    """Keys on documents that were seen, without waiting for the server."""
    for key in keys:
        ready(page)
        page.keyboard.press(key)


def kept(page: Page) -> Locator:
    """What the page says of answers that the browser still keeps."""
    return page.locator("#kept")


def query_of(page: Page) -> str:
    return page.locator(".ask__query").inner_text()


def title(page: Page) -> str:
    return page.locator("#shown h2").inner_text()


def mine(user: Any) -> JudgmentQuerySet:
    """The rater's answers that stand, as the server has them."""
    return Judgment.objects.current().filter(rater=user)
