"""Tests of rank changes between runs, without details of documents the reader may still grade."""

from __future__ import annotations

import pytest
from django.core.cache import cache

from evaluation.scoring import rankings
from evaluation.scoring.rankings import Move
from judgments.snapshots import snapshots


@pytest.mark.parametrize(
    ("before", "after", "kind", "steps"),
    [(5, 3, "up", 2), (3, 5, "down", 2), (4, 4, "same", 0), (None, 1, "new", 0), (1, None, "gone", 0)],
)
def test_a_move_is_seen_from_the_second_run(before: int | None, after: int | None, kind: str, steps: int) -> None:
    move = Move(before, after)
    assert (move.kind, move.steps) == (kind, steps)


@pytest.mark.django_db
class TestAnswers:
    """Two runs over three judged documents: bm25 returns d0 d1 d2 d3, neural d1 d0 d4 d5."""

    @pytest.fixture
    def runs(self, snapshot):
        return list(snapshot.collection.runs.order_by("name"))

    def test_moves_reach_beyond_the_depth(self, snapshot, runs):
        result = rankings.answers(snapshot, runs, "q00", 1)
        (first,), (second,) = (side.places for side in result.rankings)
        assert (first.doc_id, first.move) == ("d0", Move(1, 2))
        assert (second.doc_id, second.move) == ("d1", Move(2, 1))
        assert result.moved == {"new": 0, "gone": 0, "up": 1, "down": 1, "same": 0}

    def test_one_run_or_three_have_no_moves(self, stage, snapshot, runs):
        assert rankings.answers(snapshot, runs[:1], "q00").moved == {}
        stage.run("third", "210")
        three = [*runs, snapshot.collection.runs.get(name="third")]
        assert rankings.answers(snapshot, three, "q00").moved == {}

    def test_hidden_documents_are_neither_graded_nor_counted(self, snapshot, runs):
        result = rankings.answers(snapshot, runs, "q01", hidden={"d0", "d2", "d5"})
        shown = {place.doc_id: (place.grade, place.hidden) for side in result.rankings for place in side.places}
        assert shown == {
            "d0": (None, True),
            "d1": (2, False),
            "d2": (None, True),
            "d3": (None, False),
            "d4": (1, False),
            "d5": (None, True),
        }
        assert result.hidden == 3
        assert [side.holes for side in result.rankings] == [1, 0]
        assert result.judged == 2  # of d0, d1, d2 and d4
        assert [place.doc_id for place in rankings.answers(snapshot, runs, "q01", 1, hidden={"d2"}).missed] == ["d4"]

    def test_labels_are_those_of_the_file_each_time(self, snapshot):
        first = snapshots.labels_of(snapshot)
        assert first["q00"]["d0"] == 3
        assert snapshots.labels_of(snapshot) == first
        cache.clear()
        assert snapshots.labels_of(snapshot) == first
