"""Tests of the snippet of docs/webhooks.md, which verifies signatures."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judgments.events.kinds import WEBHOOK_EVENTS
from judgments.webhooks.deliveries import signature

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "webhooks.md").read_text(encoding="utf-8")
BODY = '{"text": "“ü”"}'.encode()


@pytest.fixture(scope="module")
def is_from_assay() -> Callable[..., bool]:
    [snippet] = re.findall(r"```python\n(.+?)```", PAGE, re.S)
    names: dict[str, Any] = {}
    exec(snippet, names)
    function: Callable[..., bool] = names["is_from_assay"]
    return function


def test_a_signature_is_accepted(is_from_assay: Callable[..., bool]) -> None:
    now = int(time.time())
    assert is_from_assay(signature(["whsec_a"], now, BODY), BODY, "whsec_a")
    rotated = signature(["whsec_new", "whsec_a"], now, BODY)
    assert is_from_assay(rotated, BODY, "whsec_a")
    assert is_from_assay(rotated, BODY, "whsec_new")


def test_a_wrong_signature_is_refused(is_from_assay: Callable[..., bool]) -> None:
    now = int(time.time())
    header = signature(["whsec_a"], now, BODY)
    assert not is_from_assay(header, BODY + b" ", "whsec_a")
    assert not is_from_assay(header, BODY, "whsec_b")
    assert not is_from_assay(header.replace(f"t={now}", f"t={now + 1}"), BODY, "whsec_a")
    assert not is_from_assay(signature(["whsec_a"], now - 301, BODY), BODY, "whsec_a")
    for odd in ("", "t=,v1=", "v1=0", f"t={now}"):
        assert not is_from_assay(odd, BODY, "whsec_a")


def test_every_event_is_in_the_table() -> None:
    listed = set(re.findall(r"^\| `([a-z.]+)` \| (?!hosts|private)", PAGE, re.M))
    assert listed == {*WEBHOOK_EVENTS, "test"}
