"""Are the rules of the house kept? Import direction, families without Django, sizes, docs that are complete."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = ("judgments", "pooling", "evaluation")
# What each room may import of the others; nothing may import config, and only config knows demo.
MAY_IMPORT = {
    "judgments": set(),
    "pooling": {"judgments"},
    "evaluation": {"judgments", "pooling"},
    "assay": {"judgments", "pooling", "evaluation"},
    "demo": {"judgments", "pooling", "evaluation"},
}
ROOMS = {*MAY_IMPORT, "config"}
# What every room may import: it computes, and knows no room but the families that have not moved to assay/ yet.
COMPUTES = "assay.rag"
DJANGO_FOLDERS = {"models", "views", "api", "migrations", "management", "templatetags"}
# Folders that hold all of one feature: actions, pages, endpoints.
FEATURES = {"rag"}
DJANGO = {"django", "rest_framework", "django_tasks", "django_tasks_db", "drf_spectacular", "django_htmx", "environ"}
# A family knows these; anything else is imported inside the one member that needs it.
FAMILY_MAY_IMPORT = {"numpy", "scipy", "polars", "sklearn"}
FAMILIES = {
    "format": ("judgments.formats", "FORMATS", "docs/formats.md"),
    "coefficient": ("judgments.agreement", "COEFFICIENTS", "docs/agreement.md"),
    "quality check": ("judgments.quality", "CHECKS", "docs/quality.md"),
    "label rule": ("judgments.aggregation", "RULES", "docs/agreement.md"),
    "connector": ("pooling.connectors", "CONNECTORS", "docs/connectors.md"),
    "pool strategy": ("pooling.strategies", "STRATEGIES", "docs/pooling.md"),
    "click model": ("pooling.clicks", "CLICK_MODELS", "docs/clicks.md"),
    "metric": ("evaluation.metrics", "METRICS", "docs/metrics.md"),
    "judge": ("judgments.judges", "JUDGES", "docs/judges.md"),
    "drafter": ("judgments.drafting", "DRAFTERS", "docs/queries.md"),
    "text metric": ("judgments.textmetrics", "TEXT_METRICS", "docs/judges.md"),
    "significance test": ("evaluation.significance", "TESTS", "docs/significance.md"),
    "correction": ("evaluation.significance", "CORRECTIONS", "docs/significance.md"),
    "freshness signal": ("evaluation.staleness", "SIGNALS", "docs/freshness.md"),
    "RAG metric": ("assay.rag.metrics", "METRICS", "docs/rag.md"),
    "command": ("assay.cli", "COMMANDS", "docs/cli.md"),
}
NAMED_BY_NO_FEATURE = {"utils.py", "helpers.py", "common.py", "services.py", "misc.py"}


def modules(*rooms: str) -> Iterator[Path]:
    for room in rooms:
        yield from sorted((ROOT / room).rglob("*.py"))


def imported(path: Path, *, top_level_only: bool = False) -> Iterator[str]:
    """Every module that a file imports; with top_level_only those that importing the file really imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = _executed(tree.body) if top_level_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _executed(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        for name in ("body", "orelse", "finalbody"):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _executed(getattr(node, name, []) or [])


def in_family(path: Path) -> bool:
    """Whether a file is in a folder that computes."""
    parts = path.relative_to(ROOT).parts
    return len(parts) > 2 and parts[0] in APPS and parts[1] not in DJANGO_FOLDERS | FEATURES


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_imports_point_one_way(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(room)
        for name in imported(path)
        if name.split(".")[0] in ROOMS - {room} - MAY_IMPORT[room]
        and not (name == COMPUTES or name.startswith(f"{COMPUTES}."))
    ]
    assert wrong == []


def test_folders_compute_without_django() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(*APPS)
        if in_family(path)
        for name in imported(path)
        if name.split(".")[0] in DJANGO or re.match(r"(judgments|pooling|evaluation)\.(models|views|api)\b", name)
    ]
    assert wrong == []


def test_families_import_only_what_they_may() -> None:
    import sys

    known = set(sys.stdlib_module_names) | FAMILY_MAY_IMPORT | {"judgments", "pooling", "evaluation"}
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(*APPS)
        if in_family(path)
        for name in imported(path, top_level_only=True)
        if name.split(".")[0] not in known
    ]
    assert wrong == []


def test_the_command_knows_no_django() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules("assay")
        for name in imported(path)
        if name.split(".")[0] in DJANGO
    ]
    assert wrong == []


def test_no_module_is_named_by_no_feature() -> None:
    assert [path for path in modules(*MAY_IMPORT) if path.name in NAMED_BY_NO_FEATURE] == []


def test_every_module_docstring_is_a_statement() -> None:
    wrong = [
        str(path.relative_to(ROOT))
        for path in modules(*MAY_IMPORT)
        if path.stat().st_size and "migrations" not in path.parts and not _is_statement(path)
    ]
    assert wrong == []


def _is_statement(path: Path) -> bool:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return bool(docstring) and not docstring.splitlines()[0].endswith("?")


def test_no_star_imports_and_no_signals() -> None:
    wrong = [
        str(path.relative_to(ROOT))
        for path in modules(*MAY_IMPORT)
        if re.search(r"^from \S+ import \*|django\.db\.models\.signals|django\.dispatch", path.read_text(), re.M)
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", FAMILIES)
def test_every_member_is_documented(kind: str) -> None:
    module, table, page = FAMILIES[kind]
    text = (ROOT / page).read_text(encoding="utf-8")
    members = list(getattr(import_module(module), table))
    missing = [name for name in members if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]
    assert members
    assert missing == [], f"{page} does not speak of these"


def test_every_setting_is_documented() -> None:
    settings = (ROOT / "config" / "settings.py").read_text(encoding="utf-8")
    names = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', settings))
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert {name for name in names if f"`{name}`" not in text} == set()


def test_every_management_command_is_documented() -> None:
    text = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    commands = {
        path.stem for path in modules(*APPS, "demo") if path.parent.name == "commands" and path.name != "__init__.py"
    }
    assert {name for name in commands if f"`manage.py {name}" not in text} == set()


def test_no_machine_path_and_no_registry_address_is_in_the_house() -> None:
    import subprocess

    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    pattern = re.compile(r"index.url|.resolved.:|https?://\S+/(?:simple|packages)/|/(?:root|home/\w+)/")
    wrong = []
    for name in listed:
        path = ROOT / name
        if name == "tests/test_rules.py" or path.suffix in (".png", ".svg") or not path.exists():
            continue
        if pattern.search(path.read_text(encoding="utf-8", errors="replace")):
            wrong.append(name)
    assert wrong == []


def test_relative_links_in_the_docs_lead_somewhere() -> None:
    broken = []
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if not re.match(r"https?:|mailto:", target) and not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_the_files_that_the_architecture_names_are_there() -> None:
    missing = []
    for number, line in enumerate((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines(), 1):
        folders = [ROOT]  # and what the line has named, with the folders above: short names lie there or in judgments/
        for name in re.findall(r"`([\w./*-]+(?:\.(?:py|html|js|css|json|md)|/))(?::[\w.]+)?`", line):
            found = next((path for folder in [*folders, ROOT / "judgments"] for path in folder.glob(name)), None)
            if found is None:
                missing.append(f"line {number}: {name}")
                continue
            folders += [found, *(folder for folder in found.parents if folder.is_relative_to(ROOT))]
    assert missing == []
