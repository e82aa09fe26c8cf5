"""Tests of the notebooks in docs/notebooks: they run from the first cell to the last, and contain no outputs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_without_outputs(path: Path) -> None:
    cells = nbformat.read(path, 4).cells
    assert [cell.id for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
    assert f"({path.name})" in (FOLDER / "index.md").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("default")
def test_results_become_a_decision(tmp_path: Path) -> None:
    for file in (*NOTEBOOKS, *FOLDER.glob("*.csv")):
        shutil.copy(file, tmp_path)
    notebook = nbformat.read(tmp_path / "results-to-decision.ipynb", 4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = {cell.id: outputs_of(cell) for cell in notebook.cells if cell.cell_type == "code"}
    assert "nDCG@10" in shown["scores"]["text/plain"]
    assert "neural" in shown["comparison"]["text/plain"]
    assert shown["plot"]["image/png"]
    assert "The gate passed." in shown["gate"]["stdout"]
    assert "drop(nDCG@10)" in shown["gate"]["text/plain"]
    assert shown["critical"]["text/plain"]


def outputs_of(cell: Any) -> dict[str, str]:
    """What a cell shows, by kind."""
    shown: dict[str, str] = {}
    for output in cell.outputs:
        assert output.output_type != "error", output
        shown |= {output.name: output.text} if output.output_type == "stream" else dict(output.data)
    return shown
