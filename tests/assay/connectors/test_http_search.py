"""Tests of engines that hang, fail, lie or redirect, over a real connection."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from typing import Any

import pytest

from assay.connectors import CONNECTORS, Allowed, Engine, EngineFault
from assay.core.errors import NotValid
from tests.assay.connectors.bad_engine import SECRET, BadEngine

KIND = CONNECTORS["json-http"]
Opened = Callable[..., Engine]


@pytest.fixture
def engine_at(opened: Opened, bad_engine: BadEngine) -> Opened:
    """``engine_at(word, allowed)``: an engine that behaves as the word says."""

    def make(word: str, allowed: Allowed, timeout: float = 5.0, **more: str) -> Engine:
        return opened("json-http", {"address": bad_engine.at(word), **more}, allowed, timeout)

    return make


def fault_of(engine: Engine, query: str = "rain jacket") -> EngineFault:
    with pytest.raises(EngineFault) as caught:
        engine.search(query, 3)
    return caught.value


def test_a_good_answer(engine_at: Opened, bad_engine: BadEngine, here: Allowed) -> None:
    hits = engine_at("good", here, secret=SECRET).search('rain "jacket" é', 2)
    assert [(hit.doc_id, hit.score, hit.title, hit.text) for hit in hits] == [
        ("d1", 10.0, "Document 1", 'about rain "jacket" é'),
        ("d2", 5.0, "Document 2", 'about rain "jacket" é'),
    ]
    options = bad_engine.requests[0]
    assert options["asked"] == {"query": 'rain "jacket" é', "size": 2}
    assert options["headers"]["Authorization"] == f"Bearer {SECRET}"
    assert options["headers"]["Host"] == f"127.0.0.1:{bad_engine.port}"


def test_get_sends_the_template_as_parameters(engine_at: Opened, bad_engine: BadEngine, here: Allowed) -> None:
    hits = engine_at("good?lang=en", here, method="GET").search("a&b=c", 1)
    assert hits[0].text == "about a&b=c"
    assert bad_engine.requests[0]["asked"] == {"lang": "en", "query": "a&b=c", "size": "1"}
    assert "Authorization" not in bad_engine.requests[0]["headers"]


@pytest.mark.parametrize("word", ["offset", "page"])
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_a_depth_beyond_the_page_takes_several_requests(
    engine_at: Opened, bad_engine: BadEngine, here: Allowed, word: str, method: str
) -> None:
    template = f'{{"query": "{{query}}", "size": "{{depth}}", "{word}": "{{{word}}}"}}'
    engine = engine_at("paged", here, template=template, page="250", method=method)
    # Fewer than a page, just a page, several, a page that is the last one and short, and more than there is.
    for depth, requests in ((10, 1), (250, 1), (251, 2), (500, 2), (620, 3), (1000, 3)):
        bad_engine.requests.clear()
        hits = engine.search("rain", depth)
        assert [hit.doc_id for hit in hits] == [f"d{rank}" for rank in range(1, min(depth, 620) + 1)]
        assert len(bad_engine.requests) == requests


def test_without_a_word_for_the_next_page_the_depth_ends_with_the_page() -> None:
    assert KIND.reach({"template": '{"q": "{query}"}', "page": "100"})[0] == 100
    assert "{offset}" in KIND.reach({"template": '{"q": "{query}"}', "page": "100"})[1]
    assert KIND.reach({"template": '{"q": "{query}", "from": "{offset}"}', "page": "100"}) == (10_000, "")
    # As a connector of Typesense was stored before it knew pages.
    assert CONNECTORS["typesense"].reach({"template": '{"q": "{query}", "per_page": "{depth}"}'})[0] == 250
    deep = {"typesense": 10_000, "vespa": 1_000, "algolia": 1_000, "elasticsearch": 10_000, "static-file": 100_000}
    for name, deepest in deep.items():
        usual = {setting.name: setting.default for setting in CONNECTORS[name].settings}
        assert CONNECTORS[name].reach(usual) == (deepest, "")


def test_a_name_with_several_addresses_is_tried_until_one_answers(
    opened: Opened, bad_engine: BadEngine, here: Allowed
) -> None:
    engine = opened("json-http", {"address": f"http://localhost:{bad_engine.port}/good"}, here)
    assert len(engine.search("x", 2)) == 2


@pytest.mark.parametrize(
    ("word", "name", "message"),
    [
        ("fails", "busy", "status 500: “.*out of memory"),
        ("html", "reply", "status 200 with “<html><body>Please log in"),
        ("no-hits", "reply", "no list of hits at hits: it has documents, took"),
        ("no-ids", "reply", "Hit 1 has no usable id at id; it has name"),
        ("refuses", "refused", r"status 400: “unknown field \[titel\]”"),
        ("breaks", "busy", "sent an incomplete response"),
        ("floods", "too-large", "more than 32 MB"),
        ("elsewhere", "redirect", r"redirects to http://169\.254\.169\.254/latest/meta-data/"),
        ("circle", "redirect", "/circle redirects"),
    ],
)
def test_errors_are_reported(
    engine_at: Opened, bad_engine: BadEngine, here: Allowed, word: str, name: str, message: str
) -> None:
    fault = fault_of(engine_at(word, here))
    assert fault.name == name
    assert re.search(message, str(fault)), str(fault)


@pytest.mark.parametrize("word", ["hangs", "drips", "drips-headers"])
def test_no_engine_holds_a_request_longer_than_the_limit(
    engine_at: Opened, bad_engine: BadEngine, here: Allowed, word: str
) -> None:
    """Whoever waited for the engine would see it break off, which is another fault."""
    fault = fault_of(engine_at(word, here, timeout=0.3))
    assert fault.name == "timeout"
    assert "within 0.3 seconds" in str(fault)


def test_an_unresolvable_host_name_fails(
    opened: Opened, bad_engine: BadEngine, here: Allowed, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = opened("json-http", {"address": f"http://localhost:{bad_engine.port}/good"}, here, timeout=0.2)
    summary = socket.getaddrinfo

    def slow(*args: Any, **named: Any) -> Any:
        bad_engine.let_go.wait(5)
        return summary(*args, **named)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    fault = fault_of(engine)
    assert (fault.name, "address of localhost" in str(fault)) == ("timeout", True)
    assert bad_engine.requests == []


def test_a_closed_port_fails(opened: Opened, here: Allowed) -> None:
    fault = fault_of(opened("json-http", {"address": "http://127.0.0.1:9/search"}, here))
    assert (fault.name, "Errno" in str(fault), "refused" in str(fault)) == ("unreachable", False, True)


def test_a_redirect_on_the_same_host_is_followed(engine_at: Opened, bad_engine: BadEngine, here: Allowed) -> None:
    assert len(engine_at("moved", here).search("x", 3)) == 3


def test_a_redirect_elsewhere_takes_no_secret_along(engine_at: Opened, bad_engine: BadEngine, here: Allowed) -> None:
    fault = fault_of(engine_at("elsewhere", here, secret=SECRET, method="GET"))
    assert fault.name == "redirect"
    assert len(bad_engine.requests) == 1


@pytest.mark.parametrize("word", ["locked", "fails"])
def test_a_secret_is_in_no_message(engine_at: Opened, bad_engine: BadEngine, here: Allowed, word: str) -> None:
    fault = fault_of(engine_at(word, here, secret="wrong-" + SECRET))
    assert SECRET not in str(fault)
    assert fault.name == ("secret" if word == "locked" else "busy")


def test_the_right_secret(engine_at: Opened, bad_engine: BadEngine, here: Allowed) -> None:
    assert len(engine_at("locked", here, secret=SECRET).search("x", 3)) == 3


def test_a_host_that_is_not_allowed_is_never_requested(engine_at: Opened, bad_engine: BadEngine) -> None:
    for allowed in (
        Allowed(),
        Allowed.of(["127.0.0.1"]),
        Allowed.of(["*"]),
        Allowed.of(["localhost"], ["127.0.0.0/8"]),
    ):
        with pytest.raises(EngineFault) as caught:
            engine_at("good", allowed)
        assert caught.value.name == "not-allowed"
    assert bad_engine.requests == []


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"address": "ftp://example.com"}, "address"),
        ({"address": "file:///etc/passwd"}, "address"),
        ({"address": "https://user:pw@example.com/"}, "address"),
        ({"address": "http://[bad"}, "address"),
        ({"address": "http://example.com/a b"}, "address"),
        ({}, "address"),
        ({"address": "http://127.0.0.1", "template": "{}"}, "template"),
        ({"address": "http://127.0.0.1", "template": "{"}, "template"),
        ({"address": "http://127.0.0.1", "method": "GET", "template": '{"q": {"a": "{query}"}}'}, "template"),
        ({"address": "http://127.0.0.1", "method": "DELETE"}, "method"),
        ({"address": "http://127.0.0.1/{offset}", "page": "many"}, "page"),
        ({"address": "http://127.0.0.1", "headers": "no header"}, "headers"),
        ({"address": "http://127.0.0.1", "colour": "red"}, "colour"),
    ],
)
def test_settings_that_cannot_work(here: Allowed, given: dict[str, Any], field: str) -> None:
    with pytest.raises(NotValid) as caught:
        KIND.engine(given, here)
    assert field in caught.value.fields
