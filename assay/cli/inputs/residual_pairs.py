"""Read the residual stratum of a pool: pairs drawn at random from outside it, with inclusion probabilities."""

from __future__ import annotations

from pathlib import Path

from assay.core.errors import UnreadableInput

RESIDUAL = "residual"
EXPECTED = "expected the CSV written by assay pool --residual N, with query_id,doc_id,why,probability"


def read_residual(path: str) -> list[tuple[str, str, float]]:
    """Read the residual stratum of a pool: query, document, inclusion probability."""
    from assay.core.read_report import Tally
    from assay.formats.delimited import Columns, read_table
    from assay.formats.text_lines import Content

    names = ("query_id", "doc_id", "why", "probability")
    columns = Columns(dict.fromkeys(names, ()), names, frozenset({"probability"}), frozenset({"rank", "runs"}))
    tally = Tally(path, "pool", EXPECTED)
    drawn = []
    with Content(Path(path), path) as content:
        for cells in read_table(content, tally, columns):
            tally.put("accepted")
            if cells.of["why"] == RESIDUAL:
                drawn.append(
                    (cells.of["query_id"], cells.of["doc_id"], _probability(path, cells.line, cells.of["probability"]))
                )
    tally.report().raise_if_errors()
    if not drawn:
        raise UnreadableInput(path, None, "no pair was drawn at random (why = residual)", EXPECTED)
    return drawn


def _probability(path: str, line: int, text: str) -> float:
    try:
        probability = float(text)
    except ValueError:
        probability = 0.0
    if not 0 < probability <= 1:
        raise UnreadableInput(path, line, f"the probability is {text!r}", "expected a number above 0 and at most 1")
    return probability
