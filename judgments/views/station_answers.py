"""What did the form of the station say, and what is said about it?

The station's script sends its answers to the API; this is the form that works without it.
"""

from __future__ import annotations

import math

from django.http import QueryDict

from judgments.core.errors import NotValid
from judgments.models import Judgment, Round
from judgments.submission import Answer
from judgments.views.sent import uuid_of

# What keeps a pair from being judged; the number is its key.
REASONS = ("query unclear", "document broken", "language", "other")
LONGEST_TIME = 24 * 3600.0
# A row of the list that names no grade but says that it cannot be judged.
UNABLE = "unable"


def read_answer(post: QueryDict) -> Answer:
    """The answer that the form sent.

    Raises
    ------
    NotValid
        The page's hidden fields are not what the page was made with, or no grade was chosen.
    """
    pair, client_id = uuid_of(post.get("pair", "")), uuid_of(post.get("client_id", ""))
    # PostgreSQL keeps no NUL; for one in a note no answer is lost.
    reason, note = (post.get(name, "").replace("\0", "") for name in ("reason", "note"))
    if pair is None or client_id is None:
        raise NotValid("This page is out of date. The document stands here again: grade it once more.")
    state = post.get("state", "")
    grade = post.get("grade", "")
    if not state and not _is_grade(grade):
        raise NotValid("Choose a grade, or say that you cannot judge.", {"grade": "Choose one."})
    return Answer(
        client_id=client_id,
        pair=pair,
        grade=None if state else int(grade),
        state=state or Judgment.State.GRADED,
        reason=reason[:500] if state == Judgment.State.UNRATEABLE else "",
        note=note.strip(),
        seconds_active=_seconds(post.get("seconds_active", "")),
        seconds_away=_seconds(post.get("seconds_away", "")),
        how={"view": "one"},
    )


def read_list(post: QueryDict) -> list[Answer]:
    """The answers of the rows that were answered, or answered otherwise than before; open rows stay open."""
    found = []
    for name, value in post.items():
        pair = uuid_of(name.removeprefix("pair-")) if name.startswith("pair-") else None
        client_id = uuid_of(post.get(f"client-{pair}", "")) if pair else None
        if pair is None or client_id is None or not value or value == post.get(f"was-{pair}", ""):
            continue
        if value != UNABLE and not _is_grade(value):
            raise NotValid("Choose one of the grades of the scale in every row.")
        state = Judgment.State.UNRATEABLE if value == UNABLE else Judgment.State.GRADED
        grade = None if value == UNABLE else int(value)
        found.append(Answer(client_id=client_id, pair=pair, grade=grade, state=state, how={"view": "list"}))
    return found


def said(round_: Round, judgment: Judgment) -> str:
    """What was recorded, in words."""
    if judgment.state == Judgment.State.LATER:
        return "Kept for later."
    if judgment.state == Judgment.State.UNRATEABLE:
        return f"Saved: cannot judge{f', {judgment.reason}' if judgment.reason else ''}."
    label = next(grade.label for grade in round_.scale.grades.all() if grade.value == judgment.grade)
    return f"Saved {judgment.grade}, {label}.{' The pair was full already.' if judgment.surplus else ''}"


def _is_grade(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 4


def _seconds(text: str) -> float | None:
    """A measured time; what is no sensible time is unknown, since times plan the work and decide nothing."""
    try:
        value = float(text)
    except ValueError:
        return None
    return min(value, LONGEST_TIME) if math.isfinite(value) and value >= 0 else None
