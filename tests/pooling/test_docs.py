"""Tests of the numbers and examples in the pooling docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.strategies import STRATEGIES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["pooling.md", "queries.md", "sampling.md", "clicks.md"])
def test_the_examples_run(name: str) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for code in blocks:
        exec(code, {})


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_every_strategy_is_documented_with_its_defaults(name: str) -> None:
    text = (DOCS / "pooling.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{name}` \|.*$", text, re.MULTILINE)
    for parameter in STRATEGIES[name].parameters:
        default = "" if parameter.is_list else f" = {parameter.default}"
        assert f"`{parameter.name}`{default}" in row
