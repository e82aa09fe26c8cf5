"""Tests of the code rules: import direction, library without Django, sizes, complete docs."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = ("judgments", "pooling", "evaluation")
# What each part may import of the others; nothing may import config, and only config knows demo.
MAY_IMPORT: dict[str, set[str]] = {
    "assay": set(),
    "judgments": {"assay"},
    "pooling": {"assay", "judgments"},
    "evaluation": {"assay", "judgments", "pooling"},
    "demo": {"assay", "judgments", "pooling", "evaluation"},
}
PARTS = {*MAY_IMPORT, "config"}
DJANGO = {"django", "rest_framework", "django_tasks", "django_tasks_db", "drf_spectacular", "django_htmx", "environ"}
# A family knows these; anything else is imported inside the one member that needs it.
FAMILY_MAY_IMPORT = {"numpy", "scipy", "polars", "sklearn"}
FAMILIES = {
    "format": ("assay.formats", "FORMATS", "docs/formats.md"),
    "coefficient": ("assay.coefficients", "COEFFICIENTS", "docs/agreement.md"),
    "quality check": ("assay.quality", "CHECKS", "docs/quality.md"),
    "label rule": ("assay.aggregation", "RULES", "docs/agreement.md"),
    "connector": ("assay.connectors", "CONNECTORS", "docs/connectors.md"),
    "pool strategy": ("assay.strategies", "STRATEGIES", "docs/pooling.md"),
    "click model": ("assay.clicks", "CLICK_MODELS", "docs/clicks.md"),
    "metric": ("assay.metrics", "METRICS", "docs/metrics.md"),
    "judge": ("assay.llm.judges", "JUDGES", "docs/judges.md"),
    "drafter": ("judgments.queries.drafting", "DRAFTERS", "docs/queries.md"),
    "text metric": ("assay.text_metrics", "TEXT_METRICS", "docs/judges.md"),
    "significance test": ("assay.significance", "TESTS", "docs/significance.md"),
    "correction": ("assay.significance", "CORRECTIONS", "docs/significance.md"),
    "freshness signal": ("assay.staleness", "SIGNALS", "docs/freshness.md"),
    "RAG metric": ("assay.rag.metrics", "METRICS", "docs/rag.md"),
    "command": ("assay.cli", "COMMANDS", "docs/cli.md"),
}
NAMED_BY_NO_FEATURE = {"utils.py", "helpers.py", "common.py", "services.py", "misc.py"}


# Folders whose folders are features of their own.
NESTED = {"machines", "llm"}
# Families of many members, one file each.
LARGE = {"formats", "metrics", "cli"}
MOST_MODULES = 25
TOP_LEVEL = {"__init__.py", "apps.py", "urls.py", "admin.py", "hooks.py"}


def modules(*parts: str) -> Iterator[Path]:
    for part in parts:
        yield from sorted((ROOT / part).rglob("*.py"))


@cache
def imported(path: Path, *, top_level_only: bool = False) -> list[str]:
    """Every module that a file imports; with top_level_only those that importing the file really imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: list[str] = []
    for node in _executed(tree.body) if top_level_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += (f"{node.module}.{alias.name}" for alias in node.names)
    return names


