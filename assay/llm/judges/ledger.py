"""Ledger of model calls: every question, its answer and its cost, one line per call, append-only.

The ledger is also a cache: an answer stored under its key is not requested again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.disk_mapping import DiskMapping
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.llm.judges.bulk_judging import Answered
    from assay.llm.model_reply import Reply
    from assay.llm.providers.protocol import Endpoint

BLOCK = 1 << 16


class Replies(MutableMapping[str, "Reply"]):
    """Answers by question key, stored on disk."""

    def __init__(self) -> None:
        self._replies = DiskMapping()

    def __getitem__(self, key: str) -> Reply:
        from assay.llm.model_reply import Reply

        values = self._replies[key]
        return Reply(**values | {"left_out": tuple(values["left_out"])})

    def __setitem__(self, key: str, reply: Reply) -> None:
        self._replies[key] = asdict(reply)

    def __delitem__(self, key: str) -> None:
        del self._replies[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._replies)

    def __len__(self) -> int:
        return len(self._replies)


@dataclass
class Known:
    """The contents of a ledger."""

    replies: MutableMapping[str, Reply] = field(default_factory=Replies)
    spent: float = 0.0
    calls: int = 0
    models: dict[str, int] = field(default_factory=dict)


class Ledger:
    """A JSONL file of calls."""

    def __init__(self, path: Path | None, judge: str) -> None:
        self._path, self._judge = path, judge

    def known(self, *, repair: bool = True) -> Known:
        """Read the ledger; an incomplete last line is removed."""
        known = Known()
        for number, line in enumerate(self._lines(repair), 1):
            try:
                self._add(known, json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                what = f"{self._path}:{number}: not a ledger entry"
                raise NotValid(f"{what}; choose another file with --ledger") from None
        return known

    def _add(self, known: Known, line: Mapping[str, Any]) -> None:
        from assay.llm.model_reply import Reply

        reply = Reply(
            str(line["raw"]),
            line["stop"],
            line["tokens_in"],
            line["tokens_out"],
            line["cost_usd"],
            str(line["answered_by"]),
            line["seconds"],
            line.get("token_probabilities"),
            str(line["fault"]),
        )
        if not reply.fault:
            known.replies[str(line["key"])] = reply
        if line["judge_sha256"] == self._judge:
            known.calls += 1
            known.spent += reply.cost_usd or 0.0
            if reply.model:
                known.models[reply.model] = known.models.get(reply.model, 0) + 1

    def _lines(self, repair: bool) -> Iterator[bytes]:
        left = whole_lines(self._path, repair, "its question will be sent again")
        if self._path is None or not left:
            return
        with self._path.open("rb") as stream:
            for line in stream:
                left -= len(line)
                if left < 0:
                    return
                yield line

    @contextmanager
    def opened(self, endpoint: Endpoint) -> Iterator[Callable[[Answered], None]]:
        """Yield a function that writes and flushes one call."""
        if self._path is None:
            yield lambda call: None
            return
        with self._path.open("ab") as stream:

            def add(call: Answered) -> None:
                line = json.dumps(self._line(call, endpoint), ensure_ascii=False)
                stream.write(line.encode("utf-8", "backslashreplace") + b"\n")
                stream.flush()

            yield add

    def _line(self, call: Answered, endpoint: Endpoint) -> dict[str, Any]:
        from datetime import UTC, datetime

        from assay.llm.judges.bulk_judging import prompt_sha256
        from assay.llm.providers.protocol import address

        question, reply = call.question, call.reply
        probabilities = reply.token_probabilities
        return {
            "key": question.key,
            "prompt_sha256": prompt_sha256(question),
            "judge_sha256": self._judge,
            "provider": endpoint.protocol.name,
            "base_url": address(endpoint.base_url),
            "model": endpoint.model,
            "answered_by": reply.model,
            "temperature": question.temperature,
            "seed": question.seed,
            "most_tokens": question.most_tokens,
            "tokens_in": reply.tokens_in,
            "tokens_out": reply.tokens_out,
            "cost_usd": reply.cost_usd,
            **({"cost_estimated": True} if reply.estimated else {}),
            **({"left_out": list(reply.left_out)} if reply.left_out else {}),
            "seconds": round(reply.seconds, 4),
            "stop": reply.stop,
            "outcome": call.outcome.name,
            "fault": reply.fault,
            "raw": reply.text,
            **({} if probabilities is None else {"token_probabilities": dict(probabilities)}),
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }


def default_ledger_path(out: str | None, ledger: str | None) -> Path | None:
    """Return the path of the ledger: as given, or next to the output.

    Examples
    --------
    >>> str(default_ledger_path("labels.jsonl", None)), default_ledger_path(None, None)
    ('labels.ledger.jsonl', None)
    """
    if ledger is not None:
        return Path(ledger)
    if out is None or out == "-":
        return None
    path = Path(out)
    return path.with_name(f"{path.stem}.ledger.jsonl")


def whole_lines(path: Path | None, repair: bool, what: str) -> int:
    """Return the size of the complete lines of a file; with `repair` the incomplete last line is removed."""
    if path is None or not path.exists():
        return 0
    with path.open("r+b" if repair else "rb") as stream:
        size = end = stream.seek(0, 2)
        rest = b""
        while end and b"\n" not in rest:
            begin = max(0, end - BLOCK)
            stream.seek(begin)
            rest, end = stream.read(end - begin), begin
        whole = end + rest.rfind(b"\n") + 1
        if whole < size and repair:
            sys.stderr.write(f"note: {path}: the last line is incomplete and was removed; {what}\n")
            stream.truncate(whole)
    return whole
