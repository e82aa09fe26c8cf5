"""Tests of sampling from a log: sizes, probabilities, weights, and the same sample for the same seed."""

from __future__ import annotations

import io
import uuid
from pathlib import Path
from typing import Any

import pytest

from assay.core.errors import Conflict, NotValid, UnreadableInput
from judgments.imports import ingestion
from judgments.jobs import jobs
from judgments.models import AuditRow, Job, Query, QuerySample
from pooling.logs import drawn_queries, query_logs
from pooling.logs import traffic as log_traffic
from pooling.models import QueryLog
from tests.pooling.conftest import LOG
from tests.threads import at_once

BERLIN = Path(__file__).resolve().parents[4] / "shared/data/berlin-searchterms-2021/berlin_searchterms_2021.csv"


def test_a_log_is_counted_when_it_comes_in(log: Any) -> None:
    assert (log.searches, log.distinct, log.first_at) == (100, 9, None)


def test_the_same_log_twice_is_a_conflict(log: Any, store: Any, collection: Any) -> None:
    with pytest.raises(Conflict, match=r"as the query log site\.csv"):
        store(collection, "query-logs", LOG, "again.csv")


def test_tiers_are_cut_on_traffic(log: Any) -> None:
    traffic = log_traffic.traffic(log)
    assert [(tier.name, tier.queries, tier.traffic) for tier in traffic.tiers] == [
        ("head", 1, 50),
        ("torso", 2, 30),
        ("tail", 6, 20),
    ]
    assert (traffic.searches, traffic.distinct) == (100, 9)


def test_a_draw_stores_tier_chance_weight_and_one_raw_row(log: Any, lead: Any) -> None:
    record, new = query_logs.draw(log, actor=lead, sizes={"head": 1, "torso": 1, "tail": 3}, seed=7)
    assert len(new) == 5
    head = Query.objects.get(text="rain jacket")
    assert (head.tier, head.probability, head.weight, head.frequency) == ("head", 1.0, 0.5, 50)
    assert {query.probability for query in record.queries.filter(tier="tail")} == {0.5}
    assert head.raw_row == {"query": "rain jacket", "count": 50}


def test_the_same_seed_draws_the_same(log: Any, lead: Any) -> None:
    first, _ = query_logs.draw(log, actor=lead, sizes={"head": 0, "torso": 1, "tail": 3}, seed=7)
    texts = set(first.queries.values_list("text", flat=True))
    again, new = query_logs.draw(log, actor=lead, sizes={"head": 0, "torso": 1, "tail": 3}, seed=7)
    assert set(again.queries.values_list("text", flat=True)) == texts
    assert new == []


def test_another_seed_draws_others(log: Any, lead: Any) -> None:
    result = set()
    for seed in range(8):
        record, _ = query_logs.draw(log, actor=lead, sizes={"head": 0, "torso": 0, "tail": 1}, seed=seed)
        result.add(record.queries.get().text)
    assert len(result) > 1


def test_a_draw_is_on_record_with_its_seed(log: Any, lead: Any) -> None:
    record, _ = query_logs.draw(log, actor=lead, sizes={"head": 1, "torso": 0, "tail": 0}, seed=7)
    row = AuditRow.objects.get(verb="query_logs.draw")
    assert row.target_uuid == record.uuid
    assert "seed 7" in row.sentence
    assert record.parameters["asked"] == {"head": 1, "torso": 0, "tail": 0}


def test_drawing_by_traffic_takes_the_frequent_for_certain(log: Any, lead: Any) -> None:
    record, _ = query_logs.draw(log, actor=lead, method="pps", n=3, seed=1)
    assert record.queries.count() == 3
    assert Query.objects.get(text="rain jacket").probability == 1.0


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"method": "best"}, "method"),
        ({"head_share": 0.9, "torso_share": 0.5}, "head_share"),
        ({"head_ranks": 5, "torso_ranks": 2}, "head_ranks"),
        ({"language": "de"}, "language"),
    ],
)
def test_invalid_samples_are_reported_by_field(log: Any, lead: Any, options: Any, field: str) -> None:
    with pytest.raises(NotValid) as caught:
        query_logs.draw(log, actor=lead, **options)
    assert field in caught.value.fields
    assert not QuerySample.objects.exists()


def test_a_client_id_never_reaches_a_query(collection: Any, store: Any, lead: Any) -> None:
    content = b"query,timestamp,client_id\ntent,2026-03-01T10:00:00Z,c-secret\n"
    log = QueryLog.objects.get(uuid=store(collection, "query-logs", content, "raw.csv")["id"])
    query_logs.draw(log, actor=lead, sizes={"head": 1, "torso": 0, "tail": 0})
    assert "c-secret" not in str(Query.objects.get(text="tent").raw_row)


