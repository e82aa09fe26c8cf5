"""Is a format known although some of its lines are odd?"""

from __future__ import annotations

import pytest

from judgments.formats import sniff


@pytest.mark.parametrize(
    ("name", "good", "odd"),
    [("trec-run", "q1 Q0 d1 1 2.5 a\n", "q1 Q0 d2 2 1.5\n"), ("trec-qrels", "q1 0 d1 3\n", "q1 0 d2 x 3 y\n")],
)
def test_one_odd_line_does_not_hide_the_format(name: str, good: str, odd: str):
    assert sniff((good * 2 + odd + good * 3).encode()) == name
    assert sniff((good + odd).encode()) != name
