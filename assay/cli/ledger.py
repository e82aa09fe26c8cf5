"""Ledger of model calls: every question, its answer and its cost, one line per call, append-only.

The ledger is also a cache: an answer stored under its key is not requested again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.label_file import whole_lines
from assay.cli.spilled import Spilled
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.judges.answers import Reply
    from judgments.judges.asking import Answered
    from judgments.providers.protocol import Endpoint


class Replies(MutableMapping[str, "Reply"]):
    """Answers by their keys, on disk."""

    def __init__(self) -> None:
        self._kept = Spilled()

    def __getitem__(self, key: str) -> Reply:
        from judgments.judges.answers import Reply

        told = self._kept[key]
        return Reply(**told | {"left_out": tuple(told["left_out"])})

    def __setitem__(self, key: str, reply: Reply) -> None:
        self._kept[key] = asdict(reply)

    def __delitem__(self, key: str) -> None:
        del self._kept[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


@dataclass
class Known:
    """What a ledger holds.

    Parameters
    ----------
    replies : mapping of str to Reply
        By key, on disk; calls without an answer are not among them, and are asked again.
    spent, calls : float, int
        Of the judge that goes on, in dollars and questions; calls without an answer among them.
    models : dict of str to int
        Which models answered that judge, as the provider names them.
    """

    replies: MutableMapping[str, Reply] = field(default_factory=Replies)
    spent: float = 0.0
    calls: int = 0
    models: dict[str, int] = field(default_factory=dict)


class Ledger:
    """A JSONL file of calls.

    Parameters
    ----------
    path : Path or None
        None keeps nothing.
    judge : str
        The hash of the judge and its model: whose money a line counts for.
    """

    def __init__(self, path: Path | None, judge: str) -> None:
        self._path, self._judge = path, judge

    def known(self, *, mend: bool = True) -> Known:
        """Read what is there; a last line that a killed run left half written is cut off.

        Raises
        ------
        NotValid
            A line is none of a ledger.
        """
        found = Known()
        for number, line in enumerate(self._lines(mend), 1):
            try:
                self._add(found, json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                what = f"{self._path}:{number}: is no line of a ledger"
                raise NotValid(f"{what}; name another file with --ledger") from None
        return found

    def _add(self, found: Known, line: Mapping[str, Any]) -> None:
        from judgments.judges.answers import Reply

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
            found.replies[str(line["key"])] = reply
        if line["judge_sha256"] == self._judge:
            found.calls += 1
            found.spent += reply.cost_usd or 0.0
            if reply.model:
                found.models[reply.model] = found.models.get(reply.model, 0) + 1

    def _lines(self, mend: bool) -> Iterator[bytes]:
        left = whole_lines(self._path, mend, "its question is asked again")
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
        """Yield a function that writes one call and keeps nothing back."""
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

        from assay.cli.provider_options import address
        from judgments.judges.asking import prompt_sha256

        question, reply = call.question, call.reply
        told = reply.token_probabilities
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
            **({} if told is None else {"token_probabilities": dict(told)}),
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
        }


def beside(out: str | None, ledger: str | None) -> Path | None:
    """Where the ledger stands: where it was named, else beside the output.

    Examples
    --------
    >>> str(beside("labels.jsonl", None)), beside(None, None)
    ('labels.ledger.jsonl', None)
    """
    if ledger is not None:
        return Path(ledger)
    if out is None or out == "-":
        return None
    path = Path(out)
    return path.with_name(f"{path.stem}.ledger.jsonl")
