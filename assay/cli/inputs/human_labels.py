"""Human labels of pairs, read from qrels in any format or from a ratings file by the lower median."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.cli.inputs.files import print_warnings


def read_human_labels(path: str, values: Sequence[int]) -> dict[tuple[str, str], float]:
    """Read human labels: qrels in any format, or a ratings CSV aggregated by the lower median."""
    from assay.formats import sniff
    from assay.formats.qrels_and_runs import load_qrels
    from assay.formats.text_lines import Content, reusable_source

    source = reusable_source(Path(path))
    with Content(source, path) as content:
        if sniff(content.head) == "ratings-csv":
            return _median_labels(path, values)
    qrels, report = load_qrels(source, path)
    print_warnings([report])
    return {(query_id, doc_id): grade for query_id, doc_id, grade in qrels.rows()}


def _median_labels(path: str, values: Sequence[int]) -> dict[tuple[str, str], float]:
    from assay.aggregation import aggregate
    from assay.cli.inputs.ratings import read_ratings

    file = read_ratings(path, values)
    labels = {(query_id, doc_id): grade for query_id, doc_id, grade in aggregate(file.ratings, "median", values).rows()}
    return labels | {pair: float(grade) for pair, grade in file.adjudicated.items()}
