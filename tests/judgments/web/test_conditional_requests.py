"""Tests of ETags of the API: 304 for a current copy, 412 for a change of an outdated one."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from judgments.models import Collection
from tests.test_access_matrix import LINES, WHO, address
from tests.threads import at_once
from tests.world import World

pytestmark = pytest.mark.django_db
SHOP = "/api/v1/collections/shop/"


@pytest.mark.parametrize("path", ["", "queries/", "runs/?ordering=-name", "members/emil/", "declarations/"])
def test_a_current_copy_is_not_sent_again(world: World, lead: Any, api_of: Any, path: str) -> None:
    api = api_of(lead)
    first = api.get(SHOP + path)
    again = api.get(SHOP + path, headers={"If-None-Match": first["ETag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert again["ETag"] == first["ETag"]
    assert "no-store" in again["Cache-Control"]
    assert api.get(SHOP + path, headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize("name", ["trec-qrels", "bundle", "judgment-list"])
def test_a_current_export_is_not_sent_again(world: World, lead: Any, api_of: Any, name: str) -> None:
    api, path = api_of(lead), f"/api/v1/snapshots/{world.snapshot.uuid}/export/{name}/"
    first = api.get(path)
    assert b"".join(first.streaming_content)
    assert api.get(path, headers={"If-None-Match": first["ETag"]}).status_code == 304


def test_a_change_gives_another_etag(world: World, lead: Any, api_of: Any) -> None:
    api = api_of(lead)
    before = api.get(SHOP)["ETag"]
    api.patch(SHOP, {"name": "New"}, format="json")
    assert api.get(SHOP, headers={"If-None-Match": before}).status_code == 200


def test_only_the_current_version_can_be_changed(world: World, lead: Any, api_of: Any) -> None:
    api = api_of(lead)
    etag = api.get(SHOP)["ETag"]
    done = api.patch(SHOP, {"name": "First"}, format="json", headers={"If-Match": etag})
    outdated = api.patch(SHOP, {"name": "Second"}, format="json", headers={"If-Match": etag})
    assert (done.status_code, outdated.status_code) == (200, 412)
    assert outdated.json()["error"]["code"] == "changed"
    assert Collection.objects.get(slug="shop").name == "First"
    any_version = api.patch(SHOP, {"name": "Third"}, format="json", headers={"If-Match": "*"})
    assert any_version.status_code == 200


def test_an_etag_opens_nothing_to_others(world: World, lead: Any, rater: Any, outsider: Any, api_of: Any) -> None:
    etag = api_of(lead).get(SHOP)["ETag"]
    for user, status in ((rater, 403), (outsider, 404)):
        headers = {"If-Match": etag, "If-None-Match": etag}
        assert api_of(user).patch(SHOP, {"name": "X"}, format="json", headers=headers).status_code == status
        assert api_of(user).get(SHOP, headers=headers).status_code == status


def test_an_address_without_an_etag(world: World, lead: Any, api_of: Any) -> None:
    path = f"{SHOP}declarations/{world.declaration.uuid}/"
    assert api_of(lead).delete(path, headers={"If-Match": '"x"'}).status_code == 412
    assert api_of(lead).delete(path).status_code == 204


@pytest.mark.slow
def test_every_changeable_object_has_an_etag(world: World, lead: Any, api_of: Any) -> None:
    api, column = api_of(lead), WHO.index("lead")
    routes = [line.route for line in LINES if line.method == "PATCH" and line.expected[column] not in (404, 405)]
    assert len(routes) >= 10
    without = [route for route in routes if "ETag" not in api.get(address(route, world)).headers]
    assert without == []


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_changes_one_is_made(collection: Any, lead: Any, api_of: Any) -> None:
    clients = [api_of(lead) for _ in range(4)]
    headers = {"If-Match": clients[0].get(SHOP)["ETag"]}
    changes = (
        partial(client.patch, SHOP, {"name": f"Name {number}"}, format="json", headers=headers)
        for number, client in enumerate(clients)
    )
    assert sorted(sent.status_code for sent in at_once(*changes)) == [200, 412, 412, 412]
