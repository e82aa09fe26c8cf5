"""Registry of the members of a family, built-in or added by entry point.

A family is a table from names to members: metrics, formats, judges, pool strategies, connectors. Built-in members are
stored in the table as ``"module:attribute"`` and imported on first use, so that a command that needs one metric does
not load all metrics. Other packages add members by entry point.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Generic, TypeVar, cast

from assay.core.errors import UnknownName

Member = TypeVar("Member")


class Family(Mapping[str, Member], Generic[Member]):
    """A mapping from names to members that imports each member on first use.

    Parameters
    ----------
    kind : str
        The noun for a member in messages, for example ``"metric"``.
    table : dict of str to str
        Name to ``"module:attribute"`` of the built-in members, in the order shown to users.
    group : str, optional
        Entry point group for members of other packages, for example ``"assay.metrics"``.

    Raises
    ------
    ValueError
        When an entry point uses a name that is already taken.

    Examples
    --------
    >>> shapes = Family("shape", {"path": "pathlib:PurePosixPath"})
    >>> shapes["path"].__name__
    'PurePosixPath'
    >>> shapes["pth"]
    Traceback (most recent call last):
        ...
    assay.core.errors.UnknownName: unknown shape 'pth'; did you mean path? Known: path
    """

    def __init__(self, kind: str, table: Mapping[str, str], group: str | None = None) -> None:
        self.kind = kind
        self.group = group
        self._where = dict(table)
        self._members: dict[str, Member] = {}
        self._loaded_entry_points = group is None

    def register(self, name: str, member: Member | str) -> None:
        """Add a member, or its ``"module:attribute"`` to import it on first use."""
        if name in self._where or name in self._members:
            raise ValueError(f"the {self.kind} {name!r} is already registered: {self._where.get(name, 'registered')}")
        if isinstance(member, str):
            self._where[name] = member
        else:
            self._members[name] = member

    def __getitem__(self, name: str) -> Member:
        if name not in self._members and name not in self._where:
            self._load_entry_points()
        if name not in self._members and name in self._where:
            self._members[name] = self._import(self._where[name])
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
        """Return every known name, built-in members first."""
        self._load_entry_points()
        return [*self._where, *(name for name in self._members if name not in self._where)]

    def _load_entry_points(self) -> None:
        if self._loaded_entry_points or self.group is None:
            return
        self._loaded_entry_points = True
        for name, where in _declared(self.group):
            if name in self._where or name in self._members:
                raise ValueError(f"the {self.kind} {name!r} of {where} is already registered")
            self._where[name] = where

    def _import(self, where: str) -> Member:
        module, _, attribute = where.partition(":")
        member = import_module(module)
        return cast(Member, attrgetter(attribute)(member) if attribute else member)

    def _unknown(self, name: str) -> UnknownName:
        import difflib

        known = self.names()
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"; did you mean {', '.join(near)}?" if near else "."
        return UnknownName(f"unknown {self.kind} {name!r}{hint} Known: {', '.join(known)}")


def _declared(group: str) -> Iterator[tuple[str, str]]:
    """Yield name and ``module:attribute`` of each entry point of the group, from the metadata files of packages."""
    if any(map(os.path.isfile, sys.path)):
        from importlib.metadata import entry_points

        yield from ((point.name, point.value) for point in entry_points(group=group))
        return
    packages = set()
    for folder in map(Path, dict.fromkeys(sys.path)):
        for file in chain(folder.glob("*.dist-info/entry_points.txt"), folder.glob("*.egg-info/entry_points.txt")):
            package = file.parent.name.rpartition(".")[0].partition("-")[0].lower()
            if package in packages:
                continue
            packages.add(package)
            _, _, section = file.read_text(encoding="utf-8", errors="replace").partition(f"[{group}]\n")
            for line in section.partition("\n[")[0].splitlines():
                name, equals, where = line.partition("=")
                if equals and not name.lstrip().startswith("#"):
                    yield name.strip(), where.partition("[")[0].strip()
