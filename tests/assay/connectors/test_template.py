"""Tests of request templates: a query changes only its own place."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.connectors.http_search import headers_of
from assay.connectors.request_template import asks, filled, filled_address, parsed
from assay.core.errors import NotValid


@settings(max_examples=50)
@given(st.text())
def test_a_query_stays_where_it_was_put(query: str) -> None:
    template = parsed("template", '{"a": {"b": ["{query}", "x {query} {depth}"]}, "size": "{depth}", "query": 1}')
    assert filled(template, query, 7) == {"a": {"b": [query, f"x {query} 7"]}, "size": 7, "query": 1}


@settings(max_examples=50)
@given(st.text(st.characters(codec="utf-8")))
def test_a_query_stays_one_parameter_of_an_address(query: str) -> None:
    address = urlsplit(filled_address("https://example.com/s?q={query}&n={depth}", query, 3))
    assert parse_qs(address.query, keep_blank_values=True) == {"q": [query], "n": ["3"]}
    assert address.netloc == "example.com"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1"),
        ('{"size": {depth}}', r'write "\{query\}" and "\{depth\}" in quotes'),
        ("[]", "not a JSON object"),
        ('{"q": "{query}",\n}', "line 2"),
        ("[" * 100_000, "not valid JSON|nested"),
    ],
)
def test_a_template_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(NotValid, match=message) as caught:
        parsed("template", text)
    assert list(caught.value.fields) == ["template"]


def test_whether_the_query_is_requested_at_all() -> None:
    assert asks("https://example.com/{query}", {})
    assert asks("", json.loads('{"a": ["{query}"]}'))
    assert not asks("https://example.com/", {"size": "{depth}"})


def test_headers() -> None:
    lines = "X-Team: search\n\nAuthorization: Basic {secret|base64}\nX-Key: {secret}"
    # RFC 7617, section 2: the example of Basic credentials.
    assert headers_of(lines, "Aladdin:open sesame") == {
        "X-Team": "search",
        "Authorization": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        "X-Key": "Aladdin:open sesame",
    }
    assert headers_of(lines, "") == {"X-Team": "search"}


@pytest.mark.parametrize(
    "line", ["nothing", "Ho st: x", "Host: evil", "content-length: 5", "X: a\tb\x7f", ": x", "X: é"]
)
def test_lines_that_are_no_headers(line: str) -> None:
    with pytest.raises(NotValid, match="Line 1"):
        headers_of(line, "s")


@pytest.mark.parametrize("secret", ["top\r\nX-Evil: 1", "töp", "top\0"])
def test_a_secret_that_no_header_can_carry_is_not_reported(secret: str) -> None:
    with pytest.raises(NotValid) as caught:
        headers_of("X: {secret}", secret)
    assert secret not in str(caught.value)
    assert "secret" in caught.value.fields
