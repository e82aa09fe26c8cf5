"""Parsing of the station's form, and the confirmation message.

The station's script sends its answers to the API; this form works without it.
"""

from __future__ import annotations

import math
from uuid import UUID

from django.http import QueryDict

from assay.core.errors import NotValid
from judgments.models import Judgment, ProbeAnswer, Round
from judgments.rating.submission import Answer
from judgments.web.posted_values import uuid_of

LONGEST_TIME = 24 * 3600.0
# The value of a list row that is marked "cannot judge".
UNABLE = "unable"


def reasons(round_: Round) -> tuple[str, ...]:
    """Return the reasons why a pair cannot be judged; the number is the key."""
    return f"{round_.query_kind} unclear", f"{round_.kind} broken", "language", "other"


def read_answer(post: QueryDict) -> Answer:
    """Return the submitted answer."""
    pair, client_id = uuid_of(post.get("pair", "")), uuid_of(post.get("client_id", ""))
    # Remove NUL, which PostgreSQL rejects, so that no answer is lost because of its note.
    reason, note = (post.get(name, "").replace("\0", "") for name in ("reason", "note"))
    if pair is None or client_id is None:
        raise NotValid("This page is out of date. Grade the pair below again.")
    state = post.get("state", "")
    grade = post.get("grade", "")
    if not state and not _is_grade(grade):
        raise NotValid("Choose a grade, or Cannot judge.", {"grade": "Choose one."})
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


def read_list(post: QueryDict) -> tuple[list[Answer], set[UUID]]:
    """Return the answers of the rows that are new or changed; open rows stay open."""
    answers, without_reason = list[Answer](), set[UUID]()
    for name, value in post.items():
        pair = uuid_of(name.removeprefix("pair-")) if name.startswith("pair-") else None
        client_id = uuid_of(post.get(f"client-{pair}", "")) if pair else None
        if pair is None or client_id is None or not value:
            continue
        reason = post.get(f"reason-{pair}", "").replace("\0", "") if value == UNABLE else ""
        if post.get(f"was-{pair}", "") == (f"{UNABLE}: {reason}" if reason else value):
            continue
        if value != UNABLE and not _is_grade(value):
            raise NotValid("Choose a grade of the scale in every row.")
        if value == UNABLE and not reason:
            without_reason.add(pair)
            continue
        state = Judgment.State.UNRATEABLE if value == UNABLE else Judgment.State.GRADED
        grade = None if value == UNABLE else int(value)
        answers.append(
            Answer(client_id=client_id, pair=pair, grade=grade, state=state, reason=reason[:500], how={"view": "list"})
        )
    return answers, without_reason


def result_message(round_: Round, judgment: Judgment | ProbeAnswer) -> str:
    """Return the confirmation message."""
    if judgment.state == Judgment.State.LATER:
        return "Saved for later."
    full = " The pair already had all its ratings." if judgment.surplus else ""
    between = ": " if judgment.state == Judgment.State.UNRATEABLE else " "
    return f"Saved{between}{in_words(round_, judgment)}.{full}"


def in_words(round_: Round, judgment: Judgment | ProbeAnswer) -> str:
    """Return the answer as text: grade and label, or the reason why there is none."""
    if judgment.state == Judgment.State.LATER:
        return "later"
    if judgment.state == Judgment.State.UNRATEABLE:
        return f"cannot judge{f', {judgment.reason}' if judgment.reason else ''}"
    label = next(grade.label for grade in round_.scale.grades.all() if grade.value == judgment.grade)
    return f"{judgment.grade}, {label}"


def _is_grade(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 4


def _seconds(text: str) -> float | None:
    """Return a measured time, or None if it is implausible; times are used for planning only."""
    try:
        value = float(text)
    except ValueError:
        return None
    return min(value, LONGEST_TIME) if math.isfinite(value) and value >= 0 else None
