"""Tests of the RAG pages: an engineer imports two systems and reads the scorecard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from evaluation.models import RagSampleSet
from judgments.models import Round
from judgments.rounds import rounds
from tests.browser.axe import violations
from tests.browser.station import mine, press
from tests.evaluation.rag.conftest import NEW, OLD, SAMPLES, lines, work

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def import_file(page: Page, link: str, path: Path) -> None:
    page.get_by_role("link", name=link).first.click()
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_role("button", name="Preview import").click()
    page.get_by_role("button", name="Store 14 rows").click()


@pytest.fixture
def imported(page: Page, live_server: Any, collection: Any, engineer: Any, log_in: Any, tmp_path: Path) -> RagSampleSet:
    """Samples and the outputs of two systems, imported on pages by an engineer, and scored."""
    for name, rows in (("kits", SAMPLES), ("old", OLD), ("new", NEW)):
        (tmp_path / f"{name}.jsonl").write_bytes(lines(rows))
    log_in(engineer)
    page.goto(f"{live_server.url}/c/shop/")
    page.get_by_text("More pages").click()
    page.get_by_role("link", name="RAG", exact=True).click()
    import_file(page, "Import samples", tmp_path / "kits.jsonl")
    import_file(page, "Import outputs", tmp_path / "old.jsonl")
    import_file(page, "Import outputs", tmp_path / "new.jsonl")
    made = RagSampleSet.objects.get()
    work(made)
    return made


def test_an_engineer_imports_two_systems_and_reads_the_scorecard(
    page: Page, imported: RagSampleSet, faults: list[str]
) -> None:
    page.reload()
    scorecard = page.get_by_role("region", name="Scorecard")
    f1 = scorecard.get_by_role("row").filter(has=page.get_by_role("rowheader", name="TokenF1 Token F1", exact=True))
    expect(f1).to_contain_text("better")
    expect(f1).to_contain_text("n = 14")
    for width, scheme in ((1280, "light"), (390, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        assert [*violations(page), *faults] == []
        assert page.evaluate(OVERFLOW) <= 0
    page.get_by_role("link", name="Compare answers").click()
    expect(page.get_by_role("region", name="Answers")).to_be_visible()
    assert [*violations(page), *faults] == []
    assert page.evaluate(OVERFLOW) <= 0
    page.get_by_role("link", name="s04").click()
    expect(page.locator("mark").filter(has_text="4 rubber seals")).not_to_have_count(0)
    assert [*violations(page), *faults] == []
    assert page.evaluate(OVERFLOW) <= 0


def test_ten_graded_answers_reach_the_scorecard(
    page: Page, live_server: Any, imported: RagSampleSet, lead: Any, rater: Any, engineer: Any, log_in: Any
) -> None:
    address = f"{live_server.url}/c/shop/rag/{imported.uuid}/"
    log_in(lead)
    page.goto(address)
    page.get_by_role("link", name="Have people grade answers").click()
    form = page.get_by_role("form", name="Rounds of answers")
    form.get_by_label("new", exact=True).check()
    for dimension in ("faithful", "complete"):
        form.locator(f"[name=dimensions][value={dimension}]").uncheck()
    form.locator("[name=samples]").fill("10")
    form.locator("[name=ratings_per_pair]").fill("1")
    form.locator(f"[name=raters][value={rater.username}]").check()
    form.get_by_role("button", name="Create draft rounds").click()
    round_ = rounds.open_round(Round.objects.get(dimension="correct"), actor=lead)
    log_in(rater)
    page.goto(f"{live_server.url}/rounds/{round_.uuid}/rate/")
    for number in range(10):
        press(page, str(number % 3))
    expect(
        page.get_by_role("heading", name="is complete")
    ).to_be_visible()  # the station leaves for this page by itself
    assert sorted(mine(rater).values_list("grade", flat=True)) == [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    rounds.close_round(round_, actor=lead)
    log_in(engineer)
    page.goto(address)
    people = page.get_by_role("region", name="Human grades", exact=True)
    expect(people).to_contain_text("0.900")  # (3 x 1 + 3 x 2) / 10
    expect(people).to_contain_text("n = 10")
    assert violations(page) == []
