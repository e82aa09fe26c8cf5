"""Tests of the pool of HTTP clients: one request at a time for each client, and no more clients than requests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import httpx
import pytest

from assay.network.http_clients import ClientPool


class Made(list[httpx.Client]):
    """Clients of a server that answers once the barrier, if there is one, lets it."""

    barrier: threading.Barrier | None = None
    used: list[int]

    def __call__(self) -> httpx.Client:
        number = len(self)

        def answer(request: httpx.Request) -> httpx.Response:
            self.used.append(number)
            if self.barrier is not None:
                self.barrier.wait(10)
            if request.url.path == "/broken":
                raise httpx.ReadError("broken", request=request)
            return httpx.Response(200)

        self.append(httpx.Client(transport=httpx.MockTransport(answer)))
        return self[-1]


@pytest.fixture
def made() -> Made:
    clients = Made()
    clients.used = []
    return clients


@pytest.fixture
def pool(made: Made) -> Iterator[ClientPool]:
    with ClientPool(made) as clients:
        yield clients
    assert all(client.is_closed for client in made)


def ask(pool: ClientPool, path: str = "/") -> None:
    with pool.stream("GET", f"http://model.example{path}"):
        pass


def in_threads(number: int, work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_concurrent_requests_have_different_clients_and_later_threads_reuse_them(made: Made, pool: ClientPool) -> None:
    made.barrier = threading.Barrier(8)
    in_threads(8, lambda: ask(pool))
    assert sorted(made.used) == list(range(8))
    in_threads(8, lambda: ask(pool))
    assert len(made) == 8


def test_requests_in_turn_have_one_client(made: Made, pool: ClientPool) -> None:
    for _ in range(3):
        ask(pool)
    assert made.used == [0, 0, 0]


def test_a_client_is_used_again_after_a_failure(made: Made, pool: ClientPool) -> None:
    with pytest.raises(httpx.ReadError):
        ask(pool, "/broken")
    ask(pool)
    assert made.used == [0, 0]
