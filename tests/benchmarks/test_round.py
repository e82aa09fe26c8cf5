"""Tests of the benchmarks of rounds, on their own database."""

from __future__ import annotations

import io
import json
import uuid
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from judgments.models import Judgment, Tally
from judgments.rating import assignment, submission
from judgments.rating.submission import Answer
from tests import migrated
from tests.world import make_world

FOLDER = Path(__file__).resolve().parent.parent.parent / "benchmarks"
QUICK = Namespace(quick=True, reps=1)


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Benchmarks are run as files: what stands beside them is found by its own name."""
    monkeypatch.syspath_prepend(str(FOLDER))


def migrated_first(databases: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each fresh database its tables at once."""
    empty = databases.fresh

    @contextmanager
    def with_tables(name: str) -> Iterator[dict[str, str]]:
        with empty(name) as environment:
            migrated.copied(Path(environment["ASSAY_VAR"], "bench.sqlite3"))
            yield environment

    monkeypatch.setattr(databases, "fresh", with_tables)


@pytest.fixture
def claiming(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    import claiming

    monkeypatch.setattr(claiming, "FEW", 2_000)
    migrated_first(claiming.databases, monkeypatch)
    return claiming


@pytest.fixture
def round_pages(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    import round_pages

    monkeypatch.setattr(round_pages, "FEW", 2_000)
    migrated_first(round_pages.databases, monkeypatch)
    return round_pages


@pytest.fixture
def station_load() -> ModuleType:
    import station_load

    return station_load


def test_claiming_has_a_row_for_each_act_and_no_verdict_on_a_small_round(claiming: ModuleType) -> None:
    rows = {row.case: row for row in claiming.rows(QUICK, "sqlite")}
    for who in ("rater with 200,000 answers", "new rater"):
        for order in ("each query to its end", "breadth first"):
            assert f"sqlite: claim, {who}, {order}" in rows
    for act in ("submit ten answers", "whole request, API batch", "whole request, station's next"):
        assert f"sqlite: {act}" in rows
    assert {row.verdict for row in rows.values()} == {"-"}
    assert all("p95" in row.measured and row.ratios[0] > 0 for row in rows.values())


def test_each_page_of_a_round_has_a_row_and_freezing_is_reported(round_pages: ModuleType) -> None:
    measured_rows = round_pages.measured("SQLite", QUICK)
    rows = {row.case.removeprefix("2,000 judgments, SQLite: "): row for row in measured_rows}
    pages = {"round_progress", "round_agreement", "conflicts", "rounds", "overview", "api_progress"}
    assert set(rows) == {*pages, "freeze preview", "freezing"}
    assert {row.against for name, row in rows.items() if name in pages} == {"300 ms"}


def test_the_percentile_is_that_of_the_times_in_milliseconds(station_load: ModuleType) -> None:
    times = [number / 1000 for number in range(1, 1001)]
    assert station_load.percentile(times, 0.95) == pytest.approx(950, abs=1)
    assert station_load.percentile(times[::-1], 0.5) == pytest.approx(500, abs=1)
    # Five slow ones of a hundred are what it is there for.
    assert station_load.percentile([0.01] * 94 + [2.0] * 6, 0.95) == pytest.approx(2000)
    assert station_load.percentile([0.01] * 97 + [2.0] * 3, 0.95) == pytest.approx(10)
    assert station_load.percentile([0.25], 0.95) == 250


def test_the_summary_of_a_measurement(station_load: ModuleType) -> None:
    crowd = station_load.rater_crowd.Crowd(recorded=["a"] * 120, errors=Counter({"ConnectionError": 3}))
    summary = station_load.words(crowd, [60.0, 12.5], 8.0, kill=False)
    assert summary.startswith("120 recorded once (15/s)")
    assert "server 60 %, raters 12 %" in summary
    assert "sent again after {'ConnectionError': 3}" in station_load.words(crowd, [60.0, 12.5], 8.0, kill=True)


@pytest.mark.django_db
def test_lost_doubled_or_miscounted_judgments_are_faults(
    station_load: ModuleType,
    collection: Any,
    lead: Any,
    engineer: Any,
    rater: Any,
    rater2: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In an open round of two ratings a pair, one pair of which has both."""
    world = make_world(collection, lead=lead, engineer=engineer, rater=rater, rater2=rater2)
    recorded = [str(one) for one in Judgment.objects.values_list("client_id", flat=True)]

    def faults(*more: str) -> list[str]:
        request = json.dumps({"round": str(world.round.uuid), "told": [*recorded, *more]})
        monkeypatch.setattr("sys.stdin", io.StringIO(request))
        return [fault for fault in station_load.check()["faults"] if fault]

    assert faults() == []
    assert faults(str(uuid.uuid4())) == ["1 acknowledged judgments are not there"]
    full = world.round.pairs.filter(pk=world.answer.pair_id)
    full.update(ratings_wanted=1)
    assert faults() == ["1 pairs have more ratings than room"]
    full.update(ratings_wanted=2)
    # The same answer under two raters' names: what sending again could come to.
    (pair,) = assignment.claim_batch(world.round, rater=rater, size=1)
    theirs = Judgment.objects.get(rater=rater2, pair=pair)
    submission.submit(world.round, Answer(theirs.client_id, pair.uuid, 1), rater=rater)
    assert faults() == ["1 judgments are there twice"]
    tally = Tally.objects.filter(round=world.round, rater=rater)
    tally.update(graded=tally.get().graded + 1)
    assert faults() == ["1 judgments are there twice", "1 tallies are not what counting says"]
