"""Tests of the whole API against its OpenAPI document, with generated requests: no 500 and no undeclared response."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import requests
import schemathesis
from django.db import transaction
from django.http.response import HttpResponseBase
from django.test import Client
from hypothesis import HealthCheck, Phase, strategies
from schemathesis import Case, GenerationMode, checks
from schemathesis.core.failures import FailureGroup
from schemathesis.core.transport import Response

from tests.addresses import api_calls
from tests.test_access_matrix import address
from tests.world import World

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
SCHEMA = Path(__file__).resolve().parent.parent / "config" / "openapi.json"
DOCUMENT = json.loads(SCHEMA.read_text(encoding="utf-8"))
EXAMPLES = int(os.environ.get("SCHEMA_EXAMPLES", "6"))
BASE = "http://testserver"
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
ROUTES = {re.sub(r"<\w+:(\w+)>", r"{\1}", f"/{route}"): route for _, route in api_calls()}


def test_every_response_is_in_the_schema(world: World, lead: Any, rater: Any, api_of: Callable[[Any], Client]) -> None:
    clients = {"lead": api_of(lead), "rater": api_of(rater), "nobody": Client()}
    for client in clients.values():
        client.raise_request_exception = False
    problems: Counter[str] = Counter()
    for result in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations():
        operation = result.ok()
        _calls(clients, operation, _places(operation.path, world), problems)()
    assert not problems, "\n\n".join(f"{count}x {problem}" for problem, count in problems.items())


def _calls(
    clients: dict[str, Client], operation: Any, places: dict[str, str], problems: Counter[str]
) -> Callable[[], None]:
    """Return a function that sends generated requests to one operation, each as every role, and counts the problems."""

    @hypothesis.settings(
        max_examples=EXAMPLES, phases=[Phase.generate], suppress_health_check=list(HealthCheck), deadline=None
    )
    @hypothesis.given(strategies.data())
    def send(data: Any) -> None:
        mode = data.draw(strategies.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]))
        known = data.draw(strategies.sampled_from([True, True, True, False]))
        case = data.draw(_cases(operation, mode, places if known else None))
        for role, client in clients.items():
            try:
                case.validate_response(_response(client, case), checks=CHECKS)
            except FailureGroup as group:
                problems.update(f"{operation.label} as {role}: {failure}"[:600] for failure in group.exceptions)

    return send


def _places(path: str, world: World) -> dict[str, str]:
    """Return the path's parameters that name what the world has."""
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(path))
    match = re.fullmatch(pattern, address(ROUTES[path], world))
    assert match, path
    return match.groupdict()


def _cases(operation: Any, mode: GenerationMode, places: dict[str, str] | None) -> Any:
    try:
        return operation.as_strategy(generation_mode=mode, path_parameters=places)
    except Exception:  # nothing in this operation can be invalid
        return operation.as_strategy(path_parameters=places)


def _response(client: Client, case: Case) -> Response:
    """Send the case; nothing that it does stays."""
    sent = requests.Request(**case.as_transport_kwargs(BASE)).prepare()
    headers = {name: value.decode() if isinstance(value, bytes) else value for name, value in sent.headers.items()}
    body = sent.body.encode() if isinstance(sent.body, str) else sent.body or b""
    with transaction.atomic():
        got: HttpResponseBase = client.generic(
            sent.method,
            sent.path_url,
            body,
            content_type=headers.pop("Content-Type", "application/octet-stream"),
            headers={name: value for name, value in headers.items() if name != "Content-Length"},
        )
        content = b"".join(got.streaming_content) if got.streaming else got.content  # type: ignore[attr-defined]
        transaction.set_rollback(True)
    got_headers = {name.lower(): [value] for name, value in got.headers.items()}
    return Response(got.status_code, got_headers, content, sent, elapsed=0.0, verify=False)
