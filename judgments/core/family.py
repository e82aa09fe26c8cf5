"""Registry of the members of a family, built-in or added by entry point.

A family is a table from names to members: metrics, formats, judges, pool strategies, connectors. Built-in members
are stored in the table as ``"module:attribute"`` and imported on first use, so that a command that needs one metric
does not load all of them. Other packages add members by entry point.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Generic, TypeVar, cast

from judgments.core.errors import UnknownName

Member = TypeVar("Member")


class Family(Mapping[str, Member], Generic[Member]):
    """A table of like members that imports each one when it is first used.

    Parameters
    ----------
    kind : str
        What one member is called in messages, for example ``"metric"``.
    table : dict of str to str
        Name to ``"module:attribute"``, the built-in members in the order in which they are listed to users.
    group : str, optional
        Entry point group for members of other packages, for example ``"assay.metrics"``.

    Raises
    ------
    ValueError
        When an entry point claims a name that is taken: a name has one owner.

    Examples
    --------
    >>> shapes = Family("shape", {"path": "pathlib:PurePosixPath"})
    >>> shapes["path"].__name__
    'PurePosixPath'
    >>> shapes["pth"]
    Traceback (most recent call last):
        ...
    judgments.core.errors.UnknownName: there is no shape 'pth'; did you mean path? Known: path
    """

    def __init__(self, kind: str, table: Mapping[str, str], group: str | None = None) -> None:
        self.kind = kind
        self.group = group
        self._where = dict(table)
        self._members: dict[str, Member] = {}
        self._asked_outsiders = group is None

    def register(self, name: str, member: Member) -> None:
        """Add one member; a name that is taken is refused."""
        if name in self._where or name in self._members:
            raise ValueError(f"the {self.kind} {name!r} has an owner already: {self._where.get(name, 'registered')}")
        self._members[name] = member

    def __getitem__(self, name: str) -> Member:
        if name not in self._members and name in self._where:
            module, _, attribute = self._where[name].partition(":")
            self._members[name] = cast(Member, getattr(import_module(module), attribute))
        if name not in self._members:
            self._ask_outsiders()
        if name not in self._members:
            raise self._unknown(name)
        return self._members[name]

    def __contains__(self, name: object) -> bool:
        return name in self.names()

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def names(self) -> list[str]:
        """Every known name, the built-in ones first."""
        self._ask_outsiders()
        return [*self._where, *(name for name in self._members if name not in self._where)]

    def _ask_outsiders(self) -> None:
        if self._asked_outsiders or self.group is None:
            return
        self._asked_outsiders = True
        if not _may_declare(self.group):
            return
        # The metadata of all installed packages take longer to import than most commands to run.
        from importlib.metadata import entry_points

        for point in entry_points(group=self.group):
            self.register(point.name, cast(Member, point.load()))

    def _unknown(self, name: str) -> UnknownName:
        import difflib

        known = self.names()
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"; did you mean {', '.join(near)}?" if near else "."
        return UnknownName(f"there is no {self.kind} {name!r}{hint} Known: {', '.join(known)}")


def _may_declare(group: str) -> bool:
    """Whether an installed package may have entry points of the group, as far as a look at their files tells."""
    for folder in map(Path, dict.fromkeys(sys.path)):
        if folder.is_file():
            return True  # packages in an archive
        for file in chain(folder.glob("*.dist-info/entry_points.txt"), folder.glob("*.egg-info/entry_points.txt")):
            if f"[{group}]" in file.read_text(encoding="utf-8", errors="replace"):
                return True
    return False
