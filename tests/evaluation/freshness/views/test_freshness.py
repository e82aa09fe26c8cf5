"""Tests of the freshness pages for leads and engineers, also with errors."""

from __future__ import annotations

import io
import json

import pytest
from django.urls import reverse
from django.utils import timezone

from assay.staleness import SIGNALS
from assay.staleness.report import Report
from assay.staleness.signal import Finding
from evaluation.freshness.freshness import Freshness
from evaluation.freshness.tables import signal_rows
from evaluation.scoring import scoring
from judgments.members import recorded_changes
from judgments.models import Declaration
from judgments.rounds import rounds
from pooling.models import Pool
from tests.cached_rows import cached_fixture
from tests.evaluation.stage import by_digit

pytestmark = pytest.mark.django_db
PAGE = "/c/shop/freshness/"


@pytest.fixture
@cached_fixture
def snapshot(stage):
    stage.queries(4)
    stage.documents()
    stage.run("bm25", "0123", 4)
    round_ = stage.round(runs=1, raters=1)
    stage.graded(round_, by_digit, raters=1)
    return stage.frozen(rounds.close_round(round_, actor=stage.lead))


def html(response):
    return " ".join(response.content.decode().split())


def test_before_a_snapshot_the_page_teaches(collection, client_of, engineer):
    assert "No snapshot yet" in html(client_of(engineer).get(PAGE))


def test_the_signals_their_act_and_the_pool_that_it_makes(stage, snapshot, client_of, lead, engineer, collection):
    stage.run("new", "6701", 4)
    page = html(client_of(lead).get(PAGE))
    assert "Create pool" in page
    assert "Unknown: the current documents of the index are unknown." in page
    assert "Create pool" not in html(client_of(engineer).get(PAGE))
    answer = client_of(lead).post(f"{PAGE}pool/", {"action": "judge-holes", "seed": "3"})
    pool = Pool.objects.first()
    assert answer.url == f"{reverse('round_new', args=['shop'])}?pool={pool.uuid}"
    assert (pool.seed, pool.entries.count()) == (3, 12)
    after = html(client_of(lead).get(PAGE))
    assert f'<a href="{reverse("pool", args=["shop", pool.uuid])}">A pool of 12 pairs</a> was created for' in after
    assert ("Create another pool" in after, "Create pool" in after) == (True, False)
    for data in ({"action": "judge-changed"}, {"action": "nonsense"}, {"action": "overlap", "seed": "-1"}):
        refused = client_of(lead).post(f"{PAGE}pool/", data, follow=True)
        assert refused.redirect_chain[-1][0] == PAGE
        assert [str(one) for one in refused.context["messages"]]
    assert Pool.objects.count() == 2
    # Who stood at an older snapshot stays there.
    stage.frozen(snapshot.rounds.get(), "second")
    data = {"action": "judge-changed", "snapshot": str(snapshot.uuid)}
    assert client_of(lead).post(f"{PAGE}pool/", data).url == f"{PAGE}?snapshot={snapshot.uuid}"


def test_files_and_api_tell_what_the_page_tells(stage, snapshot, client_of, api_of, engineer):
    file = json.loads(client_of(engineer).get(f"{PAGE}?format=json").content)
    assert file == api_of(engineer).get(f"/api/v1{PAGE.replace('/c/', '/collections/')}").json()
    rows = client_of(engineer).get(f"{PAGE}?format=signals.csv").getvalue().decode().splitlines()
    assert len(rows) == 13
    assert "bm25" in client_of(engineer).get(f"{PAGE}?format=csv").getvalue().decode()


def test_a_new_category_is_drawn_by_the_words_of_its_titles(stage, snapshot, client_of, lead, collection):
    """Its name has two parts, which no query holds; the titles of a list field count too."""
    client = client_of(lead)
    assert client.get(f"{PAGE}stratum/").url == "/c/shop/strata/?"
    new = [
        {
            "doc_id": f"k{n}",
            "title": f"Kayak {n} for two",
            "fields": {"category": ["Water > Boats"] if n else "Water > Boats"},
        }
        for n in range(6)
    ]
    stage.store("documents", "".join(json.dumps(one) + "\n" for one in new), "new.jsonl")
    stage.drawn(head=1, torso=1, tail=1)
    recorded_changes.declare(collection, kind="category", note="Water > Boats", actor=lead)
    page = client.get(PAGE)
    (act,) = [act for act in page.context["acts"] if act["act"].name == "new-stratum"]
    assert act["url"] in html(page)
    form = client.get(act["url"], follow=True).context["form"]
    log = collection.query_logs.get()
    assert {name: form[name].value() for name in ("name", "words", "log")} == {
        "name": "Water > Boats",
        "words": "kayak",
        "log": str(log.uuid),
    }


