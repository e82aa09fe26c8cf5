"""Tests of connection pools: threads are spread over pools and each thread keeps its own."""

from __future__ import annotations

import threading
from collections import Counter

import httpx

from assay.network.connection_pools import MOST, Pools


def test_threads_are_spread_and_each_keeps_to_its_pool() -> None:
    used: list[tuple[int, int]] = []
    made: list[httpx.Client] = []

    def make() -> httpx.Client:
        number = len(made)

        def answer(request: httpx.Request) -> httpx.Response:
            used.append((number, threading.get_ident()))
            return httpx.Response(200)

        made.append(httpx.Client(transport=httpx.MockTransport(answer)))
        return made[-1]

    together = threading.Barrier(3 * MOST)

    def ask() -> None:
        together.wait()
        for _ in range(3):
            with pools.stream("GET", "http://model.example/"):
                pass
        together.wait()

    with Pools(make, 3 * MOST) as pools:
        threads = [threading.Thread(target=ask) for _ in range(3 * MOST)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert set(Counter(used).values()) == {3}
    assert Counter(number for number, _ in set(used)) == {0: MOST, 1: MOST, 2: MOST}
    assert all(client.is_closed for client in made)


def test_few_threads_have_one_pool() -> None:
    made: list[httpx.Client] = []
    Pools(lambda: made.append(httpx.Client()) or made[-1], MOST).close()
    assert len(made) == 1
