"""Shared fixtures of the judgments tests: rounds with pairs, judgment submission, commit hooks."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from assay.core.content_hash import content_hash
from assay.llm.providers import question_run
from judgments.guidelines import guidelines
from judgments.models import Document, Pair, Query, Round, User
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from tests.world import grade_together


def rows(model: Any, key: str, wanted: list[Any]) -> dict[str, Any]:
    """Store the rows that are not there yet, and answer all of them by their id."""
    model.objects.bulk_create(wanted, ignore_conflicts=True)
    ids = [getattr(row, key) for row in wanted]
    found = model.objects.filter(collection=wanted[0].collection, **{f"{key}__in": ids}) if wanted else []
    return {getattr(row, key): row for row in found}


@pytest.fixture
def lead2(make_user: Callable[..., User], collection: Any) -> User:
    """Another lead of the collection."""
    user = make_user("lars")
    collection.memberships.create(user=user, role="lead")
    return user


@pytest.fixture
def make_round(collection: Any, lead: Any) -> Callable[..., Round]:
    """Make a round over so many queries and documents each, opened for its raters."""

    def make(
        *,
        queries: int = 2,
        documents: int = 3,
        raters: list[Any],
        opened: bool = True,
        name: str = "Round 1",
        **options: Any,
    ) -> Round:
        numbers = range(1, queries + 1)
        places = [(number, place) for number in numbers for place in range(1, documents + 1)]
        known_queries = rows(
            Query,
            "query_id",
            [Query(collection=collection, query_id=f"q{number}", text=f"query {number}") for number in numbers],
        )
        known_documents = rows(
            Document,
            "doc_id",
            [
                Document(
                    collection=collection,
                    doc_id=f"d{number}-{place}",
                    title=f"Document {number}-{place}",
                    text="A text.",
                    content_sha256=content_hash(f"Document {number}-{place}", "A text.", "", "", {}),
                )
                for number, place in places
            ],
        )
        candidates = [
            rounds.Candidate(
                known_queries[f"q{number}"],
                known_documents[f"d{number}-{place}"],
                {"strategy": "depth", "runs": {"bm25": place}},
            )
            for number, place in places
        ]
        version = guidelines.latest(collection) or guidelines.add_version(
            collection, markdown="Grade what helps.", actor=lead
        )
        made = rounds.create_round(
            collection,
            name=name,
            candidates=candidates,
            provenance={"strategy": "depth", "parameters": {"depth": documents}},
            guidelines=version,
            actor=lead,
            raters=raters,
            **options,
        )
        return rounds.open_round(made, actor=lead) if opened else made

    return make


@pytest.fixture
def models_allowed(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider on this machine may be asked, and is not waited for where it fails."""
    settings.PROVIDER_HOSTS, settings.PROVIDER_NETWORKS = ["127.0.0.1"], ["127.0.0.0/8"]
    monkeypatch.setattr(question_run, "FIRST_WAIT", 0.001)


@pytest.fixture
def commit(django_capture_on_commit_callbacks: Any) -> Any:
    """What waits for a commit, such as a job, is done where this ends: ``with commit(execute=True)``."""
    return django_capture_on_commit_callbacks


@pytest.fixture
def answer() -> Callable[..., submission.Receipt]:
    """Submit one answer of a rater for a pair."""

    def send(round_: Round, rater: Any, pair: Pair, grade: int | None = 2, **fields: Any) -> submission.Receipt:
        fields.setdefault("client_id", uuid.uuid4())
        return submission.submit(round_, submission.Answer(pair=pair.uuid, grade=grade, **fields), rater=rater)

    return send


@pytest.fixture
def rate_all() -> Callable[..., int]:
    """Let a rater grade everything that is handed out; ``grade`` is a number or a function of the pair."""

    def rate(round_: Round, rater: Any, grade: Any = 2, **fields: Any) -> int:
        count = 0
        while batch := assignment.claim_batch(round_, rater=rater, size=20):
            grades = {pair.uuid: grade(pair) if callable(grade) else grade for pair in batch}
            count += len(grade_together(round_, rater, grades, **fields))
        return count

    return rate
