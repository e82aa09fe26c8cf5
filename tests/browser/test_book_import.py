"""Test of importing a Quepid book on the page and reading its agreement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from judgments.models import Round
from tests.assay.formats.quepid.test_book_json import large_book
from tests.browser.axe import violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_book_is_imported_and_its_agreement_read(
    page: Any, live_server: Any, enter: Any, faults: list[str], collection: Any, lead: Any, tmp_path: Path
) -> None:
    file = tmp_path / "book_export_7.json"
    file.write_bytes(large_book(pairs=200, answers=420, unrateable=5))
    enter(lead)
    page.goto(f"{live_server.url}/c/{collection.slug}/judgments/new/")
    page.set_input_files("input[type=file]", str(file))
    page.locator("main form button[type=submit]").first.click()
    expect(page.locator("main")).to_contain_text("425")
    assert "shop.example" not in page.content()
    assert violations(page) == []
    page.get_by_role("button", name="Store").click()
    page.wait_for_url("**/agreement/")
    round_ = Round.objects.get()
    assert (round_.pairs.count(), round_.raters.count()) == (200, 3)
    for rater in ("r01", "r02", "r03"):
        expect(page.get_by_text(rater, exact=True)).not_to_have_count(0)
    assert violations(page) == []
    assert faults == []