def test_a_draw_by_ranks_says_so_on_record(log: Any, lead: Any) -> None:
    record, _ = query_logs.draw(log, actor=lead, sizes={"head": 2, "torso": 1}, head_ranks=2, torso_ranks=5)
    assert set(record.queries.filter(tier="head").values_list("text", flat=True)) == {"rain jacket", "tent"}
    options = {"head_ranks": 2, "torso_ranks": 5, "head_share": 0.7, "torso_share": 0.9}
    assert {name: record.parameters[name] for name in options} == options
    assert [tier.queries for tier in log_traffic.traffic(log, head_ranks=2, torso_ranks=5).tiers] == [2, 3, 4]


def test_one_language_of_a_log_is_drawn_from(collection: Any, store: Any, lead: Any) -> None:
    content = b"query,language\nZelt,de\nzelt,de-AT\ntent,en\ntent,en\ntent,en\nrope,\n"
    log = QueryLog.objects.get(uuid=store(collection, "query-logs", content, "raw.csv")["id"])
    assert log_traffic.languages(log) == {"en": 3, "de": 1, "de-AT": 1}
    assert log_traffic.traffic(log, language="de").searches == 2
    record, _ = query_logs.draw(log, actor=lead, sizes={"head": 5, "torso": 5, "tail": 5}, language="de")
    (query,) = record.queries.all()
    assert (query.text, query.frequency, query.weight) == ("Zelt", 2, 1.0)
    assert (query.raw_row["language"], record.parameters["language"]) == ("de", "de")


def test_the_weights_of_a_draw_are_those_of_its_queries(log: Any, lead: Any) -> None:
    record, _ = query_logs.draw(log, actor=lead, sizes={"head": 1, "torso": 2, "tail": 6})
    # All nine are certain: 100^2 over the sum of the squared counts.
    assert drawn_queries.worth([record]) == {record.pk: pytest.approx(100**2 / 3080)}


@pytest.mark.shared
def test_a_real_log_of_a_year(collection: Any, lead: Any, store: Any) -> None:
    if not BERLIN.exists():
        pytest.skip("../shared/data is not here")
    options = {"columns": {"count": "impressions"}, "repeated": "sum"}
    stored = store(collection, "query-logs", BERLIN.read_bytes(), BERLIN.name, options=options)
    log = QueryLog.objects.get(uuid=stored["id"])
    assert (log.searches, log.distinct) == (9_404, 3_644)
    record, _ = query_logs.draw(log, actor=lead, seed=3)
    assert record.queries.count() == 200


def test_the_usual_picture_is_stored_with_the_log(log: Any) -> None:
    stored = log_traffic.traffic(log)
    assert stored == log_traffic.traffic(log, window_days=None)
    QueryLog.objects.update(report={})
    log.refresh_from_db()
    assert log_traffic.traffic(log) == stored


