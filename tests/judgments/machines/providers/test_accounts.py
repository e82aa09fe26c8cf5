"""Tests of provider accounts: allowed addresses only, encrypted keys, no redirects."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid
from judgments.jobs import encrypted_secrets
from judgments.machines.providers import accounts
from judgments.machines.tryouts import tryouts
from judgments.models import AuditRow, Provider
from tests.judgments.machines.model_replies import KEY, provider_at
from tests.model_server import Answer, ModelServer, serving

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _allowed(settings: Any) -> None:
    settings.PROVIDER_HOSTS, settings.PROVIDER_NETWORKS = ["127.0.0.1", "localhost"], ["127.0.0.0/8", "::1/128"]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(lambda prompt, number: Answer("yes")) as model_server:
        yield model_server


def test_a_key_is_stored_encrypted_and_never_shown(server: ModelServer, collection: Any, lead: Any) -> None:
    provider = provider_at(server.url, collection, lead)
    assert KEY not in provider.sealed
    assert encrypted_secrets.unseal(provider.sealed) == {"key": KEY}
    assert KEY not in repr(accounts.endpoint(provider, "judge-1"))
    assert not any(KEY in row.sentence + str(row.detail) for row in AuditRow.objects.all())
    assert tryouts.provider(provider, "judge-1").text == "yes"
    assert server.requests[0][1]["Authorization"] == f"Bearer {KEY}"


def test_tryouts_count_towards_the_limit_per_minute(server: ModelServer, collection: Any, lead: Any) -> None:
    provider = provider_at(server.url, collection, lead, per_minute=60)  # six at once, then one a second
    began = time.monotonic()
    for _ in range(8):
        tryouts.provider(provider, "judge-1")
    assert time.monotonic() - began >= 1.9


def test_no_call_without_the_operators_permission(
    server: ModelServer, collection: Any, lead: Any, settings: Any
) -> None:
    provider = provider_at(server.url, collection, lead)
    settings.PROVIDER_NETWORKS = []
    with pytest.raises(NotValid, match="not public"):
        tryouts.provider(provider, "judge-1")
    settings.PROVIDER_HOSTS, settings.PROVIDER_NETWORKS = [], ["127.0.0.0/8"]
    with pytest.raises(NotValid, match="PROVIDER_HOSTS"):
        tryouts.provider(provider, "judge-1")
    assert server.requests == []
    # The makers' own services are no exception.
    with pytest.raises(NotValid) as refused:
        provider_at("", collection, lead, name="theirs")
    assert "api.openai.com:443" in refused.value.fields["base_url"]


def test_a_name_reaches_the_addresses_that_were_checked(server: ModelServer, collection: Any, lead: Any) -> None:
    named = server.url.replace("127.0.0.1", "localhost")
    assert tryouts.provider(provider_at(named, collection, lead), "judge-1").text == "yes"
    assert server.requests[0][1]["Host"].startswith("localhost:")


def test_a_redirect_is_not_followed(server: ModelServer, collection: Any, lead: Any) -> None:
    server.answer = lambda prompt, number: Answer(status=307, headers={"Location": "http://127.0.0.1:1/"})
    with pytest.raises(NotValid, match="307"):
        tryouts.provider(provider_at(server.url, collection, lead), "judge-1")
    assert len(server.requests) == 1


def test_another_address_needs_the_key_again(server: ModelServer, collection: Any, lead: Any) -> None:
    provider = provider_at(server.url, collection, lead)
    with pytest.raises(NotValid) as refused:
        accounts.change(provider, actor=lead, given={"base_url": f"{server.url}/v2"})
    assert "key" in refused.value.fields
    provider.refresh_from_db()
    accounts.change(provider, actor=lead, given={"concurrency": 2})
    assert encrypted_secrets.unseal(Provider.objects.get().sealed) == {"key": KEY}
    accounts.change(provider, actor=lead, given={"base_url": f"{server.url}/v2"}, key="another")
    assert encrypted_secrets.unseal(Provider.objects.get().sealed) == {"key": "another"}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"base_url": "ftp://127.0.0.1"}, "base_url"),
        ({"base_url": "http://me:secret@127.0.0.1"}, "base_url"),
        ({"base_url": "http://127.0.0.1/v1?key=secret"}, "base_url"),
        ({"base_url": "http://127.0.0.1/v1?api-version=1&sig=secret"}, "base_url"),
        ({"protocol": "telepathy"}, "protocol"),
        ({"models_offered": []}, "models_offered"),
        ({"models_offered": [{"name": "a", "price_in": 1.0}]}, "models_offered"),
        ({"models_offered": [{"name": "a", "price_in": -1.0, "price_out": 1.0}]}, "models_offered"),
        ({"models_offered": [{"name": "a"}, {"name": "a"}]}, "models_offered"),
        ({"key": "two\nlines"}, "key"),
        ({"name": " "}, "name"),
    ],
)
def test_invalid_accounts_are_refused_by_field(given: dict[str, Any], field: str, collection: Any, lead: Any) -> None:
    with pytest.raises(NotValid) as refused:
        provider_at("http://127.0.0.1:9", collection, lead, **given)
    assert field in refused.value.fields
    assert "secret" not in refused.value.fields[field]
    assert not Provider.objects.exists()


def test_the_version_of_azures_interface_stays_behind_the_path(server: ModelServer, collection: Any, lead: Any) -> None:
    url = f"{server.url}/openai/deployments/judge?api-version=2024-10-21"
    provider = provider_at(url, collection, lead)
    assert tryouts.provider(provider, "judge-1").text == "yes"
    assert server.requests[0][0] == "/openai/deployments/judge/chat/completions?api-version=2024-10-21"
    assert server.requests[0][1]["api-key"] == KEY


def test_a_name_is_taken_once(collection: Any, lead: Any) -> None:
    provider_at("http://127.0.0.1:9", collection, lead)
    with pytest.raises(Conflict):
        provider_at("http://127.0.0.1:9", collection, lead)
