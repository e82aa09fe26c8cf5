"""Command line options for the parameters of judges and pool strategies, one option per parameter name."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from assay.core.parameters import Parameter


class Member(Protocol):
    """A member with declared parameters: a judge, a pool strategy."""

    @property
    def name(self) -> str:
        """Name on the command line."""

    @property
    def parameters(self) -> Sequence[Parameter]:
        """Its parameters."""


def add_member_options(
    parser: argparse._ActionsContainer,
    family: Mapping[str, Member],
    also: Mapping[str, str] | None = None,
    repeated: Collection[str] = (),
) -> None:
    """Declare an option for each parameter of any member, with the descriptions of all members."""
    for name, kind, description in _member_parameters(family):
        text = f"{also[name]}; {description}" if also and name in also else description
        flag = f"--{name.replace('_', '-')}"
        if kind is bool:
            parser.add_argument(flag, action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            action = "append" if name in repeated else "store"
            parser.add_argument(
                flag, action=action, type=kind, metavar={int: "N", str: "NAME"}.get(kind, "X"), help=text
            )


def member_options(args: argparse.Namespace, family: Mapping[str, Member]) -> dict[str, Any]:
    """Return the given values by parameter name; the member rejects unknown parameters."""
    return {name: getattr(args, name) for name, _, _ in _member_parameters(family) if getattr(args, name) is not None}


def _member_parameters(family: Mapping[str, Member]) -> list[tuple[str, type, str]]:
    """Return each parameter with its type and help."""
    options: dict[str, tuple[type, str]] = {}
    for member in family.values():
        for one in member.parameters:
            if one.is_list:
                continue
            start = options[one.name][1] + "; " if one.name in options else ""
            words = f"{member.name}: {one.description.rstrip('.').lower()} (default {one.default})"
            options[one.name] = (one.type, start + words.replace("%", "%%"))
    return [(name, kind, text) for name, (kind, text) in options.items()]