def test_recorded_and_counted_changes_have_their_own_columns():
    detail = ({"on": "2026-03-01", "note": "boats"}, {"category": "boats", "documents": 1_200})
    report = Report((Finding(SIGNALS["category"], "stale", 1.0, 0.0, "said", None, detail),), ())
    (row,) = signal_rows(Freshness(report, None))
    assert row["columns"] == ["On", "Note", "Category", "Documents"]
    assert [[text for text, _ in line] for line in row["lines"]] == [
        ["2026-03-01", "boats", "", ""],
        ["", "", "boats", "1,200"],
    ]
    assert [number for _, number in row["lines"][1]] == [False, False, False, True]


def test_declaring_and_taking_back(snapshot, client_of, lead, collection):
    client, today = client_of(lead), timezone.now().date().isoformat()
    lacking = client.post(f"{PAGE}declare/", {"kind": "category", "on": today})
    assert (lacking.status_code, "Enter the name of the new category." in html(lacking)) == (422, True)
    early = client.post(f"{PAGE}declare/", {"kind": "schema", "on": "2999-01-01"})
    assert (early.status_code, list(early.context["form"].errors)) == (422, ["on"])
    assert client.post(f"{PAGE}declare/", {"kind": "schema", "on": today, "note": "<b>stemmer</b>"}).status_code == 302
    page = html(client.get(PAGE))
    assert "&lt;b&gt;stemmer&lt;/b&gt;" in page
    assert "No run has been added since that change." in page
    row = Declaration.objects.get()
    assert client.post(f"{PAGE}declare/{row.uuid}/withdraw/").status_code == 302
    assert client.post(f"{PAGE}declare/{row.uuid}/withdraw/").status_code == 409
    assert "withdrew" in html(client.get(PAGE))


def test_handing_in_a_reply_and_what_is_none(snapshot, client_of, engineer):
    client = client_of(engineer)

    def hand_in(content, what="unrated"):
        return client.post(f"{PAGE}feed/", {"what": what, "file": io.BytesIO(content), "name": "live"})

    hits = [{"hit": {"_id": "d0"}}, {"hit": {"_id": "d7"}}]
    reply = {"details": {"q00": {"unrated_docs": [{"_id": "d7"}], "hits": hits}}}
    assert hand_in(json.dumps(reply).encode()).url == PAGE
    assert "50% of the top 10 of live unjudged" in html(client.get(PAGE))
    for content, what in ((b"<html>502", "unrated"), (b"", "index"), (b"\xff\xfe", "index"), (b"other\n", "index")):
        assert hand_in(content, what).status_code == 422
    assert hand_in(b"d0\nd1\n", "index").url == PAGE
    assert "1 of 3 judged documents is missing" in html(client.get(PAGE))


def test_scores_name_their_snapshot(stage, snapshot, client_of, engineer, collection):
    scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer, metrics=["nDCG@10"])
    client = client_of(engineer)
    # A quarter of what bm25 returns was not judged from the beginning: nothing went stale.
    so_then = "The labels of first are incomplete, as they already were when they were frozen."
    assert so_then in html(client.get("/c/shop/scores/"))
    assert "unchanged since the labels were frozen" in html(client.get(PAGE))
    assert "judge documents without labels in first" in html(client_of(stage.lead).get("/c/shop/"))
    stage.run("new", "6701", 4)
    scoring.score_runs(snapshot, list(collection.runs.all()), actor=engineer, metrics=["nDCG@10"])
    for page in ("scores/", "scores/compare/", "scores/history/", "scores/query/?query=q00", "scores/reuse/"):
        assert "The labels of first are stale." in html(client.get(f"/c/shop/{page}")), page
