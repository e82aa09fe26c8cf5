"""Tests of the label rule of a round: choice, audit row, preview of effects, warnings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from assay.core.errors import NotValid
from judgments.agreement import resolutions
from judgments.rating import assignment
from judgments.snapshots import bundle, final_labels, snapshots
from judgments.snapshots.final_labels import Consolidation
from judgments.snapshots.freeze_preview import compare_rules

pytestmark = pytest.mark.django_db
NEW = "/c/shop/snapshots/new/"


@pytest.fixture
def rated(make_round: Callable[..., Any], answer: Callable[..., Any], rater: Any, rater2: Any) -> Any:
    """Four pairs: 0 and 3; 2 and 2; nobody can judge the third; one grade and one who cannot."""
    round_ = make_round(queries=1, documents=4, raters=[rater, rater2])
    for user, given in ((rater, (0, 2, None, 1)), (rater2, (3, 2, None, None))):
        for pair in sorted(assignment.claim_batch(round_, rater=user, size=10), key=lambda one: one.position):
            grade = given[pair.position]
            answer_fields = {"state": "unrateable", "reason": "document broken"} if grade is None else {}
            answer(round_, user, pair, grade, **answer_fields)
    return round_


def grades(round_: Any, **more: Any) -> list[int]:
    return [one.grade for one in final_labels.compute_labels(round_.collection, [round_], **more).labels]


def test_unrateable_pairs_are_left_out_or_lowest(rated: Any) -> None:
    assert grades(rated) == [0, 2, 1]
    assert grades(rated, unrateable="zero") == [0, 2, 0, 1]
    zero_preview = final_labels.compute_labels(rated.collection, [rated], unrateable="zero")
    assert (zero_preview.zeroed, zero_preview.unrateable, zero_preview.without_rating) == (1, 2, 1)
    with pytest.raises(NotValid, match="one"):
        final_labels.compute_labels(rated.collection, [rated], unrateable="one")


def test_the_choice_is_on_record_and_an_old_hash_stays(rated: Any, lead: Any, tmp_path: Path, capsys: Any) -> None:
    usual = snapshots.freeze(rated.collection, name="usual", rounds=[rated], actor=lead)
    assert "unrateable" not in usual.manifest["provenance"]["consolidation"]
    zero = snapshots.freeze(rated.collection, name="zero", rounds=[rated], actor=lead, unrateable="zero")
    assert zero.content_sha256 != usual.content_sha256
    assert zero.manifest["consolidation"]["unrateable"] == "zero"
    assert zero.manifest["counts"]["unrateable_as_zero"] == 1
    assert "1 unrateable pair labeled with the lowest grade" in zero.manifest["warnings"]
    ratings = tmp_path / "ratings.csv"
    ratings.write_bytes(zero.read_file("ratings.csv"))
    for name, frozen in (("excluded", usual), ("zero", zero)):
        assert main(["aggregate", str(ratings), "--unrateable", name]) == 0
        assert capsys.readouterr().out.encode() == frozen.read_file("qrels.txt")


def test_the_labels_of_every_rule_are_counted(rated: Any, lead: Any) -> None:
    how = Consolidation("median")
    judged = final_labels.read(rated.collection, [rated], how)
    effects = {one.rule: one for one in compare_rules(judged, how.rule)}
    assert effects["median"].differ == 0
    assert (effects["max"].raised, effects["max"].by_grade) == (1, {1: 1, 2: 1, 3: 1})
    assert (effects["majority"].gone, effects["majority"].labels) == (1, 2)
    resolutions.resolve(rated.pairs.get(position=0), grade=2, reason="Seen together.", actor=lead)
    again = final_labels.read(rated.collection, [rated], how)
    assert all(one.differ == 0 for one in compare_rules(again, how.rule) if one.rule != "dawid-skene")


def test_a_rule_that_leaves_ties_open_and_one_that_wants_more_grades_are_doubted(rated: Any) -> None:
    def doubts(rule: str) -> str:
        preview = final_labels.compute_labels(rated.collection, [rated], rule=rule)
        return " ".join(bundle.doubts(preview, Consolidation(rule), stale=0))

    assert "1 pair with grades for which the label rule gives no label" in doubts("majority")
    assert "only 1.7" in doubts("dawid-skene")
    assert "Dawid" not in doubts("median")


def test_the_page_shows_all_rules_and_takes_the_choice(rated: Any, lead: Any, client_of: Any) -> None:
    client = client_of(lead)
    form_values = {"rounds": rated.uuid, "rule": "median", "sources": "human", "merge": "newest", "unrateable": "zero"}
    page = client.get(NEW, form_values).content.decode()
    assert "Freeze 4 labels" in page
    assert "Labels under other rules" in page
    client.post(NEW, {**form_values, "name": "zero"})
    frozen = rated.collection.snapshots.get()
    assert frozen.summary["labels"] == 4
    assert "1 pair labeled with the lowest grade" in client.get(f"/snapshots/{frozen.uuid}/").content.decode()
    body = client.post(
        "/api/v1/collections/shop/snapshots/preview/",
        {"rounds": [str(rated.uuid)], "unrateable": "zero"},
        content_type="application/json",
    ).json()
    assert (body["labels"], body["unrateable_as_zero"], body["can_freeze"]) == (4, 1, True)
    assert {one["rule"]: one["raised"] for one in body["rules"]}["max"] == 1


def test_command_notes_few_grades_per_pair(rated: Any, lead: Any, tmp_path: Path, capsys: Any) -> None:
    ratings = tmp_path / "ratings.csv"
    ratings.write_text("query_id,doc_id,rater,grade\nq,a,r1,1\nq,a,r2,0\nq,b,r1,1\nq,b,r2,1\n")
    assert main(["aggregate", str(ratings), "--rule", "dawid-skene"]) == 0
    assert "2.0 grades per pair are too few" in capsys.readouterr().err
