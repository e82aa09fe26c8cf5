"""Tests of the tutorials: each is followed to its end, in a browser and a shell, on a demo of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.docs.demo import demo_server, environment
from tests.docs.tutorial import Walk

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
NEEDED = [name for name in ("bash", "curl") if shutil.which(name) is None]


@pytest.mark.slow
@pytest.mark.skipif(bool(NEEDED), reason=f"the tutorials need {' and '.join(NEEDED)}")
def test_tutorials_lead_to_their_ends(own_var: Path, browser: Browser) -> None:
    tutorials = sorted(TUTORIALS.glob("*.md"))
    assert [tutorial.stem for tutorial in tutorials] == ["engineer", "lead", "rater"]
    with demo_server(own_var / "server.log", {"ASSAY_VAR": str(own_var)}) as server:
        for tutorial in tutorials:
            folder = own_var / tutorial.stem
            folder.mkdir()
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            Walk(page, server, folder, environment()).follow(tutorial.read_text(encoding="utf-8"))
            page.close()
