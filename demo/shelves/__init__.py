"""All shelves of the shop."""

from __future__ import annotations

from demo.shelf import Shelf
from demo.shelves import camp, carry, climb, cook, feet, tools, wear

SHELVES: dict[str, Shelf] = {
    shelf.key: shelf for department in (camp, carry, wear, feet, cook, tools, climb) for shelf in department.SHELVES
}
