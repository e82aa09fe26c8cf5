"""Does requirements.lock hold what a server installs, as constraints.txt pins it, each with its hashes?"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PINNED = {line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if line}


def entries() -> dict[str, list[str]]:
    """Each pin of the lock, as constraints.txt writes it, with its hashes."""
    found = {}
    for entry in re.split(r"\n(?=[a-z0-9])", re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE)):
        first, *rest = [line.strip().removesuffix("\\").strip() for line in entry.strip().splitlines()]
        found[first] = rest
    return found


def test_the_lock_says_what_constraints_say() -> None:
    assert [pin for pin in entries() if pin not in PINNED] == []


def test_every_pin_has_hashes() -> None:
    for pin, hashes in entries().items():
        assert hashes, pin
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one) for one in hashes), pin


def test_every_version_of_a_locked_package_is_locked() -> None:
    """On another Python another line of constraints.txt may hold; both stand in the lock."""
    names = {re.split("==", pin)[0] for pin in entries()}
    assert {pin for pin in PINNED if pin.partition("==")[0] in names} == set(entries())


def test_all_that_a_server_needs_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    open_ = [Requirement(one) for one in [*project["dependencies"], *extras["postgres"], *extras["teams"]]]
    locked, seen = {pin.partition("==")[0] for pin in entries()}, set()
    missing = set()
    while open_:
        one = open_.pop()
        name = canonicalize_name(one.name)
        wanted = [one.marker.evaluate({"extra": extra}) for extra in one.extras or {""}] if one.marker else [True]
        if name == "assay" or (name, frozenset(one.extras)) in seen or not any(wanted):
            continue
        seen.add((name, frozenset(one.extras)))
        if name not in locked:
            missing.add(name)
        try:
            below = [Requirement(text) for text in requires(name) or ()]
        except PackageNotFoundError:  # this environment has no need of it
            continue
        for part in below:
            if part.marker is None or any(part.marker.evaluate({"extra": extra}) for extra in {"", *one.extras}):
                part.marker = None
                open_.append(part)
    assert missing == set()