def _executed(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        for name in ("body", "orelse", "finalbody"):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _executed(getattr(node, name, []) or [])


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_imports_point_one_way(part: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(part)
        for name in imported(path)
        if name.split(".")[0] in PARTS - {part} - MAY_IMPORT[part]
    ]
    assert wrong == []


@cache
def feature_of(name: str) -> str:
    """The feature, or the file at an app's top level, to which a module or a name in it belongs."""
    parts = name.split(".")
    depth = 3 if len(parts) > 2 and parts[1] in NESTED and ROOT.joinpath(*parts[:3]).is_dir() else 2
    place = ROOT.joinpath(*parts[:depth])
    return ".".join(parts[:depth]) if place.is_dir() or place.with_suffix(".py").exists() else parts[0]


def imported_features(path: Path) -> Iterator[str]:
    """Every feature that a file imports, those that it names as ``"module:attribute"`` included."""
    # Hooks import features for types only.
    yield from map(feature_of, imported(path, top_level_only=path.name == "hooks.py"))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            member = re.fullmatch(r"(\w+(?:\.\w+)+):\w+", node.value)
            yield from [feature_of(member[1])] if member else []


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components with more than one node."""
    reached = {node: set(others) for node, others in edges.items()}
    for middle in edges:
        for others in reached.values():
            others |= reached[middle] if middle in others else set()
    both = ({other for other in reached[node] if node in reached.get(other, ())} for node in edges)
    return [list(circle) for circle in sorted({tuple(sorted(circle)) for circle in both if circle})]


def test_circles_are_strongly_connected_components() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d", "x"}}) == [
        ["a", "b", "c"],
        ["d", "e"],
    ]


@pytest.mark.parametrize("app", APPS)
def test_features_import_one_way(app: str) -> None:
    edges: dict[str, set[str]] = {}
    for path in modules(app):
        feature = feature_of(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
        edges.setdefault(feature, set()).update(
            name for name in imported_features(path) if name != feature and name.split(".")[0] == app
        )
    assert len(edges) > 5
    assert circles(edges) == []


def test_no_folder_has_too_many_modules() -> None:
    paths = (path for path in modules("assay", *APPS) if path.name != "__init__.py")
    numbers = Counter(path.parent for path in paths if path.parent.name not in LARGE | {"migrations"})
    assert {str(folder.relative_to(ROOT)): n for folder, n in numbers.items() if n > MOST_MODULES} == {}


@pytest.mark.parametrize("app", APPS)
def test_an_app_has_only_folders_and_few_files_at_its_top_level(app: str) -> None:
    assert {path.name for path in (ROOT / app).iterdir() if path.is_file()} <= TOP_LEVEL


def test_the_library_works_without_django() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules("assay")
        for name in imported(path)
        if name.split(".")[0] in DJANGO
    ]
    assert wrong == []


def test_the_library_imports_other_libraries_where_they_are_needed() -> None:
    import sys

    known = set(sys.stdlib_module_names) | FAMILY_MAY_IMPORT | {"assay"}
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules("assay")
        for name in imported(path, top_level_only=True)
        if name.split(".")[0] not in known
    ]
    assert wrong == []


def test_no_module_is_named_by_no_feature() -> None:
    assert [path for path in modules(*MAY_IMPORT) if path.name in NAMED_BY_NO_FEATURE] == []


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
    pattern = re.compile(r"index.url|[\"']resolved[\"']:|https?://\S+/(?:simple|packages)/|/(?:root|home/\w+)/")
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


PAGES_OF_THE_TREE = ("docs/architecture.md", "docs/design-choices.md", "docs/database.md", "CONTRIBUTING.md")


@pytest.mark.parametrize("document", PAGES_OF_THE_TREE)
def test_the_files_that_the_architecture_names_are_there(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    names = re.findall(r"`(\w[\w.-]*/[\w./-]*|[\w.-]+\.(?:py|html|js|css|json|md|txt|lock|svg))`", text)
    assert names
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_the_functions_that_the_architecture_follows_are_in_the_files_that_it_names() -> None:
    missing = []
    for step in re.split(r"\n(?=\d+\. |\n)", (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")):
        files = re.findall(r"`([\w/-]+\.(?:py|js))`", step) if re.match(r"\d", step) else []
        code = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in files)
        defined = set(re.findall(r"^ *(?:(?:async|def|class) )*(\w+) *[(:=]", code, re.M))
        missing += [
            name for name in re.findall(r"`([\w.]+)`", step) if files and not defined.issuperset(name.split("."))
        ]
    assert missing == []


@pytest.mark.parametrize("part", ["assay", *APPS])
def test_the_picture_of_the_tree_shows_every_folder(part: str) -> None:
    group = ElementTree.parse(ROOT / "docs" / "tree.svg").find(f".//{{*}}g[@id='{part}']")
    assert group is not None
    names = [text.text or "" for text in group.findall(".//{*}text")]
    shown = {name.removesuffix("/") for name in names if name.endswith("/")} - {part}
    there = {path.parent.name for path in (ROOT / part).glob("*/__init__.py")}
    assert shown == there - {"models", "migrations", "management"}
