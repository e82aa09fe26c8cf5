"""List: a given list of pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from assay.core.errors import NotValid
from assay.core.parameters import Parameter
from assay.strategies.candidates import Pair
from assay.strategies.strategy import Choice, Strategy, Task, first


def given(params: Mapping[str, Any]) -> list[Pair]:
    """Return the distinct pairs of the parameters, in order."""
    if not params["pairs"]:
        raise NotValid("The list of pairs is empty. Add at least one query_id with a doc_id.", {"pairs": "Empty."})
    return list(dict.fromkeys(_two_ids(pair) for pair in params["pairs"]))


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """Choose the given pairs, by query and within a query in their order; the seed has no effect."""
    rows = task.candidates.find(given(params))
    rows = rows[rows >= 0]
    return first(task, rows[np.argsort(task.candidates.query_of[rows], kind="stable")], "list")


def _two_ids(pair: Any) -> Pair:
    if isinstance(pair, Mapping):
        pair = (pair.get("query_id"), pair.get("doc_id"))
    if isinstance(pair, str) or len(pair) != 2 or not all(isinstance(part, str) and part for part in pair):
        raise NotValid(f"{pair!r} is not a pair. Use query_id and doc_id as text.", "pairs")
    return pair[0], pair[1]


LIST = Strategy(
    name="list",
    title="Given list",
    description="Exactly the given pairs; use it to start without runs or to judge selected pairs again.",
    parameters=(Parameter("pairs", "Pairs", "The pairs, each with query_id and doc_id.", ()),),
    choose=choose,
    given=given,
)
