"""Where does each act of the way of the data lead?"""

from __future__ import annotations

from typing import Any

from django.urls import NoReverseMatch, reverse

# Pages of other rooms that this one sends people to, under the addresses that are promised to everybody.
PROMISED = {
    "round_progress": "/rounds/{}/progress/",
    "round_agreement": "/rounds/{}/agreement/",
    "round_conflicts": "/rounds/{}/conflicts/",
    "rate": "/rounds/{}/rate/",
}


def address(name: str, *args: Any) -> str:
    """The address of a page by its name."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return PROMISED.get(name, "/c/{}/" + name.replace("_", "/") + "/").format(*args)
