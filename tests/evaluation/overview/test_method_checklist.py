"""Tests of the method checklist: each rule passes and fails."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from assay.coefficients import gate
from evaluation.overview import method_checklist
from judgments.guidelines import guidelines
from judgments.guidelines.guidelines import DEFAULT_TEMPLATE
from judgments.members import recorded_changes
from judgments.models import Query
from judgments.snapshots import snapshots
from tests.evaluation.stage import GUIDELINES, by_digit

pytestmark = pytest.mark.django_db


@pytest.fixture
def check(collection):
    def one(key):
        return next(check for check in method_checklist.checks(collection) if check.key == key)

    return one


def test_new_collection_breaks_nothing(collection):
    result = {check.key: check.state for check in method_checklist.checks(collection)}
    assert set(result.values()) <= {"todo", "done"}
    assert [key for key, state in result.items() if state == "done"] == ["unjudged"]


def test_drawn(stage, check):
    stage.drawn(head=1, torso=2, tail=3)
    assert (check("drawn").state, check("drawn").numbers) == ("done", "6 of 6, seed 17")
    stage.store("queries", "query_id,query\nx,typed\n", "queries.csv")
    assert (check("drawn").state, check("drawn").numbers) == ("warn", "6 of 7, seed 17")
    assert check("drawn").act_url.endswith("/query-logs/")


def test_tiers(stage, check):
    stage.drawn(head=1, torso=2, tail=3)
    assert check("tiers").state == "done"
    Query.objects.filter(tier="tail").update(tier="torso")
    assert check("tiers").state == "warn"
    Query.objects.update(tier="head")
    assert check("tiers").state == "fail"
    assert "only head queries" in check("tiers").numbers
    Query.objects.update(tier="")
    assert check("tiers").state == "warn"


def test_enough(stage, check):
    stage.queries(199)
    assert check("enough").state == "warn"
    stage.store("queries", "query_id,query\nx,one more\n", "more.csv")
    assert check("enough").state == "done"


def test_needs(stage, check):
    stage.queries(3, narrative="A tent for two")
    assert (check("needs").state, check("needs").numbers) == ("done", "3 of 3")
    stage.store("queries", "query_id,query\nx,one more\n", "more.csv")
    assert (check("needs").state, check("needs").numbers) == ("warn", "3 of 4")
    assert check("needs").act_url.endswith("/queries/?need=without")


@pytest.mark.parametrize(("runs", "state"), [(0, "warn"), (1, "fail"), (2, "done")])
def test_systems(stage, check, runs, state):
    stage.systems()
    stage.round(runs=runs)
    assert check("systems").state == state


def test_guidelines(collection, lead, check):
    guidelines.add_version(collection, markdown=DEFAULT_TEMPLATE, actor=lead)
    assert (check("versioned").state, "template" in check("versioned").numbers) == ("warn", True)
    guidelines.add_version(collection, markdown=GUIDELINES, actor=lead)
    assert check("versioned").state == "done"
    guidelines.add_version(collection, markdown="Use your head.", actor=lead)
    assert check("versioned").numbers == "version 3 has no example for grade 0, 1, 2, 3"


def test_one_rater_without_overlap(stage, check):
    stage.systems()
    stage.graded(stage.round(ratings_per_pair=1, raters=1), by_digit, raters=1)
    assert check("overlapping").state == "fail"
    assert "only one rater" in check("overlapping").numbers
    assert check("agreeing").state == "fail"
    assert check("agreeing").numbers.startswith("not defined: no pair was graded by two raters")


def test_two_raters_who_agree(stage, check):
    stage.whole_way()
    assert check("overlapping").state == "done"
    assert check("agreeing").state == "warn"
    assert check("agreeing").numbers.startswith("undecided, too little overlap: alpha 1.000")


def test_two_raters_who_do_not(stage, check, monkeypatch):
    for name in ("ENOUGH_UNITS", "ENOUGH_QUERIES"):
        monkeypatch.setattr(gate, name, 1)
    stage.systems()
    stage.graded(stage.round(), lambda pair, place: (3 * place + int(pair.document.doc_id[1:])) % 4)
    assert check("agreeing").state == "fail"
    assert check("settled").state == "warn"
    assert check("settled").act_label == "Resolve conflicts"


def test_unjudged_never_count_as_relevant(stage, check):
    assert check("unjudged").numbers == "true for every metric"
    stage.whole_way()
    assert check("unjudged").state == "done"
    assert check("unjudged").numbers.endswith(": 25%")


def test_holes(stage, check):
    stage.whole_way()
    assert check("few_holes").state == "warn"
    assert check("few_holes").numbers.startswith("25% of the top 10 of neural unjudged")
    stage.run("new", "6789")
    assert check("few_holes").state == "fail"


def test_documents_that_changed(stage, check):
    stage.whole_way()
    assert check("unchanged").state == "done"
    stage.store("documents", '{"doc_id": "d0", "title": "Another thing"}\n', "documents.jsonl")
    assert (check("unchanged").state, check("unchanged").numbers) == ("fail", "1 of 4 judged documents changed")


def test_judgments_older_than_an_embedding_change(stage, collection, check):
    stage.whole_way()
    before = timezone.now() - timedelta(days=1)
    recorded_changes.declare(collection, kind="embedding", happened_at=before, actor=stage.lead)
    assert check("same_embedding").state == "done"
    recorded_changes.declare(collection, kind="embedding", actor=stage.lead)
    assert check("same_embedding").state == "fail"
    assert "96 of 96 ratings are older" in check("same_embedding").numbers


def test_the_newest_snapshot_is_fresh_or_says_what_is_not(stage, check):
    assert check("fresh").state == "todo"
    stage.whole_way()
    assert check("fresh").state == "warn"
    assert check("fresh").numbers.startswith("incomplete, never checked; ")


def test_method_reads_a_bounded_number_of_times(stage, collection, django_assert_max_num_queries):
    round_ = stage.whole_way().rounds.get()
    for name in ("second", "third"):
        snapshots.freeze(collection, name=name, rounds=[round_], actor=stage.lead)
    with django_assert_max_num_queries(30):
        method_checklist.checks(collection)
