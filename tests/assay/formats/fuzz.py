"""Fuzzing of every reader: damaged and nested files end in rows with true counts, or in one clear refusal.

    make fuzz                 # ten minutes
    make fuzz SECONDS=60
    python -m tests.assay.formats.fuzz [--seconds N] [--rounds N] [--seed N] [--only FORMAT]

Hypothesis damages the example of each format, in turn, until the time is over; it prints the smallest file that fails.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import hypothesis
from hypothesis import given
from hypothesis import strategies as st

from assay.formats import FORMATS, Format
from tests.assay.formats.test_contract import check, example

ROUND = 60
ODD_VALUES: list[Any] = [
    *(None, True, False, 0, -1, 3, 2.5, 1e308, 10**400, "", " ", "3", "3.0", "NaN", "1e3", "0x10", "-", "=1+1"),
    *(
        "a\0b",
        "\ud800",
        "\x07",
        "\u202e",
        "a b",
        "caf\u00e9",
        "cafe\u0301",
        "x" * 600,
        "y" * 3000,
        [],
        {},
        [[]],
        [None],
        [1],
        {"a": 1},
    ),
]
ODD_CELLS = [str(value) for value in ODD_VALUES if not isinstance(value, (list, dict)) and value != "\ud800"]
ODD_BYTES = [
    b"\xff",
    b"\0",
    b"\r",
    b"\x0c",
    b"\x85",
    b"\xe2\x80\xa8",
    b'"',
    b"\\",
    b",",
    b"\t",
    b"{",
    b"[",
    b"<",
    b"#",
    b"\xef\xbb\xbf",
]


def damaged(data: st.DataObject, text: bytes) -> bytes:
    """Damage a file in one of several ways."""
    ways: list[Callable[[st.DataObject, bytes], bytes]] = [_bytes, _lines, _cells, _recoded, _deep, _long]
    if text.lstrip()[:1] in (b"{", b"["):
        ways += [_json] * 4
    for _ in range(data.draw(st.integers(1, 3))):
        text = data.draw(st.sampled_from(ways))(data, text)
    return text


def _bytes(data: st.DataObject, text: bytes) -> bytes:
    at = data.draw(st.integers(0, len(text)))
    end = min(len(text), at + data.draw(st.integers(0, 40)))
    return text[:at] + data.draw(st.sampled_from([*ODD_BYTES, b"", text[at:end] * 2])) + text[end:]


def _lines(data: st.DataObject, text: bytes) -> bytes:
    lines = text.split(b"\n")
    chosen = data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=8))
    return b"\n".join(lines[at] for at in chosen) + data.draw(st.sampled_from([b"", b"\n", b"\r\n", b"\r"]))


def _cells(data: st.DataObject, text: bytes) -> bytes:
    sign = data.draw(st.sampled_from([b",", b"\t", b" ", b";", b">", b":"]))
    cells = text.split(sign)
    cells[data.draw(st.integers(0, len(cells) - 1))] = data.draw(st.sampled_from(ODD_CELLS)).encode()
    return sign.join(cells)


def _recoded(data: st.DataObject, text: bytes) -> bytes:
    plain = text.decode("utf-8", "replace")
    coding = data.draw(st.sampled_from(["utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252"]))
    return (plain + "\u00e9").encode(coding, "replace")


def _deep(data: st.DataObject, text: bytes) -> bytes:
    depth = data.draw(st.sampled_from([90, 110, 900, 10_000]))
    opened, closed = data.draw(st.sampled_from([(b"[", b"]"), (b'{"a":', b"}")]))
    nest = opened * depth + b"1" + closed * data.draw(st.sampled_from([depth, depth - 1, 0]))
    at = text.find(b":", data.draw(st.integers(0, len(text)))) + 1
    return text[:at] + nest + text[at:]


def _long(data: st.DataObject, text: bytes) -> bytes:
    at = data.draw(st.integers(0, len(text)))
    return text[:at] + data.draw(st.sampled_from([b"x", b"1", b'"', b" ", b"[", b"\t"])) * 100_000 + text[at:]


def _json(data: st.DataObject, text: bytes) -> bytes:
    """Change a value, a key or an element, in JSON or in a line of JSONL."""
    try:
        try:
            values, one = [json.loads(text)], True
        except ValueError:
            values, one = [json.loads(line) for line in text.splitlines() if line.strip()], False
    except (ValueError, RecursionError):
        return text
    places: list[tuple[Any, Any]] = [(values, at) for at in range(len(values))]
    for holder, key in places:
        inner = holder[key]
        places += (
            [(inner, name) for name in (inner if isinstance(inner, dict) else range(len(inner)))]
            if isinstance(inner, (dict, list))
            else []
        )
        if len(places) > 200:
            break
    if not places:
        return text
    holder, key = places[data.draw(st.integers(0, len(places) - 1))]
    way = data.draw(st.sampled_from(["value", "value", "delete", "rename", "twice", "neighbor"]))
    if way == "value":
        holder[key] = data.draw(st.sampled_from(ODD_VALUES))
    elif way == "delete":
        del holder[key]
    elif way == "rename" and isinstance(holder, dict):
        holder[data.draw(st.sampled_from(["id", "doc_id", "query", "rating", "x", ""]))] = holder.pop(key)
    elif way == "twice" and isinstance(holder, list):
        holder.append(holder[key])
    else:
        other, name = places[data.draw(st.integers(0, len(places) - 1))]
        if (inside := other[name] if not isinstance(other, list) or name < len(other) else None) is not holder:
            holder[key] = json.loads(json.dumps(inside))
    dumped = [json.dumps(value) for value in values]
    return (dumped[0] if one and dumped else "\n".join(dumped)).encode() + b"\n"


def fuzz(member: Format, seed: int, examples: int = ROUND) -> None:
    """Try one format with so many damaged files."""
    whole = example(member)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @given(data=st.data())
    def run(data: st.DataObject) -> None:
        check(member, damaged(data, whole))

    run()


def main() -> int:
    """Try all formats in turn until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--rounds", type=int, metavar="N", help="end after N rounds at the latest")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", choices=list(FORMATS), action="append")
    args = parser.parse_args()
    # A file in another process takes too long for many tries.
    members = [FORMATS[name] for name in args.only or FORMATS if not FORMATS[name].binary]
    end, rounds = time.monotonic() + args.seconds, 0
    while rounds == 0 or (time.monotonic() < end and rounds != args.rounds):
        for member in members:
            if rounds and time.monotonic() > end:
                break
            try:
                fuzz(member, args.seed + rounds)
            except BaseException:
                sys.stderr.write(f"{member.name} fails with --seed {args.seed + rounds} --only {member.name}\n")
                raise
        rounds += 1
    print(f"{len(members)} formats, {rounds} rounds of {ROUND} files each, seed {args.seed}: no fault")
    return 0


if __name__ == "__main__":
    sys.exit(main())
