"""Shape of the manifest of an imported bundle: what pages and computations read of it."""

from __future__ import annotations

import json
from typing import Any

from assay.aggregation import RULES

MOST_CHARACTERS = 1 << 20
COUNT = {"type": "integer", "minimum": 0}
NUMBER = {"type": ["number", "null"]}
TEXT = {"type": "string", "maxLength": 10_000}
SHA256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def _object(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": {**required, **optional}}


def _list(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


COEFFICIENT = _object({"value": NUMBER, "low": NUMBER, "high": NUMBER, "n": COUNT})
AGREEMENT = _object({"alpha": _object({"ordinal": COEFFICIENT}), "overlap": COUNT})
GATE = _object(
    {
        "state": {"enum": ["passed", "undecided", "failed", "undefined"]},
        "coefficient": TEXT,
        "threshold": {"type": "number"},
    }
)
POOL = {
    **_object({}, strategy=TEXT, runs=_list(_object({"sha256": TEXT})), seed={"type": ["integer", "null"]}),
    "if": {"properties": {"strategy": {"const": "depth"}}, "required": ["strategy", "runs"]},
    "then": _object({"parameters": _object({"depth": COUNT})}),
}
BRIDGE = _object(
    {
        "round": TEXT,
        "rated_again": COUNT,
        "labelled": COUNT,
        "same": COUNT,
        "agreement": _object({"alpha": COEFFICIENT}),
    }
)
SCHEMA = _object(
    {
        "content_sha256": SHA256,
        "consolidation": _object(
            {"rule": {"enum": list(RULES)}, "tie": TEXT, "merge": TEXT, "sources": _list(TEXT)}, unrateable=TEXT
        ),
        "counts": _object(
            dict.fromkeys(
                ("labels", "queries", "ratings", "raters", "unrated_omitted", "unrateable", "conflicts", "adjudicated"),
                COUNT,
            ),
            carried=COUNT,
            unrateable_as_zero=COUNT,
            by_machine=COUNT,
        ),
        "list": _object({"name": {"type": "string", "minLength": 1}, "frozen_at": TEXT}),
        "license": {"type": "string", "maxLength": 200},
        "override_reason": TEXT,
        "scale": _object(
            {"grades": _list({"type": "integer"}), "labels": _list(TEXT)}, relevant_from={"type": "integer"}
        ),
        "rounds": _list(_object({"name": TEXT, "guidelines_version": COUNT, "agreement": AGREEMENT}, gate=GATE)),
        "provenance": _object(
            {
                "rounds": _list(_object({"guidelines_sha256": SHA256, "pool": POOL})),
                "sampling": _list(_object({"log_sha256": TEXT, "method": TEXT, "seed": {"type": "integer"}})),
                "software": TEXT,
            }
        ),
        "warnings": _list(TEXT),
    },
    merge=_object({"bridges": _list(BRIDGE)}),
)


def shape_fault(manifest: dict[str, Any]) -> str:
    """Return the first fault in a manifest's shape, or an empty string."""
    from jsonschema import Draft202012Validator

    if len(json.dumps(manifest)) > MOST_CHARACTERS:
        return f"is larger than {MOST_CHARACTERS >> 20} MB"

    error = next(iter(Draft202012Validator(SCHEMA).iter_errors(manifest)), None)
    if error is None:
        return ""
    place = ".".join(map(str, error.absolute_path)) or "the manifest"
    return f"is not one of a snapshot: {place}: {error.message[:200]}"
