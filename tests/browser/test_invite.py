"""Tests of invitation links, from the link to the first query."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from judgments.members import invite_links
from judgments.models import User
from tests.browser.axe import violations
from tests.browser.station import make_round

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_from_the_link_to_the_first_query(
    page: Any, live_server: Any, collection: Any, lead: Any, rater: Any, settings: Any
) -> None:
    settings.INVITE_LINKS = True
    round_ = make_round(collection, lead, [rater])
    _, code = invite_links.make(collection, actor=lead, round_=round_, meant_for="Nina")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url + request.headers.get("referer", "")))
    page.goto(f"{live_server.url}/invite/#{code}")
    name = page.get_by_label("User name")
    expect(name).to_be_visible()
    assert page.url == f"{live_server.url}/invite/"
    assert violations(page) == []
    page.goto(f"{live_server.url}/invite/#nothing")
    expect(page.get_by_role("alert")).to_contain_text("This link is not valid")
    page.goto(f"{live_server.url}/invite/#{code}")
    expect(name).to_be_visible()
    name.fill("nina")
    page.get_by_label("Password", exact=True).fill("tents and stoves 7")
    page.get_by_label("Repeat the password").fill("tents and stoves 7")
    page.get_by_role("button", name="Create account and start").click()
    page.wait_for_url(f"**/rounds/{round_.uuid}/rate/")
    assert not [address for address in requests if code in address.partition("#")[0]]
    page.go_back()
    assert code not in page.url
    assert User.objects.filter(username="nina").exists()
