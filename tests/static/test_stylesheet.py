"""Tests of the stylesheet: contrast of the colors, and colors only in tokens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CSS = Path(__file__).parents[2] / "static" / "css"
TOKENS = (CSS / "tokens.css").read_text(encoding="utf-8")
PAIRS = (
    dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}), #\w{6}\)", TOKENS)),
    dict(re.findall(r"--([\w-]+): light-dark\(#\w{6}, (#\w{6})\)", TOKENS)),
)
GROUNDS = ("ground", "surface", "sunken")
AAA = [(ink, ground) for ink in ("ink", "ink-2") for ground in GROUNDS]
AA = [
    *[(ink, ground) for ink in ("ink-3", "accent", "danger", "warning") for ground in GROUNDS],
    *[("on-accent", "accent"), ("on-accent", "accent-hover"), ("accent", "accent-soft"), ("ink-3", "accent-soft")],
    *[("warning", "warning-soft"), ("danger", "danger-soft")],
    *[(f"on-grade-{grade}", f"grade-{grade}") for grade in range(4)],
    *[("on-grade-1", f"ramp-{eighth}") for eighth in (1, 2, 3)],
    *[("on-grade-2", f"ramp-{eighth}") for eighth in (5, 6, 7)],
]


def luminance(color: str) -> float:
    """Relative luminance of WCAG 2."""
    shares = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "ground", "least"), [(*pair, 7) for pair in AAA] + [(*pair, 4.5) for pair in AA])
def test_text_can_be_read(theme, ink, ground, least):
    colors = PAIRS[theme]
    assert contrast(colors[ink], colors[ground]) >= least


def test_middle_of_the_ramp_can_be_read():
    light, dark = PAIRS
    assert contrast(light["on-grade-1"], light["ramp-4"]) >= 4.5
    assert contrast(dark["on-grade-2"], dark["ramp-4"]) >= 4.5


@pytest.mark.parametrize("path", sorted(CSS.glob("*.css")), ids=lambda path: path.name)
def test_only_tokens_contain_literal_colors(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    colors = re.findall(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl)a?\(", text)
    assert path.name == "tokens.css" or not colors
    assert "!important" not in text
