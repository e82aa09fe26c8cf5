"""The page docs/rag.md: it is what the metrics declare, and its examples run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from assay.cli import main
from assay.rag.metric_names import parse_metric
from assay.rag.metrics import METRICS
from assay.rag.reference_page import OUTPUTS, SAMPLES, example_of, page
from tests.assay.llm.judges.test_semantic import installed

DOCS = Path(__file__).resolve().parents[3] / "docs"
WRITTEN = (DOCS / "rag.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^assay .*$", WRITTEN, re.M)
PYTHON = re.findall(r"^```python\n(.*?)^```", WRITTEN, re.M | re.S)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "samples.jsonl").write_text(SAMPLES)
    (tmp_path / "outputs.jsonl").write_text(OUTPUTS)
    monkeypatch.chdir(tmp_path)


def test_the_page_is_written_from_the_metrics() -> None:
    assert page() == WRITTEN, "run python -m assay.rag.reference_page > docs/rag.md"


@pytest.mark.parametrize("name", METRICS)
def test_each_metric_has_a_section_with_formula_source_and_example(name: str) -> None:
    member = METRICS[name]
    section = WRITTEN.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
    assert f"- Value: {member.formula}" in section
    assert f"- Source: {member.source}" in section
    assert len(re.findall("^```", section, re.M)) >= 2
    assert type(parse_metric(example_of(member))) is member


@pytest.mark.usefixtures("files")
@pytest.mark.filterwarnings("ignore")  # of the libraries that load a model
@pytest.mark.parametrize("line", COMMANDS)
def test_each_command_runs(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    if "package:" in line and not installed():
        pytest.skip("needs a real model: make test-semantic")
    assert main(shlex.split(line)[1:]) == 0
    if "--slice" not in line:  # a sample without the label has no reference answer either
        assert "not measured" not in capsys.readouterr().out


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("block", PYTHON)
def test_each_example_in_python_runs(block: str) -> None:
    known: dict[str, object] = {}
    exec(block, known)
    assert all(score.defined for score in known["evaluation"].systems[0].scores.values())  # type: ignore[attr-defined]
