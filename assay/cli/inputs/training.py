"""Training data as output of ``assay convert``: from qrels with their queries, documents and runs."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.cli.inputs.data_sets import files_of, rows_of_file
from assay.core.errors import NotValid
from assay.formats.training.selection import Selected, select_graded_pairs, select_triplets

KINDS: dict[str, Callable[..., Selected]] = {"triplets": select_triplets, "graded-pairs": select_graded_pairs}


def settings_of(kind: str) -> list[str]:
    """Return the settings with which data of a kind are selected."""
    parameters = inspect.signature(KINDS[kind]).parameters.values()
    return [one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY]


def training_rows(
    args: argparse.Namespace,
    kind: str,
    settings: dict[str, Any],
    with_ids: Callable[[argparse.Namespace, Sequence[Any]], Sequence[Any]],
) -> Sequence[Any]:
    """Return the rows of a training file, selected from a data set or from files."""
    documents, queries, labels = files_of(args, with_ids)
    texts = {row.query_id: row.query for row in queries}
    runs: list[Any] = []
    for number, path in enumerate(args.runs):
        # Two files may have the same tag, or none.
        runs += [replace(row, tag=str(number)) for row in rows_of_file(args, Path(path), "run")]
    if runs and kind != "triplets":
        raise NotValid(f"--runs does not apply to --to {args.target_format}; remove it")
    for name, value in settings.items():
        default = inspect.signature(KINDS[kind]).parameters[name].default
        if not isinstance(value, int | float) or isinstance(value, bool) != isinstance(default, bool):
            wanted = "true or false" if isinstance(default, bool) else "a number"
            raise NotValid(f"--set {name}={value} is not valid; write {wanted}")
    selected = KINDS[kind](labels, texts, documents, *([runs] if kind == "triplets" else []), **settings)
    for note in selected.notes:
        sys.stderr.write(f"note: {note}\n")
    return selected.rows
