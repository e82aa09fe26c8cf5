"""Tests of requirements.lock: the packages of a server, pinned as in constraints.txt, with hashes."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LIBRARY, SERVER = (
    tomllib.loads((ROOT / file).read_text(encoding="utf-8"))["project"]
    for file in ("pyproject.toml", "server/pyproject.toml")
)
# The extras of the library that a server needs.
SERVER_NEEDS = ("logs", "stats", "judges", "rag", "xlsx", "postgres")
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PINNED = {line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines() if line}


def entries() -> dict[str, list[str]]:
    """Each pin of the lock, as constraints.txt writes it, with its hashes."""
    versions = {}
    for entry in re.split(r"\n(?=[a-z0-9])", re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE)):
        first, *rest = [line.strip().removesuffix("\\").strip() for line in entry.strip().splitlines()]
        versions[first] = rest
    return versions


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
    open_ = [
        Requirement(one)
        for project, extras in ((LIBRARY, SERVER_NEEDS), (SERVER, ("postgres", "teams")))
        for more in [project["dependencies"], *(project["optional-dependencies"][extra] for extra in extras)]
        for one in more
    ]
    locked, seen = {pin.partition("==")[0] for pin in entries()}, set()
    missing = set()
    while open_:
        one = open_.pop()
        name = canonicalize_name(one.name)
        wanted = [one.marker.evaluate({"extra": extra}) for extra in one.extras or {""}] if one.marker else [True]
        if name in ("assay", "assay-server") or (name, frozenset(one.extras)) in seen or not any(wanted):
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


def test_both_distributions_have_one_version_and_need_it_of_each_other() -> None:
    # The local part keeps pip from taking another project's assay-server from an index.
    assert SERVER["version"] == f"{LIBRARY['version']}+assay"
    every = [
        one
        for project in (LIBRARY, SERVER)
        for more in [project["dependencies"], *project["optional-dependencies"].values()]
        for one in map(Requirement, more)
    ]
    both = {f"assay=={LIBRARY['version']}", f"assay-server=={SERVER['version']}"}
    assert {f"{one.name}{one.specifier}" for one in every if one.name.startswith("assay") and one.specifier} == both
    needed = next(one for one in map(Requirement, SERVER["dependencies"]) if one.name == "assay")
    assert {*needed.extras, "postgres"} == set(SERVER_NEEDS)


def test_numpy_is_all_that_the_library_needs() -> None:
    assert [Requirement(one).name for one in LIBRARY["dependencies"]] == ["numpy"]


def test_no_package_is_pinned_in_both_files() -> None:
    """Pip is given both and refuses a package with two versions."""
    semantic = (ROOT / "constraints-semantic.txt").read_text(encoding="utf-8")
    names = set(re.findall(r"^([\w.-]+)==", semantic, re.MULTILINE))
    assert "torch" in names
    assert [name for name in names if name in {re.split("==", pin)[0] for pin in PINNED}] == []
