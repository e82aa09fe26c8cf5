"""Tutorials, followed as their reader would: files written, buttons pressed, fields filled, commands run, in order.

In the text, ``**Name**`` is a button, a link or a box to press, ``**Name**: `value` `` a field to fill, ``*text*`` what
the page then shows, ``<kbd>x</kbd>`` a key, and ``<http://...>`` an address to open. A fenced block with a title is a
file, one without a language is a shell script.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

STEP = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)(?: title=\"(?P<file>[^\"]+)\")?\n(?P<block>.*?)^ *```$"
    r"|<(?P<address>http[^>]+)>"
    r"|<kbd>(?P<key>[^<]+)</kbd>"
    r"|\*\*(?P<field>[^*]+)\*\*: `(?P<value>[^`]*)`"
    r"|\*\*(?P<press>[^*]+)\*\*"
    r"|(?<![*\w])\*(?P<text>[^*\s][^*]*)\*(?![*\w])",
    re.M | re.S,
)


@dataclass
class Walk:
    """A browser at a server, and the folder in which the reader's files and commands are."""

    page: Page
    server: str
    folder: Path
    environment: Mapping[str, str]

    def follow(self, tutorial: str) -> None:
        """Do what the tutorial says, step by step; where a step fails, name it."""
        for step in STEP.finditer(tutorial):
            try:
                self.do(step)
            except Exception as error:
                raise AssertionError(f"{' '.join(step[0].split())}, at {self.page.url}: {error}") from error

    def do(self, step: re.Match[str]) -> None:
        kind = next(name for name in ("file", "block", "address", "key", "field", "press", "text") if step[name])
        match kind:
            case "file":
                (self.folder / step["file"]).write_text(outdented(step), encoding="utf-8")
            case "block":
                if not step["language"]:
                    self.run(outdented(step))
            case "address":
                self.page.goto(re.sub(r"http://127\.0\.0\.1:\d+", self.server, step["address"]))
            case "key":
                # The station ignores keys for a quarter of a second after a document appears.
                self.page.wait_for_load_state("networkidle")
                self.page.wait_for_timeout(400)
                self.page.keyboard.press(step["key"])
            case "field":
                self.fill(self.page.get_by_label(step["field"], exact=True).filter(visible=True).first, step["value"])
            case "press":
                self.press(step["press"])
            case "text":
                self.see(" ".join(step["text"].split()))

    def see(self, text: str) -> None:
        """Wait for the text; reload the page in between, as a reader does who waits for a job."""
        place = self.page.get_by_text(text).filter(visible=True).first
        for _ in range(10):
            with suppress(AssertionError):
                return expect(place).to_be_visible(timeout=10_000)
            self.page.reload()
        expect(place).to_be_visible()

    def run(self, script: str) -> None:
        """Run the lines in bash, with the variables of earlier blocks; fail with what they print where one fails."""
        script = re.sub(r"http://127\.0\.0\.1:\d+", self.server, script)
        variables = self.folder / "variables.sh"
        variables.touch()
        command = ["bash", "-euo", "pipefail", "-ac", f". {variables} 2>&- || true\n{script}\nexport -p > {variables}"]
        ended = subprocess.run(
            command,
            cwd=self.folder,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert ended.returncode == 0, f"{script}\n{ended.stdout}\n{ended.stderr}"

    def fill(self, field: Locator, value: str) -> None:
        """Choose the file, the option or the date, or write the text."""
        match field.evaluate("field => field.type"):
            case "file":
                field.set_input_files(self.folder / value)
            case "select-one" | "select-multiple":
                field.select_option(label=value)
            case _:
                field.fill(value)

    def press(self, name: str) -> None:
        """Press the button or link with the name, or tick the box; text for screen readers may follow the name."""
        begins = re.compile(rf"^{re.escape(name)}(?!\w)")
        places = self.page.locator("summary, label").get_by_text(begins)
        for role in ("button", "link", "checkbox", "radio"):
            places = places.or_(self.page.get_by_role(role, name=begins))
        places = places.filter(visible=True)
        places.first.wait_for()
        exact = places.get_by_text(name, exact=True)
        (places.and_(exact) if places.and_(exact).count() else places).first.click()


def outdented(step: re.Match[str]) -> str:
    return re.sub(rf"^{step['indent']}", "", step["block"], flags=re.M)
