"""Command line options for the parameters of judges and pool strategies, one option per parameter name."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from judgments.core.parameters import Parameter


class Member(Protocol):
    """A member with declared parameters: a judge, a pool strategy."""

    @property
    def name(self) -> str:
        """The name that users type."""

    @property
    def parameters(self) -> Sequence[Parameter]:
        """What it takes."""


def add_member_options(
    parser: argparse._ActionsContainer,
    family: Mapping[str, Member],
    also: Mapping[str, str] | None = None,
    repeated: Collection[str] = (),
) -> None:
    """Declare an option for each parameter of any member, with every member's words on it, and what else it means.

    Those that may be repeated are given as a list: who asked for it takes it apart.
    """
    for name, kind, told in _told(family):
        text = f"{also[name]}; {told}" if also and name in also else told
        flag = f"--{name.replace('_', '-')}"
        if kind is bool:
            parser.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            action = "append" if name in repeated else "store"
            parser.add_argument(
                flag, action=action, type=kind, metavar={int: "N", str: "NAME"}.get(kind, "X"), help=text
            )


def member_options(args: argparse.Namespace, family: Mapping[str, Member]) -> dict[str, Any]:
    """Return what was given, by the parameters' names; what the member does not take is its own to refuse."""
    return {name: getattr(args, name) for name, _, _ in _told(family) if getattr(args, name) is not None}


def _told(family: Mapping[str, Member]) -> list[tuple[str, type, str]]:
    """Each parameter with its type and its help."""
    found: dict[str, tuple[type, str]] = {}
    for member in family.values():
        for one in member.parameters:
            if one.is_list:
                continue
            start = found[one.name][1] + "; " if one.name in found else ""
            words = f"{member.name}: {one.description.rstrip('.').lower()} (default {one.default})"
            found[one.name] = (one.type, start + words.replace("%", "%%"))
    return [(name, kind, text) for name, (kind, text) in found.items()]
