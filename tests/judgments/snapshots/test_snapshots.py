"""Tests of snapshots: equal hashes for equal inputs, immutability, completeness, no personal data."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection, transaction

from assay.cli import main
from assay.core.errors import AssayError, Conflict, NotFound, NotValid
from judgments.agreement import resolutions
from judgments.guidelines import guidelines
from judgments.models import AuditRow, Judge, MachineJudgment, Snapshot
from judgments.rating import assignment
from judgments.snapshots import final_labels, snapshots
from tests.cached_rows import cached_fixture
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
@cached_fixture
def rated(make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, rater2: Any) -> Any:
    """Two raters, two queries with three documents; the second rater is a step higher on the first query."""
    round_ = make_round(queries=2, documents=3, raters=[rater, rater2])
    rate_all(round_, rater, 1)
    rate_all(round_, rater2, lambda pair: 2 if pair.query.query_id == "q1" else 1)
    return round_


@pytest.fixture
def freeze(rated: Any, lead: Any) -> Callable[..., Snapshot]:
    def make(name: str = "one", **options: Any) -> Snapshot:
        options.setdefault("rounds", [rated])
        return snapshots.freeze(rated.collection, name=name, actor=lead, **options)

    return make


def test_the_same_inputs_give_the_same_hash_under_another_name(freeze: Callable[..., Snapshot]) -> None:
    assert freeze("one").content_sha256 == freeze("two").content_sha256


def test_another_rule_or_another_label_gives_another_hash(
    freeze: Callable[..., Snapshot], rated: Any, lead: Any
) -> None:
    median, highest = freeze("median"), freeze("highest", rule="max")
    resolutions.resolve(rated.pairs.first(), grade=3, reason="Just what was asked for.", actor=lead)
    settled = freeze("settled")
    assert len({median.content_sha256, highest.content_sha256, settled.content_sha256}) == 3


def test_the_hash_holds_no_name_time_or_pseudonym(freeze: Callable[..., Snapshot], rated: Any) -> None:
    before = freeze("one").content_sha256
    rated.name = "Another name"
    rated.save()
    rated.raters.filter(pseudonym="r01").update(pseudonym="r09")
    rated.collection.slug = "elsewhere"
    rated.collection.save()
    assert freeze("two").content_sha256 == before


def test_the_lower_median_decides_and_conflicts_are_reported(freeze: Callable[..., Snapshot]) -> None:
    snapshot = freeze()
    qrels = snapshots.export(snapshot, "trec-qrels")[1].decode().splitlines()
    assert qrels == [f"q{query} 0 d{query}-{place} 1" for query in (1, 2) for place in (1, 2, 3)]
    assert snapshot.summary["conflicts"] == 3
    assert "3 conflicts unresolved and labeled by the label rule" in snapshot.manifest["warnings"]


def test_an_adjudication_wins_over_the_rule(freeze: Callable[..., Snapshot], rated: Any, lead: Any) -> None:
    pair = rated.pairs.first()
    resolutions.resolve(pair, grade=0, reason="Another product.", actor=lead)
    resolutions.resolve(pair, grade=3, reason="Seen again: it is the product.", actor=lead)
    assert "q1 0 d1-1 3" in snapshots.export(freeze(), "trec-qrels")[1].decode().splitlines()


def test_an_unrateable_pair_is_left_out_and_counted(
    make_round: Callable[..., Any], answer: Callable[..., Any], rater: Any, lead: Any
) -> None:
    round_ = make_round(queries=1, documents=2, raters=[rater], ratings_per_pair=1)
    one, two = assignment.claim_batch(round_, rater=rater, size=2)
    answer(round_, rater, one, 2)
    answer(round_, rater, two, None, state="unrateable", reason="document broken")
    snapshot = snapshots.freeze(round_.collection, name="one", rounds=[round_], actor=lead)
    assert snapshot.summary["labels"] == 1
    assert snapshot.manifest["counts"]["unrateable"] == 1
    assert b" -1" not in snapshots.export(snapshot, "trec-qrels")[1]


def test_a_machines_grade_is_no_label(freeze: Callable[..., Snapshot], rated: Any) -> None:
    before = freeze("one").content_sha256
    judge = Judge.objects.create(collection=rated.collection, name="overlap", kind="token_overlap")
    for pair in rated.pairs.all():
        MachineJudgment.objects.create(judge=judge, pair=pair, outcome="graded", grade=3)
    assert freeze("two").content_sha256 == before


def test_imported_labels_are_used_on_request_and_marked(
    freeze: Callable[..., Snapshot], store_file: Callable[..., Any]
) -> None:
    store_file("qrels", "q1 0 d1-1 3\nq1 0 d9 2\n", "old.txt")
    human = snapshots.export(freeze("human"), "trec-qrels")[1].decode()
    both = snapshots.export(freeze("both", sources=["human", "imported"]), "trec-qrels")[1].decode()
    assert "d9" not in human
    assert "q1 2 d9 2" in both.splitlines()
    assert "q1 0 d1-1 1" in both.splitlines()


def test_the_manifest_lists_every_file_with_its_hash(freeze: Callable[..., Snapshot]) -> None:
    name, body = snapshots.export(freeze(), "bundle")
    archive = zipfile.ZipFile(io.BytesIO(body))
    manifest = json.loads(archive.read("manifest.json"))
    listed = {entry["path"]: entry for entry in manifest["files"]}
    assert name.endswith(".zip")
    assert set(archive.namelist()) == {"manifest.json", *listed}
    for path, entry in listed.items():
        content = archive.read(path)
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (entry["sha256"], entry["bytes"])


def test_two_exports_are_the_same_bytes(freeze: Callable[..., Snapshot]) -> None:
    snapshot = freeze()
    for format in [*snapshots.FILES, "bundle"]:
        assert snapshots.export(snapshot, format) == snapshots.export(snapshot, format)


def test_no_rater_is_named_in_any_byte(freeze: Callable[..., Snapshot], rater: Any, rater2: Any) -> None:
    archive = zipfile.ZipFile(io.BytesIO(snapshots.export(freeze(), "bundle")[1]))
    everything = b"".join(archive.read(name) for name in archive.namelist())
    assert b"r01" in everything
    for user in (rater, rater2):
        assert user.username.encode() not in everything
        assert str(user.uuid).encode() not in everything


def test_a_snapshot_never_changes(freeze: Callable[..., Snapshot]) -> None:
    snapshot = freeze()
    snapshot.name = "other"
    with pytest.raises(TypeError):
        snapshot.save()
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE judgments_snapshot SET name = 'other'")


def test_a_file_changed_in_storage_is_not_served(freeze: Callable[..., Snapshot]) -> None:
    snapshot = freeze()
    path = default_storage.path(f"{snapshot.folder}/qrels.txt")
    with open(path, "a", encoding="utf-8") as file:
        file.write("q1 0 d1 3\n")
    with pytest.raises(AssayError, match="changed after freezing"):
        snapshots.export(snapshot, "trec-qrels")


def test_a_name_is_taken_once_and_an_export_is_known(freeze: Callable[..., Snapshot]) -> None:
    snapshot = freeze("one")
    with pytest.raises(Conflict, match="named one already exists"):
        freeze("one")
    with pytest.raises(NotFound, match="trec-qrels"):
        snapshots.export(snapshot, "xml")


def test_freezing_without_labels_is_refused(make_round: Callable[..., Any], rater: Any, lead: Any) -> None:
    round_ = make_round(raters=[rater])
    with pytest.raises(NotValid, match="nothing to freeze"):
        snapshots.freeze(round_.collection, name="one", rounds=[round_], actor=lead)


def test_the_newest_round_wins_and_other_guidelines_can_be_refused(
    rated: Any, make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, lead: Any
) -> None:
    guidelines.add_version(rated.collection, markdown="Grade anew.", actor=lead)
    second = make_round(queries=1, documents=1, raters=[rater], name="Round 2", ratings_per_pair=1)
    rate_all(second, rater, 3)
    merged = final_labels.compute_labels(
        rated.collection, [second, rated], rule="median", merge="newest", sources=["human"]
    )
    assert {(label.query_id, label.doc_id): label.grade for label in merged.labels}["q1", "d1-1"] == 3
    with pytest.raises(NotValid, match="different guidelines"):
        final_labels.compute_labels(
            rated.collection, [second, rated], rule="median", merge="same-guidelines", sources=["human"]
        )


def test_freezing_is_on_record(freeze: Callable[..., Snapshot], lead: Any) -> None:
    snapshot = freeze()
    row = AuditRow.objects.filter(verb="snapshots.freeze").get()
    assert (row.actor, row.target_uuid) == (lead, snapshot.uuid)
    assert row.detail["content_sha256"] == snapshot.content_sha256


@pytest.mark.parametrize("name", ["a\nb", "a\x07", "a\x00b"])
def test_a_name_with_a_control_character_is_refused(freeze: Callable[..., Snapshot], name: str) -> None:
    with pytest.raises(NotValid, match="control character"):
        freeze(name=name)


@pytest.mark.django_db(transaction=True)
def test_an_answer_waits_until_a_bundle_is_whole(
    freeze: Callable[..., Snapshot], rated: Any, rater: Any, answer: Callable[..., Any]
) -> None:
    order: list[str] = []

    def change_mind() -> None:
        try:
            answer(rated, rater, rated.pairs.first(), 3)
            order.append("answered")
        finally:
            connection.close()

    thread = threading.Thread(target=change_mind)
    with transaction.atomic():
        snapshot = freeze()
        thread.start()
        thread.join(0.5)
        order.append("frozen")
    thread.join()
    assert order == ["frozen", "answered"]
    assert b"q1 0 d1-1 1" in snapshot.read_file("qrels.txt")


@pytest.mark.django_db(transaction=True)
def test_of_two_snapshots_of_one_name_at_once_the_slower_is_refused(freeze: Callable[..., Snapshot]) -> None:
    ends = at_once(*[lambda: freeze("autumn")] * 2)
    assert sorted(isinstance(end, Conflict) for end in ends) == [False, True]


def test_the_labels_can_be_made_again_from_the_ratings(
    freeze: Callable[..., Snapshot], rated: Any, lead: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    resolutions.resolve(rated.pairs.first(), grade=2, reason="A first look.", actor=lead)
    resolutions.resolve(rated.pairs.first(), grade=3, reason="Just what was asked for.", actor=lead)
    frozen, ratings = freeze(), tmp_path / "ratings.csv"
    ratings.write_bytes(frozen.read_file("ratings.csv"))
    assert main(["aggregate", str(ratings), "--rule", "median"]) == 0
    assert capsys.readouterr().out.encode() == frozen.read_file("qrels.txt")
    assert "adjudicator,adjudicated,1," in ratings.read_text()
    assert lead.username not in ratings.read_text()


def test_a_rater_of_two_rounds_has_one_rating_per_pair(
    rated: Any, make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, lead: Any
) -> None:
    second = make_round(queries=1, documents=1, raters=[rater], name="Round 2", ratings_per_pair=1)
    rate_all(second, rater, 3)
    snapshot = snapshots.freeze(rated.collection, name="both", rounds=[rated, second], actor=lead)
    rows = list(csv.DictReader(io.StringIO(snapshots.export(snapshot, "ratings-csv")[1].decode())))
    keys = [(row["query_id"], row["doc_id"], row["rater_id"]) for row in rows]
    assert len(keys) == len(set(keys)) == 12
    assert "3" in [row["grade"] for row in rows if row["doc_id"] == "d1-1"]


def test_imported_labels_off_the_scale_are_refused_and_their_files_are_part_of_the_hash(
    freeze: Callable[..., Snapshot], store_file: Callable[..., Any]
) -> None:
    store_file("qrels", "q1 0 d9 2\n", "old.txt")
    snapshot = freeze("both", sources=["human", "imported"])
    assert len(snapshot.manifest["provenance"]["label_sources"]) == 1
    store_file("qrels", "q1 0 d8 7\n", "off.txt")
    with pytest.raises(NotValid, match="outside the scale 0-3"):
        freeze("again", sources=["human", "imported"])
