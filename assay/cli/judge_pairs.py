"""Which pairs wait for a judge, and how does an answer become a label?"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.files import tell_warnings
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.formats.labels_jsonl import MachineLabel
    from judgments.formats.rows import PairRow
    from judgments.judges import Context, Outcome
    from judgments.judges.contract import Need


@dataclass(frozen=True)
class Pairs:
    """What there is to do.

    Parameters
    ----------
    ready : list of (PairRow, Context)
        With all that the judge needs.
    lacking : list of (PairRow, list of str)
        Without something, and what.
    earlier : int
        Answered already.
    """

    ready: list[tuple[PairRow, Context]]
    lacking: list[tuple[PairRow, list[str]]]
    earlier: int

    @classmethod
    def of(cls, rows: Sequence[PairRow], needs: Sequence[Need], earlier: Collection[tuple[str, str]]) -> Pairs:
        """Sort rows out."""
        from judgments.judges import Context

        found = cls([], [], sum((row.query_id, row.doc_id) in earlier for row in rows))
        for row in rows:
            if (row.query_id, row.doc_id) in earlier:
                continue
            context = Context(row.query, row.text, row.expected, row.narrative)
            if missing := context.lacks(needs):
                found.lacking.append((row, list(missing)))
            else:
                found.ready.append((row, context))
        return found

    def refuse_none(self, path: str, judge: str, needs: Sequence[str]) -> None:
        """Refuse a file of which no pair can be judged.

        Raises
        ------
        NotValid
            With what is missing.
        """
        if self.lacking and not self.ready and not self.earlier:
            raise NotValid(f"{path}: no pair has what {judge} needs: {', '.join(needs)}; add it to the pairs")


def read_pairs(path: str) -> list[PairRow]:
    """Read pairs.jsonl and tell what is odd.

    Raises
    ------
    UnreadableInput
        With file and line.
    """
    from judgments.formats import pairs_jsonl

    found = pairs_jsonl.read(Path(path), path=path)
    found.report.raise_if_errors()
    tell_warnings([found.report])
    return list(found.rows)


def label(
    pair: PairRow, outcome: Outcome, judge: str, parameters: Mapping[str, Any], model: str = "", prompt_sha256: str = ""
) -> MachineLabel:
    """The line of an answer."""
    from judgments.formats.labels_jsonl import MachineLabel

    return MachineLabel(
        pair.query_id,
        pair.doc_id,
        outcome.name,
        outcome.grade,
        outcome.relevant,
        judge=judge,
        model=model,
        prompt_sha256=prompt_sha256,
        parameters=parameters,
        probabilities=outcome.probabilities,
        rationale=outcome.rationale,
        raw=outcome.raw,
        tokens_in=outcome.tokens_in,
        tokens_out=outcome.tokens_out,
        cost_usd=outcome.cost_usd,
        usefulness=outcome.usefulness,
    )


def tell(path: str, pairs: Pairs, counts: Mapping[str, int]) -> None:
    """Say what was judged, and what was not."""
    told = ", ".join(f"{number} {name}" for name, number in sorted(counts.items())) or "nothing"
    lines = [f"judged {sum(counts.values())}: {told}"]
    if pairs.earlier:
        lines.append(f"  left alone, judged already: {pairs.earlier}")
    if pairs.lacking:
        first, missing = pairs.lacking[0]
        lines.append(
            f"  not judged: {len(pairs.lacking)} without {', '.join(missing)}, the first at {path}:{first.line}"
        )
    sys.stderr.write("\n".join(lines) + "\n")
