"""Test of a first evaluation: pasted results lead to nDCG with its interval."""

from __future__ import annotations

import math

import pytest

from evaluation.decisions import decisions
from evaluation.models import Score
from evaluation.overview.collection_state import Standing
from evaluation.overview.next_step import Look, next_act
from judgments.rounds import rounds
from pooling.rounds import quick_start
from pooling.rounds.quick_start import Result, Start

pytestmark = pytest.mark.django_db


def test_pasted_lists_are_scored_when_their_labels_are_frozen(
    stage, collection, lead, client_of, django_capture_on_commit_callbacks
):
    queries = [Start(f"query {n}", [Result(f"{n} {title}", "", "") for title in "abcde"]) for n in range(10)]
    run = quick_start.run_of(collection, quick_start.store_lists(collection, queries, actor=lead))
    settings = decisions.Settings()
    round_, _ = decisions.rate_one(run, actor=lead, name="First round", settings=settings, raters=[lead])
    stage.raters[:] = [lead]
    # The best document stands third under every second query, and first under the others.
    stage.graded(
        round_,
        lambda pair, _: 3 if pair.document.title.endswith("ac"[int(pair.query.text[-1]) % 2]) else 0,
        raters=1,
    )
    with django_capture_on_commit_callbacks(execute=True):
        snapshot = stage.frozen(rounds.close_round(round_, actor=lead))
    score = Score.objects.get(scoring__snapshot=snapshot, metric="nDCG@10")
    # 1 at rank 1, and 1 / log2(4) at rank 3.
    assert score.mean == pytest.approx((1 + 1 / math.log2(4)) / 2)
    assert 0 <= score.low < score.mean < score.high <= 1
    assert Score.objects.get(scoring__snapshot=snapshot, metric="Judged@10").mean == 1
    due = next_act(Look(Standing(collection), lead, "lead"))
    assert (due.key, due.act.url) == ("scores", f"/c/{collection.slug}/scores/")
    page = client_of(lead).get(due.act.url).context
    assert [line.row.mean for line in page["lines"]] == [score.mean]
