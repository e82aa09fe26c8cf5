"""Short, distinct names for runs, taken from their file names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath

# Parts of a file name that describe the format; they name a run only if nothing else differs.
ENDINGS = frozenset(
    {"bz2", "csv", "gz", "json", "jsonl", "lz4", "parquet", "res", "run", "trec", "tsv", "txt", "xz", "zip", "zst"}
)
Tag = Callable[[int], str | None]


def stem(filename: str) -> str:
    """Return a file name up to its first dot; a leading dot does not count.

    Examples
    --------
    >>> stem("runs/bm25.v2.run.gz"), stem(".hidden.run")
    ('bm25', '.hidden')
    """
    name = PurePath(filename.replace("\\", "/")).name
    return name[:1] + name[1:].partition(".")[0]


def run_names(filenames: Sequence[str], taken: Sequence[str] = (), tag: Tag | None = None) -> list[str]:
    """Return a name for each file: up to the first dot, or the shortest distinct part if files share that name.

    Examples
    --------
    >>> run_names(["bm25.run", "neural.run"]), run_names(["input.A.gz", "input.B.gz"])
    (['bm25', 'neural'], ['A', 'B'])
    >>> run_names(["input.A.1.gz", "input.A.2.gz", "input.B.1.gz"])
    ['A.1', 'A.2', 'B.1']
    """
    names = [stem(one) for one in filenames]
    for shared in sorted({name for name in names if names.count(name) > 1}):
        places = [place for place, name in enumerate(names) if name == shared]
        others = {*taken, *(name for place, name in enumerate(names) if place not in places)}
        distinct = _parts([PurePath(filenames[place].replace("\\", "/")).name for place in places], others)
        if distinct is None and tag is not None:
            tags = [tag(place) or "" for place in places]
            distinct = tags if _apart(tags, others) else None
        for place, name in zip(places, distinct or [shared] * len(places), strict=True):
            names[place] = name
    return names


def _parts(files: Sequence[str], others: set[str]) -> list[str] | None:
    """Return the shortest series of dotted parts that is distinct for each file and unused; None if there is none."""
    parts = [file.split(".") for file in files]
    return _shortest([_without_endings(one) for one in parts], others) or _shortest(parts, others)


def _without_endings(parts: list[str]) -> list[str]:
    while len(parts) > 1 and parts[-1].lower() in ENDINGS:
        parts = parts[:-1]
    return parts


def _shortest(parts: Sequence[list[str]], others: set[str]) -> list[str] | None:
    fewest = min(len(one) for one in parts)
    candidates = [
        [".".join(one[begin : begin + size]) for one in parts]
        for size in range(1, fewest + 1)
        for begin in range(fewest - size + 1)
    ]
    fit = [names for names in candidates if _apart(names, others)]
    # Prefer fewer parts, then shorter parts, then parts further left.
    return min(fit, key=lambda names: (names[0].count("."), sum(map(len, names))), default=None)


def _apart(names: Sequence[str], others: set[str]) -> bool:
    return all(names) and len(set(names)) == len(names) and others.isdisjoint(names)
