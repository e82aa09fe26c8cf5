"""Human labels of pairs, read from qrels in any format or from a ratings file by the lower median."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.cli.files import tell_warnings


def read_human_labels(path: str, values: Sequence[int]) -> dict[tuple[str, str], float]:
    """Read people's labels: qrels in any format, or a ratings CSV, settled by the lower median.

    Parameters
    ----------
    path : str
        The file; ``-`` is standard input, read as TREC qrels.
    values : sequence of int
        The scale of the ratings; qrels are taken as they are.

    Raises
    ------
    UnreadableInput
        The file cannot be read.
    """
    from judgments.formats import sniff
    from judgments.formats.decoding import Content, kept
    from judgments.formats.tables import load_qrels

    source = kept(Path(path))
    with Content(source, path) as content:
        if sniff(content.head) == "ratings-csv":
            return _settled(path, values)
    qrels, report = load_qrels(source, path)
    tell_warnings([report])
    return {(query_id, doc_id): grade for query_id, doc_id, grade in qrels.rows()}


def _settled(path: str, values: Sequence[int]) -> dict[tuple[str, str], float]:
    from assay.cli.rating_rows import read_ratings
    from judgments.aggregation import aggregate

    file = read_ratings(path, values)
    found = {(query_id, doc_id): grade for query_id, doc_id, grade in aggregate(file.ratings, "median", values).rows()}
    return found | {pair: float(grade) for pair, grade in file.adjudicated.items()}
