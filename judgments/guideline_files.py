"""Guidelines as files for git: write a version to a file and read it back.

A file is the Markdown as stored, with three lines of front matter that say which version it copies. On import they
show whether another version was written in the meantime; a file without them is accepted too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from judgments.core.errors import NotValid
from judgments.guidelines import LONGEST, kept, latest
from judgments.models import Collection, GuidelinesVersion

FENCE = "---"
KEYS = ("collection", "version", "sha256")
FRONT = re.compile(rf"\A{FENCE}[ \t]*\n(.*?)\n{FENCE}[ \t]*(?:\n|\Z)", re.DOTALL)
FIELD = re.compile(r"([a-z0-9_]+):(.*)")
# Letters of UTF-8 take up to four bytes; front matter is short.
MOST_BYTES = 4 * LONGEST + 4_096


@dataclass(frozen=True)
class GuidelineFile:
    """What a file says.

    Attributes
    ----------
    markdown : str
        The text, without front matter.
    collection : str
        The slug that it was taken from; "" where the file does not say.
    version : int or None
        The version that it was taken from.
    sha256 : str
        Of that version's text, not of the file's: it differs as soon as somebody edits the file.
    """

    markdown: str
    collection: str = ""
    version: int | None = None
    sha256: str = ""

    def remarks(self, collection: Collection) -> list[str]:
        """What somebody should know before this becomes the next version."""
        newest, found = latest(collection), []
        if self.collection and self.collection != collection.slug:
            found.append(f"The file was taken from another collection, {self.collection}.")
        elif self.version is not None and newest is not None:
            base = collection.guidelines.filter(number=self.version).first()
            if base is None or (self.sha256 and base.sha256 != self.sha256):
                found.append(f"There is no version {self.version} here with the text that the file was taken from.")
            elif self.version < newest.number:
                what = f"Version {newest.number} was written after it"
                found.append(
                    f"The file was taken from version {self.version}. {what}: what that changed would be lost."
                )
        hash_ = GuidelinesVersion.hash_of(self.markdown)
        same = collection.guidelines.filter(sha256=hash_).order_by("-number").first()
        if same is not None and newest is not None and same.number != newest.number:
            found.append(f"The text is word for word that of version {same.number}.")
        return found


def file_name(version: GuidelinesVersion) -> str:
    """Under which name a version is kept."""
    return f"guidelines-v{version.number}.md"


def as_text(version: GuidelinesVersion) -> str:
    """The whole file of a version."""
    said = (version.collection.slug, version.number, version.sha256)
    front = "".join(f"{key}: {value}\n" for key, value in zip(KEYS, said, strict=True))
    return f"{FENCE}\n{front}{FENCE}\n\n{version.markdown}"


def read(content: bytes, name: str = "The file") -> GuidelineFile:
    """What a file says.

    Raises
    ------
    NotValid
        It is too large, no UTF-8, or its front matter cannot be read.
    """
    if len(content) > MOST_BYTES:
        said = f"{name} has more than {MOST_BYTES:,} bytes; guidelines have {LONGEST:,} characters at most."
        raise NotValid(said, {"file": said})
    try:
        found = parse(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        said = f"{name} is not UTF-8 at byte {error.start + 1}. Save it as UTF-8."
        raise NotValid(said, {"file": said}) from error
    if len(found.markdown) > LONGEST:
        said = f"{name} has {len(found.markdown):,} characters; guidelines have {LONGEST:,} at most."
        raise NotValid(said, {"file": said})
    return found


def parse(text: str) -> GuidelineFile:
    """The same for a text. What stands between two lines of dashes but is not ours belongs to the Markdown.

    Raises
    ------
    NotValid
        The front matter names a version that is no number.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # front matter is looked for in lines
    front = FRONT.match(text)
    found = (FIELD.fullmatch(line) for line in front[1].split("\n")) if front else ()
    fields = {match[1]: match[2].strip(" \t") for match in found if match}
    if not front or not set(fields) & set(KEYS):
        return GuidelineFile(kept(text))
    number = fields.get("version", "")
    if number and not (number.isascii() and number.isdigit() and len(number) < 7):
        said = (
            f"The front matter says version {number[:40]}, which is no number. Mend it, or take the front matter out."
        )
        raise NotValid(said, {"file": said})
    version = int(number) if number else None
    return GuidelineFile(kept(text[front.end() :]), fields.get("collection", ""), version, fields.get("sha256", ""))
