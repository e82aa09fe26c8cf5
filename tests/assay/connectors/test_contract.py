"""Tests of the contract of every connector."""

from __future__ import annotations

import pytest

from assay.connectors import CONNECTORS, Allowed, EngineFault
from assay.core.errors import NotValid, UnknownName

# Enough to make an engine of each, were it allowed.
ENOUGH = {
    "address": "https://search.example.com",
    "index": "shop",
    "host": "db.example.com",
    "database": "shop",
    "user": "reader",
    "path": "/srv/shop.db",
    "table": "documents",
}


@pytest.mark.parametrize("name", CONNECTORS)
def test_a_declaration_is_whole(name: str) -> None:
    kind = CONNECTORS[name]
    assert kind.name == name
    assert kind.title
    assert kind.description.endswith(".")
    assert kind.tested
    assert kind.deepest >= 100
    names = [setting.name for setting in kind.settings]
    assert len(set(names)) == len(names)
    assert {"doc_id", "title", "text"} <= set(names)
    for setting in kind.settings:
        assert setting.description.endswith(".")
        assert not setting.choices or setting.default in setting.choices
        assert not (setting.secret and setting.default)


@pytest.mark.parametrize("name", CONNECTORS)
def test_only_allowed_addresses_are_requested(name: str) -> None:
    kind = CONNECTORS[name]
    known = {setting.name for setting in kind.settings}
    with pytest.raises(EngineFault) as caught:
        kind.engine({key: value for key, value in ENOUGH.items() if key in known}, Allowed())
    assert caught.value.name == "not-allowed"


@pytest.mark.parametrize("name", CONNECTORS)
def test_missing_settings_are_named(name: str) -> None:
    kind = CONNECTORS[name]
    needed = {setting.name for setting in kind.settings if setting.required and not setting.default}
    with pytest.raises(NotValid) as caught:
        kind.checked({})
    assert set(caught.value.fields) == needed


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="did you mean elasticsearch"):
        CONNECTORS["elastic-search"]
