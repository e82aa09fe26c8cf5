"""Reads Vega-Lite downloads: each is valid by the schema that altair contains."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator

Rows = list[dict[str, Any]]


@cache
def validator() -> Draft7Validator:
    # altair itself is not imported: its version with the schema of Vega-Lite 5 cannot be on Python 3.14.
    spec = find_spec("altair")
    assert spec
    assert spec.origin
    path = Path(spec.origin).parent / "vegalite" / "v5" / "schema" / "vega-lite-schema.json"
    return Draft7Validator(json.loads(path.read_text(encoding="utf-8")))


def layers_of(response: Any) -> list[Rows]:
    """Return the data of each layer, after checks of the file."""
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Content-Disposition"].endswith('.vl.json"')
    spec = json.loads(response.content)
    validator().validate(spec)
    assert spec["description"]
    layers = []
    for layer in spec["layer"]:
        rows: Rows = layer.get("data", spec["data"])["values"]
        for channel, encoding in layer["encoding"].items():
            assert not rows or "field" not in encoding or any(encoding["field"] in row for row in rows)
            assert channel not in ("x", "y") or encoding["title"]
        layers.append(rows)
    return layers
