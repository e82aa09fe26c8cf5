"""What does a screen reader's user stumble over on the page that is open?"""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# What fades has the contrast of a moment while it does.
STILL = """() => { const sheet = new CSSStyleSheet();
    sheet.replaceSync("*, ::before, ::after { transition: none !important; animation: none !important; }");
    document.adoptedStyleSheets.push(sheet); }"""


def violations(page: Page) -> list[str]:
    """Each broken rule on one line with the places that break it; the page is left as it is."""
    page.evaluate(STILL)
    # The page's policy allows no script of strangers: axe is put in by the browser's own hand, past the policy.
    found = Axe().run(page).response["violations"]
    page.evaluate("document.adoptedStyleSheets.pop()")
    return [f"{rule['id']}: {rule['help']} at {_places(rule)}" for rule in found]


def _places(rule: dict) -> str:
    return "; ".join(" ".join(map(str, node["target"])) for node in rule["nodes"])
