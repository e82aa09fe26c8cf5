"""Tests of text differences: both texts can be restored, changes within a line are shown by word."""

from __future__ import annotations

import random

import pytest

from judgments.guidelines import guidelines
from judgments.guidelines.guidelines import changes


def sides(changed):
    """Both texts, put together again from the pieces."""
    before = [line for line in changed if line.kind != "added"]
    after = [line for line in changed if line.kind != "removed"]
    return tuple(
        "\n".join("".join(piece.text for piece in line.pieces if piece.kind != other) for line in lines)
        for lines, other in ((before, "added"), (after, "removed"))
    )


def kinds(old, new):
    return [line.kind for line in changes(old, new)]


@pytest.mark.parametrize("seed", range(40))
def test_both_texts_can_be_put_together_again(seed):
    rng = random.Random(seed)
    words = ["a", "grade", "0", "1", "–", "(part)", "", "  ", "ß", "שלום"]

    def text():
        return "\n".join(" ".join(rng.choices(words, k=rng.randint(0, 6))) for _ in range(rng.randint(0, 12)))

    old, new = text(), text()
    if rng.random() < 0.5:  # mostly alike, as versions are
        lines = old.split("\n")
        lines[rng.randrange(len(lines))] = text()
        new = "\n".join(lines)
    assert sides(changes(old, new)) == (old, new)


def test_changed_line_lists_its_changed_words():
    assert kinds("a\nb\nc", "a\nb\nc") == ["kept"] * 3
    assert kinds("a\nc", "a\nb\nc") == ["kept", "added", "kept"]
    assert kinds("a\nb\nc", "a\nc") == ["kept", "removed", "kept"]
    (line,) = changes("- **A part:** 1 at most.", "- **A part:** 2 at most, never 3.")
    changed = [(piece.kind, piece.text) for piece in line.pieces if piece.kind != "kept"]
    assert changed == [("removed", "1"), ("added", "2"), ("added", ", never 3")]


def test_lines_with_nothing_in_common_are_two():
    assert kinds("Grade what was meant.", "## Freshness") == ["removed", "added"]


def test_long_texts_are_replaced_whole(monkeypatch):
    monkeypatch.setattr(guidelines, "MOST_LINES", 3)
    old, new = "same\n1\n2\n3\n4\nend", "same\n5\n6\n7\n8\nend"
    assert kinds(old, new) == ["kept", *["removed"] * 4, *["added"] * 4, "kept"]
    assert sides(changes(old, new)) == (old, new)
