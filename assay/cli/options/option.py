"""Declaration of a command line option in one call."""

from __future__ import annotations

import argparse
from typing import Any


def option(parser: argparse._ActionsContainer, usage: str, text: str, shown: Any = None, **others: Any) -> None:
    """Declare an option by its usage, such as ``-m --metric METRIC``; the help ends with the default if it is shown.

    Examples
    --------
    >>> parser = argparse.ArgumentParser()
    >>> option(parser, "--seed N", "seed for the draw", 0)
    >>> print(parser.parse_args(["--seed", "3"]).seed, parser.format_help().splitlines()[-1])
    3   --seed N    seed for the draw; default: 0
    """
    names = [word for word in usage.split() if word.startswith("-")] or usage.split()[:1]
    if metavar := " ".join(word for word in usage.split() if word not in names):
        others["metavar"] = metavar
    if shown is not None:
        others["default"] = shown
        text += f"; default: {shown:g}" if isinstance(shown, float) else f"; default: {shown}"
    if isinstance(shown, int | float):
        others.setdefault("type", type(shown))
    parser.add_argument(*names, help=text, **others)
