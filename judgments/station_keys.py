"""Keyboard shortcuts of the rater station, for each rater.

Digits always grade: the top row and the numeric pad, by the value on the button. Every other action has one default
key, which a rater may change to any letter or sign that no other action uses. A grade may get one more key beside its
digit.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

from judgments.core.errors import NotValid
from judgments.models import User

# Every act of the station: its usual key, a second one that stays as long as nothing else takes it, and in words.
ACTS: dict[str, tuple[str, str, str]] = {
    "unable": ("u", "-", "cannot judge, then the number of the reason"),
    "later": ("l", "", "later: it comes back when nothing else is left"),
    "undo": ("z", "backspace", "take the last answer back"),
    "note": ("n", "", "write a note"),
    "guide": ("g", "", "guidelines"),
    "marks": ("h", "", "show or hide the marks"),
    "whole": ("f", "", "the whole text, then the picture larger, then as before"),
    "down": ("j", "arrowdown", "in a list: the next row"),
    "up": ("k", "arrowup", "in a list: the row before"),
    "last": ("r", "", "your last answers, to read or to change"),
    "keys": ("?", "", "this list"),
}
GRADES = tuple(f"grade-{value}" for value in range(10))


@dataclass(frozen=True)
class Key:
    """One act with its key, for the page of keys and the list on the station; ``now`` is "" where it has none."""

    act: str
    words: str
    usual: str
    also: str
    own: str
    now: str


def keys_of(user: User) -> list[Key]:
    """Every act that is no grade, with the key that it has for this rater."""
    own, taken = user.station_keys, set(user.station_keys.values())

    def free(key: str) -> str:
        # A wish from before there was this act stands over the act's usual key.
        return "" if key in taken else key

    return [
        Key(act, words, usual, free(also), own.get(act, ""), own.get(act) or free(usual))
        for act, (usual, also, words) in ACTS.items()
    ]


def labels(user: User) -> dict[str, str]:
    """The key that stands beside each act."""
    return {key.act: key.now for key in keys_of(user)}


def table(user: User) -> dict[str, str]:
    """What the station's script reads: the act of each key, the rater's own choice before the usual one.

    Examples
    --------
    >>> table(User(station_keys={"later": "s", "grade-2": "d"}))["s"], table(User(station_keys={"later": "s"})).get("l")
    ('later', None)
    """
    found: dict[str, str] = {}
    for key in keys_of(user):
        if key.also:
            found[key.also] = key.act
    found |= {key.now: key.act for key in keys_of(user) if key.now}
    return found | {own: act for act, own in user.station_keys.items() if act in GRADES}


def set_keys(user: User, wanted: dict[str, str]) -> None:
    """Keep the rater's own keys. An empty text means the usual key; a usual key is not stored.

    Raises
    ------
    NotValid
        A key is no single letter or sign, or two acts would have the same one; told for each act.
    """
    chosen = {act: _key(wanted.get(act, "")) for act in (*ACTS, *GRADES)}
    now = {act: key or (ACTS[act][0] if act in ACTS else "") for act, key in chosen.items()}
    faults: dict[str, str] = {}
    for act, key in chosen.items():
        others = [other for other, its in now.items() if its == key and other != act] if key else []
        if key and not _fits(key):
            faults[act] = "One letter or sign; digits are grades already, and space scrolls."
        elif others:
            faults[act] = f"“{key}” is also the key for {_named(others[0])}. Give one of them another."
    if faults:
        raise NotValid("Some keys cannot be kept. Nothing was changed.", faults)
    own = {act: key for act, key in chosen.items() if key and (act in GRADES or key != ACTS[act][0])}
    User.objects.filter(pk=user.pk).update(station_keys=own)
    user.station_keys = own


def _key(text: Any) -> str:
    """As the browser names it, in lower case; a letter with its accent is one sign."""
    return unicodedata.normalize("NFC", str(text).strip()).lower()


def _fits(key: str) -> bool:
    return len(key) == 1 and key.isprintable() and not key.isspace() and not key.isdigit()


def _named(act: str) -> str:
    return f"grade {act.removeprefix('grade-')}" if act in GRADES else ACTS[act][2].partition(":")[0].partition(",")[0]
