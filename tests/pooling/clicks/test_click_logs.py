"""Tests of click logs as a label source of their own."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage

from assay.core.errors import Conflict, NotValid
from judgments.imports import ingestion
from judgments.models import AuditRow, Collection, ImportedLabel, Judgment, LabelSource, Snapshot, Upload
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from pooling.clicks import agreement, label_sources
from pooling.models import ClickCount
from pooling.pools import pools
from tests import worked_example
from tests.pooling.clicks.example import COEC, LOG
from tests.world import grade_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def receive(example: Collection, lead: Any) -> Any:
    """``receive(content)``: a click log that was read and waits, in a collection with "rain jacket" and "tent"."""

    def read(content: bytes = LOG, filename: str = "clicks.csv", **more: Any) -> Upload:
        return ingestion.receive(
            example, kind="clicks", file=io.BytesIO(content), filename=filename, actor=lead, **more
        )

    return read


@pytest.fixture
def keep(receive: Any, lead: Any) -> Any:
    """``keep(content, cuts="1")``: the source that a log becomes."""

    def store(content: bytes = LOG, **options: Any) -> LabelSource:
        return LabelSource.objects.get(uuid=ingestion.store(receive(content), actor=lead, options=options)["id"])

    return store


def values(source: LabelSource) -> dict[tuple[str, str], float]:
    rows = source.labels.values_list("query__query_id", "document__doc_id", "value")
    return {(query, doc): value for query, doc, value in rows}


def test_the_report_comes_first_and_the_log_does_not_stay(receive: Any, lead: Any, example: Collection) -> None:
    upload = receive()
    figures = upload.preview["figures"]
    assert (figures["impressions"], figures["clicks"], figures["clicks per impression"]) == (300, 60, "20.0%")
    assert (figures["queries in the log"], figures["queries also in this collection"]) == (2, 1)
    assert figures["pairs with at least 30 impressions"] == 2
    assert upload.preview["rows"] == [["Rain Jacket", "d1", "100", "20"], ["Rain Jacket", "d2", "100", "5"]]
    assert not example.label_sources.exists()
    stored = ingestion.store(upload, actor=lead, options={"name": "May"})
    assert (stored["rows"], stored["name"]) == (2, "May")
    assert not default_storage.exists(upload.path)


def test_labels_are_a_source_of_clicks_and_no_judgments(keep: Any, example: Collection) -> None:
    source = keep(name="May")
    assert (source.kind, source.report["rules"]["model"], source.report["rules"]["strength"]) == ("clicks", "coec", 5.0)
    assert values(source) == pytest.approx({("q1", "d1"): COEC["d1"], ("q1", "d2"): COEC["d2"]})
    count = ClickCount.objects.get(label__source=source, label__document__doc_id="d1")
    assert (count.impressions, count.clicks, count.expected) == (100, 20, pytest.approx(30))
    assert count.estimate == pytest.approx(COEC["d1"])
    assert count.low < count.estimate < count.high
    assert [row[:3] for row in source.report["ranks"]] == [[1, 150, 45], [2, 150, 15]]
    assert not Judgment.objects.exists()
    # d3 and d4 belong to a query that is not here: no label, and no empty document for them.
    assert source.report["elsewhere"] == 2
    assert not example.documents.filter(doc_id="d4", stub=True, imported_labels__isnull=False).exists()
    with pytest.raises(NotValid, match="nothing to freeze"):
        snapshots.freeze(example, name="x", rounds=[], actor=source.created_by, sources=["imported"])


def test_the_same_log_by_other_rules_is_another_source(keep: Any, lead: Any, receive: Any) -> None:
    first = keep(name="May")
    other = keep(name="May, rates", model="ctr", least_impressions=100, strength=10.0)
    assert values(other) == pytest.approx({("q1", "d1"): (20 + 2) / 110, ("q1", "d2"): (5 + 2) / 110})
    assert first.sha256 != other.sha256
    for options, text in (({"name": "again"}, "with the same rules"), ({"name": "May"}, "called May")):
        with pytest.raises(Conflict, match=text):
            ingestion.store(receive(), actor=lead, options=options)


def test_invalid_requests_are_reported_by_field(receive: Any, lead: Any) -> None:
    for options, field in (
        ({"cuts": "2, 1"}, "cuts"),
        ({"cuts": "many"}, "cuts"),
        ({"baseline": "0.3"}, "baseline"),
        ({"baseline": "a lot"}, "baseline"),
        ({"least_impressions": 101}, "least_impressions"),
    ):
        with pytest.raises(NotValid) as caught:
            ingestion.store(receive(), actor=lead, options={"name": "x", **options})
        assert field in caught.value.fields, options
    assert not LabelSource.objects.exists()


def test_a_log_that_cannot_help_is_refused_and_does_not_stay(receive: Any, storage_folder: str) -> None:
    def stored() -> int:
        return sum(1 for path in (Path(storage_folder) / "uploads").iterdir() if path.is_file())

    before = stored()
    for content, expected in (
        (LOG.replace(b"ain", b"oom"), "2 queries, but none of them is in this collection"),
        (b"query,doc_id,position,clicked\nrain jacket,d1,1,1\n", "a click on every impression"),
    ):
        with pytest.raises(NotValid, match=expected):
            receive(content)
    assert stored() == before


def test_a_person_s_data_is_in_no_report(receive: Any) -> None:
    rows = b"rain jacket jo@example.org,d1,1,5,9\nrain jacket jo@example.org,d1,1,5,1\n"
    upload = receive(LOG + rows)
    assert upload.report["error_count"] == 1
    assert "jo@" not in repr(upload.report) + repr(upload.preview)
    assert upload.preview["figures"]["personal data removed: e-mail"] == 1


def test_queries_typed_alike_share_the_label_and_ids_are_taken_by_their_word(keep: Any, example: Collection) -> None:
    example.queries.create(query_id="q9", text="RAIN jacket")
    assert {query for query, _ in values(keep(name="by text"))} == {"q1", "q9"}
    by_id = b"query_id,doc_id,position,impressions,clicks\nq9,d1,1,100,20\nq7,d1,1,100,5\n"
    assert {query for query, _ in values(keep(by_id, name="by id"))} == {"q9"}


def test_grades_are_made_only_when_the_lead_asks(keep: Any, lead: Any) -> None:
    source = keep(name="May")
    made = label_sources.make_grades(source, actor=lead, name="May graded", cuts=(0.7, 1.2))
    assert values(made) == {("q1", "d1"): 1.0, ("q1", "d2"): 0.0}
    assert made.kind == "clicks"
    assert (made.report["rules"]["cuts"], made.report["made_from"]) == ([0.7, 1.2], "May")
    assert ClickCount.objects.filter(label__source=made).count() == 2
    assert values(source) == pytest.approx({("q1", "d1"): COEC["d1"], ("q1", "d2"): COEC["d2"]})
    assert AuditRow.objects.filter(verb="click_sources.make_grades").count() == 1
    with pytest.raises(Conflict, match="already has grades"):
        label_sources.make_grades(made, actor=lead, name="x", cuts=(1.0,))
    with pytest.raises(Conflict, match="with the same rules"):
        label_sources.make_grades(source, actor=lead, name="x", cuts=(0.7, 1.2))
    with pytest.raises(NotValid, match="threshold"):
        label_sources.make_grades(source, actor=lead, name="x", cuts=())
    # Cuts at the import say the same.
    assert values(keep(name="at once", cuts="0.7, 1.3")) == values(made)


def test_agreement_with_people(
    keep: Any, open_round: Any, pool: Any, guidelines: Any, rater: Any, lead: Any, engineer: Any
) -> None:
    """People grade d1 to d5 with 3 1 0 2 0. The log's labels rise with another order of three of them."""
    rows = [("d1", 40), ("d2", 10), ("d3", 20), ("d4", 30), ("d5", 5)]
    log = b"query,doc_id,position,impressions,clicks\n" + b"".join(
        f"rain jacket,{doc},1,100,{clicks}\n".encode() for doc, clicks in rows
    )
    source = keep(log, name="May")
    assert agreement.compare(source, reader=lead).reason == agreement.NO_PAIR
    grade_all(open_round, rater, worked_example.GRADES["r01"])
    assert agreement.compare(source, reader=lead).pairs == 0  # open rounds are not settled
    rounds.close_round(open_round, actor=lead)
    agreed = agreement.compare(source, reader=lead)
    assert (agreed.pairs, agreed.fitted, agreed.scale, agreed.rounds) == (5, True, (0, 1, 2, 3), ("Round 1",))
    # Cut into two 0s (d5, d2), one 1 (d3), one 2 (d4), one 3 (d1): people and clicks differ on d2 and d3.
    assert [(row.grade, row.pairs, row.by_clicks) for row in agreed.rows] == [
        (0, 2, (1, 1, 0, 0)),
        (1, 1, (1, 0, 0, 0)),
        (2, 1, (0, 0, 1, 0)),
        (3, 1, (0, 0, 0, 1)),
    ]
    # Quadratic kappa by hand: observed disagreement 2 / 5, expected 2 x variance of 0 0 1 2 3 (1.36) = 2.72.
    assert agreed.value == pytest.approx(1 - 0.4 / 2.72)
    graded = label_sources.make_grades(source, actor=lead, name="graded", cuts=agreed.cuts)
    again = agreement.compare(graded, reader=lead)
    assert (again.value, again.fitted) == (agreed.value, False)
    beyond = label_sources.make_grades(source, actor=lead, name="beyond", cuts=(0.1, 0.2, 0.3, 0.4))
    assert agreement.compare(beyond, reader=lead).reason == agreement.NO_GRADES
    # Whoever may still have to grade these pairs is told nothing that people's grades went into.
    second = pools.make_round(pool, actor=lead, name="Again", guidelines=guidelines, ratings_per_pair=1, raters=[lead])
    rounds.open_round(second, actor=lead)
    assert agreement.compare(graded, reader=lead).pairs == 0
    assert agreement.compare(graded, reader=engineer).pairs == 5
    # Nor of a pair that another one was judged for.
    held = second.pairs.get(query__query_id="q1", document__doc_id="d1")
    second.pairs.exclude(pk=held.pk).delete()
    assert agreement.compare(graded, reader=lead).pairs == 4
    held.origin = {**held.origin, "copies": [{"doc_id": "d2"}]}
    held.save()
    assert agreement.compare(graded, reader=lead).pairs == 3