def test_a_large_log_is_drawn_by_a_job_that_draws_once(log: Any, lead: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(log_traffic, "LARGE", 5)
    assert log_traffic.is_large(log)
    job = query_logs.draw_later(log, actor=lead, sizes={"head": 1, "torso": 1, "tail": 1}, seed=4)
    work = jobs.Work(job)
    result = query_logs.work_on_draw(work)
    assert result == {"queries": 3, "new": 3, "seed": 4}
    job.refresh_from_db()
    assert (job.done, job.total) == (9, 9)
    jobs.work_on_job.func(str(job.uuid))
    job.refresh_from_db()
    assert (job.state, job.result) == (Job.State.DONE, result)
    assert QuerySample.objects.count() == 1


def test_with_one_token_a_draw_is_made_once(log: Any, lead: Any, collection: Any, store: Any) -> None:
    options: dict[str, Any] = {"actor": lead, "sizes": {"head": 1, "torso": 1}, "token": uuid.uuid4()}
    first, new = query_logs.draw(log, **options)
    again, fresh = query_logs.draw(log, **options)
    assert (again, fresh, len(new), first.uuid) == (first, [], 2, options["token"])
    one, two = (query_logs.draw_later(log, **options) for _ in range(2))
    assert one == two
    assert query_logs.work_on_draw(jobs.Work(one)) == {"queries": 2, "new": 0, "seed": 1}
    assert QuerySample.objects.count() == 1
    assert query_logs.draw_later(log, **{**options, "token": uuid.uuid4()}) != one
    assert query_logs.draw_later(log, **{**options, "token": None}) != query_logs.draw_later(log, actor=lead)
    other = QueryLog.objects.get(uuid=store(collection, "query-logs", b"query,count\nmap,4\n", "other.csv")["id"])
    with pytest.raises(Conflict, match="token belongs to another draw"):
        query_logs.draw(other, **options)


def test_storing_a_log_as_a_job_tells_its_rows_and_can_be_cancelled(collection: Any, lead: Any) -> None:
    upload = ingestion.receive(collection, kind="query-logs", file=io.BytesIO(LOG), filename="a.csv", actor=lead)
    job = ingestion.store_later(upload, actor=lead, accept_errors=False, options={})
    jobs.claim(job)
    jobs.cancel(job, actor=lead)
    with pytest.raises(jobs.Cancelled):
        ingestion.work_on_upload(jobs.Work(Job.objects.get(pk=job.pk)))
    assert not QueryLog.objects.exists()
    job = ingestion.store_later(upload, actor=lead, accept_errors=False, options={})
    jobs.claim(job)
    ingestion.work_on_upload(jobs.Work(Job.objects.get(pk=job.pk)))
    job.refresh_from_db()
    # Nine queries and the header.
    assert (job.done, job.total) == (10, 10)


def test_a_draw_that_is_cancelled_while_it_counts_leaves_nothing(log: Any, lead: Any) -> None:
    job = query_logs.draw_later(log, actor=lead, sizes={"head": 1})
    jobs.claim(job)
    jobs.cancel(job, actor=lead)
    with pytest.raises(jobs.Cancelled):
        query_logs.work_on_draw(jobs.Work(Job.objects.get(pk=job.pk)))
    assert not QuerySample.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_draws_at_once_none_breaks(log: Any, lead: Any) -> None:
    sizes = {"head": 1, "torso": 1, "tail": 3}
    ends = at_once(*[lambda: query_logs.draw(log, actor=lead, sizes=sizes, seed=7)] * 2)
    assert {type(end) for end in ends if isinstance(end, Exception)} <= {Conflict}
    assert not all(isinstance(end, Conflict) for end in ends)


def test_a_disguised_address_is_taken_out_and_a_likely_one_is_listed(collection: Any, lead: Any) -> None:
    text = "query,count\njo [at] host dot example,3\njobs at host.example,2\ntent,5\n"
    upload = ingestion.receive(
        collection, kind="query-logs", file=io.BytesIO(text.encode()), filename="log.csv", actor=lead
    )
    rows = [(one["line"], one["code"], one["raw"]) for one in upload.report["problems"]]
    assert rows == [(3, "W56", "jobs at host.example")]
    assert upload.preview["figures"]["personal data removed: e-mail"] == 3
    assert upload.preview["figures"]["queries that may contain an email address"] == 1
    stored = QueryLog.objects.get(uuid=ingestion.store(upload, actor=lead)["id"])
    assert {query.text for query in log_traffic.counted(stored).queries} == {"[e-mail]", "jobs at host.example", "tent"}


QUERIES = b"query_id,query,count_generated\ns9,tent,12\ns3,boots,3\n"


def test_a_list_of_queries_is_no_log(store: Any, collection: Any) -> None:
    """Read as a log, it would lose its ids and counts, and runs would attach to other queries."""
    with pytest.raises(UnreadableInput, match="list of queries"):
        store(collection, "query-logs", QUERIES, "queries.csv")
    assert not QueryLog.objects.exists()


def test_a_counted_log_keeps_the_ids_that_it_brings(lead: Any, collection: Any) -> None:
    upload = ingestion.receive(
        collection,
        kind="query-logs",
        file=io.BytesIO(QUERIES),
        filename="queries.csv",
        actor=lead,
        options={"columns": {"count": "count_generated"}},
    )
    ingestion.store(upload, actor=lead)
    query_logs.draw(QueryLog.objects.get(), actor=lead, sizes={"head": 5, "torso": 5, "tail": 5}, seed=1)
    drawn = dict(Query.objects.values_list("query_id", "text"))
    assert drawn == {"s9": "tent", "s3": "boots"}


def test_an_id_of_a_log_that_another_query_has_stops_the_draw(lead: Any, collection: Any, store: Any) -> None:
    store(collection, "queries", b"query_id,query\ns9,stove\n", "queries.csv")
    store(collection, "query-logs", QUERIES.replace(b"count_generated", b"count"), "log.csv")
    with pytest.raises(Conflict, match="s9"):
        query_logs.draw(QueryLog.objects.get(), actor=lead, sizes={"head": 5, "torso": 5, "tail": 5}, seed=1)
    assert list(Query.objects.values_list("text", flat=True)) == ["stove"]


def test_ids_of_a_draw_never_collide_with_those_of_a_file(log: Any, lead: Any, collection: Any, store: Any) -> None:
    store(collection, "queries", b"query_id,query\nq001,stove\nq002,mug\n", "queries.csv")
    _, new = query_logs.draw(log, actor=lead, sizes={"head": 1, "torso": 2, "tail": 3}, seed=7)
    assert {query.query_id for query in new}.isdisjoint(f"q{number:03d}" for number in range(1, 100))
    assert len({query.query_id.rpartition("-")[0] for query in new}) == 1


def test_a_log_in_which_every_query_counts_once_is_confirmed(lead: Any, collection: Any) -> None:
    rows = io.BytesIO(b"query,timestamp\ntent,2026-03-02T09:14:07Z\nboots,2026-03-02T09:15:07Z\n")
    upload = ingestion.receive(collection, kind="query-logs", file=rows, filename="log.csv", actor=lead)
    with pytest.raises(NotValid) as refused:
        ingestion.store(upload, actor=lead)
    assert list(refused.value.fields) == ["single_counts"]
    ingestion.store(upload, actor=lead, options={"single_counts": True})
    assert QueryLog.objects.get().searches == 2
