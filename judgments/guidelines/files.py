"""Guidelines as files for git: write a version to a file and read it back.

A file is the stored Markdown with three lines of front matter that name its version. On import they show whether
another version was added in the meantime; a file without front matter is also accepted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.core.errors import NotValid
from judgments.guidelines.guidelines import LONGEST, latest, normalize
from judgments.models import Collection, GuidelinesVersion

FENCE = "---"
KEYS = ("collection", "version", "sha256")
FRONT = re.compile(rf"\A{FENCE}[ \t]*\n(.*?)\n{FENCE}[ \t]*(?:\n|\Z)", re.DOTALL)
FIELD = re.compile(r"([a-z0-9_]+):(.*)")
# A character takes up to four bytes in UTF-8, and front matter is short.
MOST_BYTES = 4 * LONGEST + 4_096


@dataclass(frozen=True)
class GuidelineFile:
    """The content of a file."""

    markdown: str
    collection: str = ""
    version: int | None = None
    sha256: str = ""

    def remarks(self, collection: Collection) -> list[str]:
        """Return remarks to read before this text becomes the next version."""
        newest, remarks = latest(collection), []
        if self.collection and self.collection != collection.slug:
            remarks.append(f"The file was exported from another collection, {self.collection}.")
        elif self.version is not None and newest is not None:
            base = collection.guidelines.filter(number=self.version).first()
            if base is None or (self.sha256 and base.sha256 != self.sha256):
                remarks.append(
                    f"Version {self.version} of this collection does not have the text from which the file was "
                    "exported."
                )
            elif self.version < newest.number:
                what = f"Version {newest.number} is newer"
                remarks.append(
                    f"The file was exported from version {self.version}. {what}, and its changes would be lost."
                )
        hash_ = GuidelinesVersion.hash_of(self.markdown)
        same = collection.guidelines.filter(sha256=hash_).order_by("-number").first()
        if same is not None and newest is not None and same.number != newest.number:
            remarks.append(f"The text is identical to version {same.number}.")
        return remarks


def as_text(version: GuidelinesVersion) -> str:
    """Return the whole file of a version."""
    header = (version.collection.slug, version.number, version.sha256)
    front = "".join(f"{key}: {value}\n" for key, value in zip(KEYS, header, strict=True))
    return f"{FENCE}\n{front}{FENCE}\n\n{version.markdown}"


def read(content: bytes, name: str = "The file") -> GuidelineFile:
    """Read a guidelines file."""
    if len(content) > MOST_BYTES:
        problem = (
            f"{name} is larger than {MOST_BYTES:,} bytes. Guidelines can have at most {LONGEST:,} characters. Shorten "
            "the file."
        )
        raise NotValid(problem, "file")
    try:
        parsed = parse(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        problem = f"{name} is not valid UTF-8 at byte {error.start + 1}. Save the file as UTF-8."
        raise NotValid(problem, "file") from error
    if len(parsed.markdown) > LONGEST:
        raise NotValid(f"{name} has {len(parsed.markdown):,} characters. The limit is {LONGEST:,}. Shorten it.", "file")
    return parsed


def parse(text: str) -> GuidelineFile:
    """Parse a text. Front matter from another source stays part of the Markdown."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # front matter has one field per line
    front = FRONT.match(text)
    matches = (FIELD.fullmatch(line) for line in front[1].split("\n")) if front else ()
    fields = {match[1]: match[2].strip(" \t") for match in matches if match}
    if not front or not set(fields) & set(KEYS):
        return GuidelineFile(normalize(text))
    number = fields.get("version", "")
    if number and not (number.isascii() and number.isdigit() and len(number) < 7):
        problem = (
            f"The version {number[:40]} in the front matter is not a number. Correct it or remove the front matter."
        )
        raise NotValid(problem, "file")
    version = int(number) if number else None
    return GuidelineFile(
        normalize(text[front.end() :]), fields.get("collection", ""), version, fields.get("sha256", "")
    )
