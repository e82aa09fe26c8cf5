"""Tests of the API's rate limit: headers, refusal, and counters that all processes share."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from judgments.jobs import jobs
from judgments.models import ApiCalls
from judgments.web import middleware

pytestmark = pytest.mark.django_db
COLLECTIONS = "/api/v1/collections/"
NAMES = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


@pytest.fixture(autouse=True)
def _frozen_time(monkeypatch: Any) -> None:
    """No test runs across the end of a period."""
    monkeypatch.setattr(middleware.time, "time", lambda: 1_800_000_010.0)


def test_every_response_tells_the_limit(collection: Any, lead: Any, api_of: Any, settings: Any) -> None:
    settings.API_RATE = "3/minute"
    api = api_of(lead)
    responses = [api.get(path) for path in (COLLECTIONS, f"{COLLECTIONS}nowhere/", COLLECTIONS, COLLECTIONS)]
    assert [response.status_code for response in responses] == [200, 404, 200, 429]
    assert [[response[name] for name in NAMES] for response in responses] == [
        ["3", remaining, "50"] for remaining in ("2", "1", "0", "0")
    ]
    assert responses[3]["Retry-After"] == "50"
    assert responses[3].json()["error"]["code"] == "too_many"


def test_each_token_has_its_own_limit(collection: Any, lead: Any, api_of: Any, client_of: Any, settings: Any) -> None:
    settings.API_RATE = "1/hour"
    clients = [api_of(lead), api_of(lead), client_of(lead), Client()]
    assert [client.get(COLLECTIONS).status_code for client in clients] == [200, 200, 200, 401]
    assert [client.get(COLLECTIONS).status_code for client in clients] == [429] * 4


def test_a_refused_login_is_counted_for_the_address(db: None, settings: Any) -> None:
    settings.API_RATE = "1/hour"
    headers = {"Authorization": "Bearer nothing"}
    first, second = (Client().get(COLLECTIONS, headers=headers) for _ in range(2))
    assert (first.status_code, first["RateLimit-Remaining"], second.status_code) == (401, "0", 401)
    assert second["RateLimit-Remaining"] == "0"


def test_off_sends_no_headers(collection: Any, lead: Any, api_of: Any, settings: Any) -> None:
    settings.API_RATE = "off"
    assert not set(NAMES) & set(api_of(lead).get(COLLECTIONS).headers)
    assert not ApiCalls.objects.exists()


def test_a_new_period_starts_anew(collection: Any, lead: Any, api_of: Any, settings: Any, monkeypatch: Any) -> None:
    settings.API_RATE = "1/minute"
    api = api_of(lead)
    assert [api.get(COLLECTIONS).status_code for _ in range(2)] == [200, 429]
    monkeypatch.setattr(middleware.time, "time", lambda: 1_800_000_060.0)
    assert api.get(COLLECTIONS).status_code == 200


def test_processes_share_the_limit(db: None) -> None:
    """Each process has a cache of its own; here an empty cache is another process."""
    left = []
    for _ in range(25):
        cache.clear()
        left.append(middleware._from_database("caller", 1, 40, 60))
    assert [number >= 0 for number in left] == [True] * 20 + [False] * 5
    assert ApiCalls.objects.get().calls >= 40


def test_a_process_writes_only_when_it_reserves(db: None, django_assert_num_queries: Any) -> None:
    middleware._from_database("caller", 1, 40, 60)
    with django_assert_num_queries(0):
        assert middleware._from_database("caller", 1, 40, 60) == 38
    left = [middleware._from_database("caller", 1, 40, 60) for _ in range(39)]
    assert left == [*range(37, -1, -1), -1]


def test_redis_counts_each_call(redis_url: str, settings: Any) -> None:
    options = {"serializer": "judgments.jobs.cache_serializer.NoCode"}
    redis = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": redis_url, "OPTIONS": options}
    settings.CACHES = {"default": redis}
    caller = uuid.uuid4().hex
    assert [middleware._from_redis(caller, 1, 2, 1) for _ in range(3)] == [1, 0, -1]


def test_old_counters_are_deleted(db: None, settings: Any) -> None:
    settings.API_RATE = "600/minute"
    middleware._reserve("old", 1, 1)
    middleware._reserve("new", 30_000_000, 1)
    jobs.tick()
    assert [row.caller for row in ApiCalls.objects.all()] == ["new"]