def test_a_snapshot_takes_click_labels_only_by_their_name(
    keep: Any, example: Collection, store: Any, lead: Any
) -> None:
    labels = keep(name="May")
    graded = label_sources.make_grades(labels, actor=lead, name="May graded", cuts=(0.7,))
    store(example, "qrels", b"q1 0 d2 3\nq2 0 d9 1\n", "old.qrels")

    def frozen(name: str, named: tuple[str, ...] = ()) -> tuple[list[list[Any]], dict[str, Any], Snapshot]:
        made = snapshots.freeze(example, name=name, rounds=[], actor=lead, sources=["imported"], named=named)
        rows = [line.split() for line in made.read_file("qrels.txt").decode().splitlines()]
        return rows, made.manifest, made

    plain, manifest, first = frozen("plain")
    assert plain == [["q1", "2", "d2", "3"], ["q2", "2", "d9", "1"]]
    both, summary, _ = frozen("both", ("old.qrels", "May graded"))
    # d1 from the clicks; for d2 there is an import, and it stays.
    assert both == [["q1", "2", "d1", "1"], ["q1", "2", "d2", "3"], ["q2", "2", "d9", "1"]]
    old = example.label_sources.get(name="old.qrels")
    assert summary["provenance"]["label_sources"] == [graded.sha256, old.sha256]
    assert summary["consolidation"]["label_sources"] == ["old.qrels", "May graded"]
    assert manifest["provenance"]["label_sources"] == [old.sha256]
    # The same labels by name have the same identity, and names are no part of it.
    assert frozen("again", ("old.qrels",))[2].content_sha256 == first.content_sha256
    for named, sources, facts_field in (
        (("May",), ["imported"], "sources"),
        (("June",), ["imported"], "named"),
        (("May graded",), ["human"], "rounds"),
    ):
        with pytest.raises(NotValid) as caught:
            snapshots.freeze(example, name="x", rounds=[], actor=lead, sources=sources, named=named)
        assert facts_field in caught.value.fields


def test_several_thousand_labels(keep: Any, example: Collection) -> None:
    lines = "".join(f"tent,x{number},{number % 10 + 1},40,{number % 7}\n" for number in range(2_500))
    source = keep(b"query,doc_id,position,impressions,clicks\n" + lines.encode(), name="many")
    assert ImportedLabel.objects.filter(source=source).count() == ClickCount.objects.count() == 2_500
