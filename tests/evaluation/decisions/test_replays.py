"""Replays of decisions over HTTP: simulated raters grade until there is a verdict, which is that of the library."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

import assay
from judgments.members import tokens
from tests.evaluation.decisions.conftest import Lists, lists, run_file

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
REPLAYS = 20
QUERIES = 30
# Simulated seconds per answer of each rater: one is quick, one slow, and one leaves after ten minutes.
PACES = {"rosa": 5.0, "rudi": 14.0, "rike": 9.0}
LEAVES, BREAK = 600.0, "rike"


class Raters:
    """Raters with a clock of their own: whoever is free first asks for the next pairs."""

    def __init__(self, clients: dict[str, httpx.Client], address: str, seed: int) -> None:
        self.clients, self.address = clients, address
        self.draw = random.Random(seed)
        self.free_at = dict.fromkeys(clients, 0.0)
        self.labels: dict[str, dict[str, int]] = {}

    def turns(self) -> Iterator[None]:
        """Let the raters take turns until nobody gets a pair or the round is closed."""
        while self.free_at:
            name = min(self.free_at, key=lambda one: (self.free_at[one], one))
            if name == BREAK and self.free_at[name] > LEAVES:
                self.clients[name].post(f"{self.address}/release/").raise_for_status()
                del self.free_at[name]
                continue
            batch = self.clients[name].post(f"{self.address}/batch/", params={"size": 10})
            if batch.status_code != 200:
                del self.free_at[name]
                continue
            answers = []
            for pair in batch.json()["pairs"]:
                seconds = PACES[name] * self.draw.uniform(0.5, 2)
                self.free_at[name] += seconds
                doc_id = pair["document"]["title"]
                grade = int(doc_id[-1])
                self.labels.setdefault(pair["query"]["text"].removeprefix("query "), {})[doc_id] = grade
                answers.append(
                    {"client_id": str(uuid.uuid4()), "pair": pair["id"], "grade": grade, "seconds_active": seconds}
                )
            sent = self.clients[name].post(f"{self.address}/judgments/", json=answers)
            if sent.status_code == 410:
                return
            sent.raise_for_status()
            yield


def ranked(of: Lists) -> dict[str, dict[str, float]]:
    return {query_id: {doc: float(-rank) for rank, doc in enumerate(docs)} for query_id, docs in of.items()}


def test_twenty_replays_end_in_the_verdict_of_the_library(
    collection: Any, lead: Any, rater: Any, rater2: Any, rater3: Any, live_server: Any, store_file: Any
) -> None:
    clients = ExitStack()

    def client(user: Any, *scopes: str) -> httpx.Client:
        _, text = tokens.make_token(user, name="replay", scopes=list(scopes))
        return clients.enter_context(httpx.Client(headers={"Authorization": f"Bearer {text}"}, timeout=60))

    api = client(lead, "write")
    raters = {user.username: client(user, "rate") for user in (rater, rater2, rater3)}
    decisions = f"{live_server.url}/api/v1/collections/{collection.slug}/decisions/"
    ids = [f"q{number:03d}" for number in range(QUERIES)]
    store_file("queries", "query_id,query\n" + "".join(f"{one},query {one}\n" for one in ids), "queries.csv")
    verdicts = []
    for seed in range(REPLAYS):
        before, after = lists((0.0, 0.5, 0.9)[seed % 3], seed=seed, queries=QUERIES, same=seed % 4)
        if seed % 5 == 4:
            before, after = after, before
        doc_ids = {doc_id for of in (before, after) for docs in of.values() for doc_id in docs}
        known = set(collection.documents.values_list("doc_id", flat=True))
        if doc_ids - known:
            rows = "".join(f"{one},{one}\n" for one in sorted(doc_ids - known))
            store_file("documents", f"doc_id,title\n{rows}", f"documents-{seed}.csv")
        stored = [store_file("runs", run_file(of), f"{name}-{seed}.run") for name, of in (("a", before), ("b", after))]
        body = {
            "name": f"replay {seed}",
            "baseline": stored[0]["id"],
            "candidates": [stored[1]["id"]],
            "raters": list(raters),
            "metric": "nDCG@3",
            "seed": seed,
        }
        made = api.post(decisions, json=body).raise_for_status().json()
        people = Raters(raters, f"{live_server.url}/api/v1/rounds/{made['round']}", seed)
        for _ in people.turns():
            api.get(f"{decisions}{made['id']}/").raise_for_status()
        (found,) = api.get(f"{decisions}{made['id']}/").raise_for_status().json()["candidates"]
        decision = collection.decisions.get(uuid=made["id"])
        whole = {
            query_id: of
            for query_id, of in people.labels.items()
            if set(of) >= {doc_id for docs in (before[query_id], after[query_id]) for doc_id in docs}
        }
        expected = assay.decide(whole, ranked(before), ranked(after), "nDCG@3", order=decision.order, scale_top=3)
        assert (found["verdict"], found["queries"]) == (expected.verdict, expected.queries), seed
        for name in ("difference", "low", "high"):
            assert found[name] == pytest.approx(getattr(expected, name), abs=1e-12), (seed, name)
        verdicts.append(found["verdict"])
    clients.close()
    assert set(verdicts) == {"better", "worse", "undecided"}
