"""Accessibility check of the open page with axe."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SCRIPT = Axe().axe_script
# What fades has the contrast of a moment while it does. Of what is found only faults are sent here.
RUN = """async () => { const sheet = new CSSStyleSheet();
    sheet.replaceSync("*, ::before, ::after { transition: none !important; animation: none !important; }");
    document.adoptedStyleSheets.push(sheet);
    const found = await axe.run({resultTypes: ["violations"]});
    document.adoptedStyleSheets.pop();
    return found.violations; }"""


def violations(page: Page) -> list[str]:
    """Each broken rule on one line with the places that break it; the page is left as it is."""
    # The page's policy allows no script of strangers: axe is put in by the browser's own hand, past the policy.
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT)
    return [f"{rule['id']}: {rule['help']} at {_places(rule)}" for rule in page.evaluate(RUN)]


def _places(rule: dict) -> str:
    return "; ".join(" ".join(map(str, node["target"])) for node in rule["nodes"])
