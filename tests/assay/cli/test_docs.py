"""Tests of the docs: the examples run, every option is documented, and docs/metrics.md is up to date."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from pathlib import Path

import pytest

from assay.cli import COMMANDS, load
from assay.formats.manifest import file_entry
from assay.formats.qrels_and_runs import load_qrels, load_run
from assay.metrics.reference_page import page
from evaluation import evaluate
from tests import worked_example
from tests.assay.conftest import Call

# The pages speak of these runs; which file of the worked example stands for each.
RUNS = {"bm25": "bm25", "neural": "neural", "hybrid": "new", "baseline": "bm25", "candidate": "neural"}
DOCS = Path(__file__).resolve().parents[3] / "docs"


# Pages whose commands run on the worked example; those of other pages need a server, a model or files of their own.
PAGES = (
    "cli.md",
    "agreement.md",
    "clicks.md",
    "decisions.md",
    "stopping.md",
    "gates.md",
    "metrics.md",
    "pooling.md",
    "reuse.md",
)
# Tested with a server in tests/assay/client and tests/assay/mcp.
SERVER = {"serve", "login", "logout", "pull", "push", "mcp"}
PAGES += ("sampling.md", "significance.md", "../README.md")


def examples(page: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(.*?)^```", text, re.M | re.S)
    return [line for block in blocks for line in block.splitlines() if line.startswith("assay ")]


def all_examples() -> list[str]:
    """Every distinct command of these pages, without those that start or need a server."""
    lines = [line for page in PAGES for line in examples(page)]
    return [line for line in dict.fromkeys(lines) if line.split()[1] not in SERVER]


@pytest.mark.usefixtures("assay")
@pytest.mark.parametrize("page", ["cli.md", "significance.md", "gates.md", "decisions.md", "stopping.md"])
def test_python_examples_of_the_page_run(page: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.M | re.S)
    runs = {name: load_run(f"{file}.run", name=name)[0] for name, file in RUNS.items()}
    for block in blocks:
        exec(block, {"evaluate": evaluate, "qrels": load_qrels("qrels.txt")[0], **runs})
    assert blocks


def write_log_and_snapshot(folder: Path) -> None:
    """Write what the examples name beside the files of the worked example."""
    rules = re.search(
        r"^```text\n(# gate.rules\n.*?)^```", (DOCS / "gates.md").read_text(encoding="utf-8"), re.M | re.S
    )
    assert rules
    (folder / "gate.rules").write_text(rules[1])
    (folder / "hybrid.run").write_text(worked_example.NEWCOMER)
    (folder / "runs").mkdir()
    for name in ("bm25", "neural", "new"):
        (folder / "runs" / f"{name}.run").write_text((folder / f"{name}.run").read_text())
    subtopics = [f"q1 {number} d{number} 1" for number in (1, 2)]
    (folder / "diversity.qrels").write_text("\n".join([*subtopics, ""]))
    (folder / "so-far.qrels").write_text("q1 0 d1 3\n")
    (folder / "judged.txt").write_text("q2\nq1\nq3\n")
    documents = [json.dumps({"doc_id": f"d{number}", "title": f"Title {number}"}) for number in range(1, 9)]
    (folder / "docs.jsonl").write_text("\n".join([*documents, ""]))
    searches = [f"{query},2026-03-{day:02}T10:00:00Z,c{day}" for day in range(1, 21) for query in ("jacket", "tent")]
    lines = ["query,timestamp,client_id", *searches, "rope,2026-03-01T10:00:00Z,c1", ""]
    (folder / "log.csv").write_text("\n".join(lines))
    (folder / "snapshot").mkdir()
    content = worked_example.QRELS.encode()
    (folder / "snapshot/qrels.txt").write_bytes(content)
    manifest = {"assay_manifest": 1, "files": [file_entry("qrels.txt", "trec-qrels", 5, content)]}
    (folder / "snapshot/manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("line", all_examples())
def test_every_example_runs(assay: Call, line: str) -> None:
    write_log_and_snapshot(Path())
    words = [
        file
        for word in shlex.split(line, comments=True)[1:]
        for file in (sorted(map(str, Path().glob(word))) or [word])
    ]
    status, _, err = assay(*words)
    # A gate has a verdict, which is not the page's.
    assert status in ({0, 1} if words[0] == "gate" else {0}), err


# Those that ask a model have a server of their own in tests/assay/test_judge_*.py.
@pytest.mark.parametrize("line", [line for line in examples("judges.md") if "--provider" not in line])
def test_every_judge_of_the_page_runs(assay: Call, line: str) -> None:
    Path("labels.jsonl").unlink()  # the page's commands begin it
    status, _, err = assay(*shlex.split(line)[1:])
    assert status == 0, err


def test_the_readme_judges_and_calibrates(assay: Call) -> None:
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8").split("## Machine judges")[1]
    pairs = re.search(r"<<'END'\n(.*?)^END$", text, re.M | re.S)
    qrels = re.search(r"^printf '(.*)' > people.qrels$", text, re.M)
    assert pairs
    assert qrels
    Path("pairs.jsonl").write_text(pairs[1])
    Path("people.qrels").write_text(qrels[1].replace("\\n", "\n"))
    Path("labels.jsonl").unlink()
    results = [assay(*shlex.split(line)[1:]) for line in re.findall(r"^(\.venv/bin/assay .*)$", text, re.M)[:2]]
    assert [status for status, _, _ in results] == [0, 0]
    assert re.search(r"^kappa, quadratic +1\.0000 ", results[1][1], re.M)


def test_the_readme_measures_a_rag_system(assay: Call) -> None:
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8").split("## RAG evaluation")[1]
    for name, content in re.findall(r"^cat > (\S+) <<'END'\n(.*?)^END$", text, re.M | re.S):
        Path(name).write_text(content)
    results = [assay(*shlex.split(line)[1:]) for line in re.findall(r"^(\.venv/bin/assay .*)$", text, re.M)]
    assert [status for status, _, _ in results] == [0, 0]
    assert re.search(r"^NegativeRejectionRate +1\.0000 n=1$", results[0][1], re.M)


def test_every_command_has_an_example() -> None:
    assert {line.split()[1] for line in examples("cli.md")} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_in_the_section_of_its_command(name: str) -> None:
    """What many commands take, such as --out, stands once above all sections."""
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    common, *sections = page.split("\n## ")
    (section,) = (one for one in sections if one.startswith(f"assay {name}\n"))
    parser = argparse.ArgumentParser(add_help=False)
    load(name).add_arguments(parser)
    documented = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", common + section))
    options = [action.option_strings for action in parser._actions if action.option_strings]
    assert [names for names in options if not documented & set(names)] == []


def test_the_page_of_metrics_is_the_familys_own() -> None:
    written = (DOCS / "metrics.md").read_text(encoding="utf-8")
    assert written == page(), "run python -m assay.metrics.reference_page > docs/metrics.md"
