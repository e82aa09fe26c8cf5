"""Guidelines as files for git: write a version to a file and read it back.

A file is the Markdown as stored, with three lines of front matter that say which version it copies. On import they
show whether another version was written in the meantime; a file without them is accepted too.
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
# A character takes up to four bytes in UTF-8; front matter is short.
MOST_BYTES = 4 * LONGEST + 4_096


@dataclass(frozen=True)
class GuidelineFile:
    """The content of a file.

    Attributes
    ----------
    markdown : str
        The text, without front matter.
    collection : str
        The slug of the collection it was exported from; "" if unknown.
    version : int or None
        The version it was exported from.
    sha256 : str
        The hash of that version's text, which differs from the file's as soon as the file is edited.
    """

    markdown: str
    collection: str = ""
    version: int | None = None
    sha256: str = ""

    def remarks(self, collection: Collection) -> list[str]:
        """Return remarks to read before this becomes the next version."""
        newest, remarks = latest(collection), []
        if self.collection and self.collection != collection.slug:
            remarks.append(f"The file was exported from another collection, {self.collection}.")
        elif self.version is not None and newest is not None:
            base = collection.guidelines.filter(number=self.version).first()
            if base is None or (self.sha256 and base.sha256 != self.sha256):
                remarks.append(
                    f"This collection has no version {self.version} with the text that the file was exported from."
                )
            elif self.version < newest.number:
                what = f"Version {newest.number} is newer"
                remarks.append(f"The file was exported from version {self.version}. {what}. Its changes would be lost.")
        hash_ = GuidelinesVersion.hash_of(self.markdown)
        same = collection.guidelines.filter(sha256=hash_).order_by("-number").first()
        if same is not None and newest is not None and same.number != newest.number:
            remarks.append(f"The text is identical to version {same.number}.")
        return remarks


def file_name(version: GuidelinesVersion) -> str:
    """Return the file name of a version."""
    return f"guidelines-v{version.number}.md"


def as_text(version: GuidelinesVersion) -> str:
    """Return the whole file of a version."""
    header = (version.collection.slug, version.number, version.sha256)
    front = "".join(f"{key}: {value}\n" for key, value in zip(KEYS, header, strict=True))
    return f"{FENCE}\n{front}{FENCE}\n\n{version.markdown}"


def read(content: bytes, name: str = "The file") -> GuidelineFile:
    """Read a guidelines file.

    Raises
    ------
    NotValid
        The file is too large or not UTF-8, or its front matter cannot be read.
    """
    if len(content) > MOST_BYTES:
        problem = (
            f"{name} has more than {MOST_BYTES:,} bytes. Guidelines can have {LONGEST:,} characters. Shorten the file."
        )
        raise NotValid(problem, {"file": problem})
    try:
        parsed = parse(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        problem = f"{name} is not UTF-8 at byte {error.start + 1}. Save the file as UTF-8."
        raise NotValid(problem, {"file": problem}) from error
    if len(parsed.markdown) > LONGEST:
        problem = f"{name} has {len(parsed.markdown):,} characters. The limit is {LONGEST:,}. Shorten it."
        raise NotValid(problem, {"file": problem})
    return parsed


def parse(text: str) -> GuidelineFile:
    """Parse a text. Front matter of another origin is part of the Markdown.

    Raises
    ------
    NotValid
        The version in the front matter is not a number.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # front matter is searched by line
    front = FRONT.match(text)
    matches = (FIELD.fullmatch(line) for line in front[1].split("\n")) if front else ()
    fields = {match[1]: match[2].strip(" \t") for match in matches if match}
    if not front or not set(fields) & set(KEYS):
        return GuidelineFile(normalize(text))
    number = fields.get("version", "")
    if number and not (number.isascii() and number.isdigit() and len(number) < 7):
        problem = f"The front matter says version {number[:40]}, not a number. Correct it or remove the front matter."
        raise NotValid(problem, {"file": problem})
    version = int(number) if number else None
    return GuidelineFile(
        normalize(text[front.end() :]), fields.get("collection", ""), version, fields.get("sha256", "")
    )
