"""Tests of the JSON cache in Redis: values round-trip, foreign entries are ignored and never executed."""

from __future__ import annotations

import json
import os
import pickle
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest
from django.core.cache.backends.redis import RedisCache
from django.utils.safestring import SafeString

from evaluation.scoring.history import Change
from judgments.jobs import cache_serializer
from judgments.jobs.cache_serializer import NoCode
from judgments.rating.slot_search import Query

SERIALIZER = NoCode()


def again(value: Any) -> Any:
    return SERIALIZER.loads(SERIALIZER.dumps(value))


@pytest.mark.parametrize(
    "value",
    [
        0,
        -7,
        True,
        None,
        1.5,
        float("inf"),
        "é\ud800",
        ["a", {"b": [1]}],
        (1, ("a",)),
        {("q", 1): {"d"}, 2: frozenset({3})},
        {"!": "tuple", "v": [1]},
        b"\x00\xff",
        datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        date(2026, 1, 2),
        Change(1, 2, 3, 4, 5, rounds_added=("a",), rule=("median", "max")),
        Query(3, None),
    ],
)
def test_a_cached_value_comes_back(value: Any) -> None:
    decoded = again(value)
    assert decoded == value
    assert type(decoded) is type(value)


def test_arrays_and_marked_texts() -> None:
    for array in (np.arange(6, dtype=np.int32).reshape(2, 3), np.array([0.1, np.nan]), np.array(["a", "éé"])):
        decoded = again(array)
        assert decoded.dtype == array.dtype
        np.testing.assert_array_equal(decoded, array)
    assert again(np.float64(0.1)) == 0.1
    assert isinstance(again(SafeString("<b>")), SafeString)
    assert not isinstance(again("<b>"), SafeString)


class Trap:
    def __reduce__(self) -> Any:
        return os.mkdir, (str(RAN),)


RAN: Any = None


def named(kind: str, value: Any) -> bytes:
    return json.dumps({"!": kind, "v": value}).encode()


@pytest.mark.parametrize(
    "written",
    [
        named("os:system", ["true"]),
        named("subprocess:Popen", {"args": "true"}),
        named("judgments.jobs.jobs:os", {}),
        named("judgments.models:User", {"nothing": 1})[:-1],
        named("judgments.jobs.storage:forget", ["x"]),
        named("judgments.jobs.cache_serializer:sys.modules", {}),
        named("evaluation.scoring.history:Change", {"labels_added": 1}),
        named("nothing:At.all", {}),
        named("judgments.no_such_module:X", {}),
        json.dumps({"!": "array", "type": "|O", "shape": [1], "v": "AAAAAAAAAAA="}).encode(),
        json.dumps({"!": "array", "type": "<i8", "shape": [9], "v": ""}).encode(),
        b'{"!": "tuple"}',
        b"[" * 100_000,
        b"\x80\x04.",
        b"",
    ],
)
def test_foreign_cache_entries_are_ignored(written: bytes) -> None:
    assert SERIALIZER.loads(written) is None


def test_a_pickle_is_not_run(tmp_path: Any) -> None:
    global RAN
    RAN = tmp_path / "ran"
    assert SERIALIZER.loads(pickle.dumps(Trap())) is None
    assert not RAN.exists()


def test_unsupported_values_are_refused() -> None:
    @dataclass
    class Elsewhere:
        x: int

    Elsewhere.__module__ = "elsewhere"
    for value in (object(), Elsewhere(1), lambda: 1, 1j):
        with pytest.raises(TypeError):
            SERIALIZER.dumps(value)


def test_a_real_redis(redis_url: str, tmp_path: Any) -> None:
    global RAN
    RAN = tmp_path / "ran"
    cache = RedisCache(
        redis_url, {"OPTIONS": {"serializer": "judgments.jobs.cache_serializer.NoCode"}, "KEY_PREFIX": "test"}
    )
    cache.set("change", Change(1, 2, 3, 4, 5))
    assert cache.get("change") == Change(1, 2, 3, 4, 5)
    cache.set("count", 3)
    assert cache.incr("count") == 4
    import redis

    redis.Redis.from_url(redis_url).set(cache.make_key("change"), pickle.dumps(Trap()))
    assert cache.get("change", "nothing") in (None, "nothing")
    assert not RAN.exists()
    cache.delete_many(["change", "count"])


@pytest.mark.django_db
def test_every_test_keeps_its_values_like_this(settings: Any) -> None:
    from django.core.cache import cache

    assert settings.CACHES["default"]["BACKEND"] == "judgments.jobs.cache_serializer.InMemory"
    cache.set("x", (1, 2))
    assert cache.get("x") == (1, 2)
    assert cache.get_or_set("y", lambda: {1: 2}) == {1: 2}
    assert not cache.add("x", 1)
    assert cache_serializer.InMemory
