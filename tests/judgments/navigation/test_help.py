"""Tests of the help pages."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from django.urls import resolve
from django.urls.exceptions import Resolver404

from judgments.navigation import help as docs

NAMES = sorted(
    str(path.relative_to(docs.DOCS).with_suffix("")) for path in docs.DOCS.rglob("*.md") if "pictures" not in path.parts
)


def test_the_links_and_pictures_of_every_page_lead_somewhere() -> None:
    assert len(NAMES) > 30
    wrong = []
    for name in NAMES:
        for address in re.findall(r'(?:href|src)="([^"]*)"', docs.page_of(name).html):
            if not address.startswith(("https://", "http://", "mailto:")) and not leads_somewhere(name, address):
                wrong.append((name, address))
    assert wrong == []


def leads_somewhere(name: str, address: str) -> bool:
    path, _, anchor = address.partition("#")
    try:
        match = resolve(path) if path else None
    except Resolver404:
        return False
    if match is not None and match.url_name == "help_file":
        return docs.file_of(match.kwargs["name"]).is_file()
    target = name if match is None else match.kwargs.get("name", docs.FALLBACK)
    return not anchor or anchor in docs.page_of(target).anchors


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Read-only PostgreSQL", "read-only-postgresql"),
        ("Qualification, and “rater quality”", "qualification-and-rater-quality"),
        ("`gate.rules` — Größe", "gaterules-groe"),
    ],
)
def test_anchors_are_those_of_mkdocs(heading: str, anchor: str) -> None:
    toc = pytest.importorskip("markdown.extensions.toc")
    plain = heading.replace("`", "")
    assert docs.anchor_of(plain, Counter()) == anchor == toc.slugify(plain, "-")


def test_a_repeated_heading_gets_its_own_anchor() -> None:
    seen: Counter[str] = Counter()
    assert [docs.anchor_of("Output", seen) for _ in range(3)] == ["output", "output_1", "output_2"]


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["nowhere", "../README", "%2e%2e/pyproject", "rounds.md", "tutorials"])
def test_an_unknown_page_is_a_404(client: Any, name: str) -> None:
    assert client.get(f"/help/{name}/").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["pictures/nothing.png", "index.md", "../pyproject.toml", "pictures/"])
def test_only_files_of_the_docs_are_served(client: Any, name: str) -> None:
    assert client.get(f"/help-files/{name}").status_code == 404
