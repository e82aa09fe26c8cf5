"""Keyboard shortcuts of the rater station, for each rater.

Digits always grade, in the top row and on the numeric keypad. Every other action has a default key, which a rater may
change to any letter or symbol that no other action uses. A grade may have a second key in addition to its digit.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

from assay.core.errors import NotValid
from judgments.models import User

# Each action of the station: default key, second key (unless another action uses it) and description.
ACTS: dict[str, tuple[str, str, str]] = {
    "unable": ("u", "-", "cannot judge, then the number of the reason"),
    "later": ("l", "", "save for later: show the pair again at the end"),
    "undo": ("z", "backspace", "undo the last answer"),
    "note": ("n", "", "write a note"),
    "guide": ("g", "", "show the guidelines"),
    "marks": ("h", "", "show or hide highlights"),
    "whole": ("f", "", "full text, then larger image, then back"),
    "down": ("j", "arrowdown", "next row (in a list)"),
    "up": ("k", "arrowup", "previous row (in a list)"),
    "last": ("r", "", "review or change your last answers"),
    "keys": ("?", "", "show this list"),
}
GRADES = tuple(f"grade-{value}" for value in range(10))


@dataclass(frozen=True)
class Key:
    """One action with its key, for the shortcuts page and the station; ``now`` is "" without a key."""

    act: str
    words: str
    usual: str
    also: str
    own: str
    now: str


def keys_of(user: User) -> list[Key]:
    """Return every action except grading, with the rater's key for it."""
    own, taken = user.station_keys, set(user.station_keys.values())

    def free(key: str) -> str:
        # A key that the rater chose earlier takes precedence over the default key of a new action.
        return "" if key in taken else key

    return [
        Key(act, words, usual, free(also), own.get(act, ""), own.get(act) or free(usual))
        for act, (usual, also, words) in ACTS.items()
    ]


def labels(user: User) -> dict[str, str]:
    """Return the key of each action."""
    return {key.act: key.now for key in keys_of(user)}


def table(user: User) -> dict[str, str]:
    """Return the action of each key for the station's script.

    The rater's own keys take precedence over the defaults.
    """
    acts: dict[str, str] = {}
    for key in keys_of(user):
        if key.also:
            acts[key.also] = key.act
    acts |= {key.now: key.act for key in keys_of(user) if key.now}
    return acts | {own: act for act, own in user.station_keys.items() if act in GRADES}


def set_keys(user: User, wanted: dict[str, str]) -> None:
    """Store the rater's own keys. An empty text means the default key, which is not stored."""
    chosen = {act: _key(wanted.get(act, "")) for act in (*ACTS, *GRADES)}
    now = {act: key or (ACTS[act][0] if act in ACTS else "") for act, key in chosen.items()}
    faults: dict[str, str] = {}
    for act, key in chosen.items():
        others = [other for other, its in now.items() if its == key and other != act] if key else []
        if key and not _fits(key):
            faults[act] = "Enter one letter or symbol. Digits are for grades, and the space bar scrolls."
        elif others:
            faults[act] = (
                f"“{key}” is already the key for “{_named(others[0])}”. Choose another key for one of these actions."
            )
    if faults:
        raise NotValid("Some keys are not valid, so no key was changed.", faults)
    own = {act: key for act, key in chosen.items() if key and (act in GRADES or key != ACTS[act][0])}
    User.objects.filter(pk=user.pk).update(station_keys=own)
    user.station_keys = own


def _key(text: Any) -> str:
    """Return the key as the browser names it, in lower case; an accented letter is one character."""
    return unicodedata.normalize("NFC", str(text).strip()).lower()


def _fits(key: str) -> bool:
    return len(key) == 1 and key.isprintable() and not key.isspace() and not key.isdigit()


def _named(act: str) -> str:
    return f"grade {act.removeprefix('grade-')}" if act in GRADES else ACTS[act][2].partition(":")[0].partition(",")[0]
