"""Tests of the discovery curve: counts, expected values at depth k, and visibility."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from assay.strategies.discovery_curve import discovery as count
from judgments.charts.charts import PHONE, Words
from judgments.models import Judgment, Membership, RoundRater
from judgments.queries import groups
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from pooling.pools import discovery
from pooling.pools.views.discovery import HIGH, WIDE, discovery_curve
from pooling.runs import runs as stored_runs
from tests.judgments.charts.vega_lite import layers_of
from tests.pooling.pools.growing_round import choose_all, make_growing, rate, relevant

Grow = Callable[..., Any]


@pytest.mark.parametrize("judged", [0, 1, 7, 5_000])
@pytest.mark.parametrize("sizes", [[], [1, 2], [4, 9, 16, 25], list(range(60, 6_000, 60))])
@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_every_mark_is_inside_the_picture(judged: int, sizes: list[int], width: float) -> None:
    result = count([(at % 3 == 0, 1 + at % 40) for at in range(judged)], sizes)
    chart = discovery_curve(result, "text learning", width)
    assert chart.width == width
    ends = [re.findall(r"(-?[\d.]+),(-?[\d.]+)", stroke.d) for stroke in chart.strokes]
    assert all(0 <= float(x) <= width and 0 <= float(y) <= HIGH for line in ends for x, y in line)
    assert all(
        begin >= 0 and end <= width and 0 <= word.y <= HIGH for word in chart.words for begin, end in [reach(word)]
    )
    assert f"{-(-judged // 3):,} relevant" in [word.text for word in chart.words]


def reach(word: Words) -> tuple[float, float]:
    """From where to where a text goes, a letter being six wide."""
    long = 6 * len(word.text)
    begin = word.x - {"start": 0, "middle": long / 2, "end": long}[word.anchor]
    return begin, begin + long


def test_documents_within_depth_k_by_hand() -> None:
    # Two runs: a b c and c d e. Depth 1 is {a, c}, depth 2 {a, b, c, d}. Judged were c, e, a, b; c and b are relevant.
    result = count([(True, 1), (False, 3), (False, 1), (True, 2)], [2, 4, 5])
    assert result.relevant == (1, 1, 1, 2)
    assert [(one.pairs, one.judged, one.relevant, one.unjudged) for one in result.depths] == [
        (2, 2, 1, 0),
        (4, 3, 2, 1),
        (5, 4, 2, 1),
    ]
    assert result.same_work() == result.depths[1]
    assert count([], [2]).same_work() is None


@pytest.fixture
def grow(db: None, store: Any, collection: Any, lead: Any, rater: Any) -> Grow:
    return lambda **options: make_growing(store, collection, lead, options.pop("raters", [rater]), **options)


def test_the_curve_follows_the_order_of_judging(grow: Grow, rater: Any, rater2: Any) -> None:
    row = grow(raters=[rater, rater2], ratings_per_pair=2)
    assert discovery.discovery_of(row.pool, [row.round]).judged == 0
    first = rate(row.round, rater, size=12)
    assert discovery.discovery_of(row.pool, [row.round]).judged == 0  # each of them waits for a second rating
    second: list[Any] = []
    while batch := rate(row.round, rater2, size=3):
        second += batch
    choose_all(row)
    result = discovery.discovery_of(row.pool, [row.round])
    good = [relevant(pair.document.doc_id) > 0 for pair in second]
    assert result.relevant == tuple(sum(good[: at + 1]) for at in range(len(good)))
    assert len(first) == len(second) == 12
    # The union of both runs, depth by depth, counted from the files.

    tables = [stored_runs.ranked(run).to_dict() for run in row.pool.runs.all()]
    for one in result.depths[:30:7]:
        pairs = {(q, d) for table in tables for q, docs in table.items() for d in list(docs)[: one.depth]}
        assert len(pairs) == one.pairs
        known = {(pair.query.query_id, pair.document.doc_id) for pair in second} & pairs
        assert (one.judged, one.relevant) == (len(known), sum(relevant(d) > 0 for _, d in known))


def test_discovery_is_hidden_from_raters(
    grow: Grow, rater: Any, lead: Any, engineer: Any, collection: Any, client_of: Any
) -> None:
    row = grow()
    choose_all(row)
    rate(row.round, rater)
    page = f"/rounds/{row.round.uuid}/discovery/"
    pool = f"/c/{collection.slug}/pools/{row.pool.uuid}/"
    shown = client_of(engineer).get(page).content.decode()
    assert "Relevant documents found" in shown
    assert "relevant document" in shown
    for address in (page, pool):
        svg = client_of(lead).get(f"{address}?picture=found")
        assert svg.headers["Content-Type"] == "image/svg+xml"
        lines = b"".join(client_of(lead).get(f"{address}?table=curve").streaming_content).decode().splitlines()
        assert len(lines) == 1 + 5
        curve, *_ = layers_of(client_of(lead).get(f"{address}?picture=found&format=vl.json"))
        assert [f"{row['judged']},{row['relevant']}" for row in curve[1:]] == lines[1:]
        depths = b"".join(client_of(lead).get(f"{address}?table=depths").streaming_content).decode().splitlines()
        assert len(depths) == 1 + 29  # the last documents of each stand higher in the other
    RoundRater.objects.create(round=row.round, user=lead, pseudonym="r09")
    for address in (page, pool):
        assert b"you may still rate these pairs" in client_of(lead).get(address).content
        for form in ("?picture=found", "?picture=found&format=vl.json", "?table=curve", "?table=depths"):
            answer = client_of(lead).get(address + form)
            content = b"".join(answer.streaming_content) if answer.streaming else answer.content
            assert b"<path" not in content or b"<html" in content
            assert b"$schema" not in content
            assert b"Relevant documents by" not in content
    rounds.close_round(row.round, actor=lead)
    assert b"relevant document" in client_of(lead).get(page).content


def test_a_pair_that_waits_in_another_round_hides_the_curve(
    grow: Grow, rater: Any, rater3: Any, lead: Any, collection: Any
) -> None:
    row = grow()
    rate(row.round, rater)
    assert not discovery.is_hidden_from(rater3, [row.round])
    pair = row.round.pairs.filter(judgments__isnull=False).first()
    candidates = [rounds.Candidate(pair.query, pair.document, {})]
    Membership.objects.filter(user=rater3).update(role="lead")
    other = rounds.create_round(
        collection, name="Again", candidates=candidates, provenance={}, guidelines=row.round.guidelines,
        actor=lead, raters=[rater3], ratings_per_pair=1,
    )  # fmt: skip
    other = rounds.open_round(other, actor=lead)
    assert discovery.is_hidden_from(rater3, [row.round])
    (held,) = assignment.claim_batch(other, rater=rater3)
    submission.submit(other, submission.Answer(uuid.uuid4(), held.uuid, 1), rater=rater3)
    assert not discovery.is_hidden_from(rater3, [row.round])
    assert Judgment.objects.filter(rater=rater3).count() == 1
    # The same document for another spelling of the need: where spellings share, one grade tells the other.
    spelling = collection.queries.exclude(pk=pair.query_id).order_by("query_id")[0]
    third = rounds.create_round(
        collection, name="Spelled", candidates=[rounds.Candidate(spelling, pair.document, {})], provenance={},
        guidelines=row.round.guidelines, actor=lead, raters=[rater3], ratings_per_pair=1,
    )  # fmt: skip
    rounds.open_round(third, actor=lead)
    assert not discovery.is_hidden_from(rater3, [row.round])
    groups.gather(collection, queries=[pair.query, spelling], name="rain", shares=True, actor=lead)
    assert discovery.is_hidden_from(rater3, [row.round])
