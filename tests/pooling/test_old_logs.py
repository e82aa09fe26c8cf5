"""Are logs that were stored as they came written anew, with the same searches, and only those?"""

from __future__ import annotations

import gzip
import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from judgments import ingestion, storage
from judgments.models import AuditRow, Upload
from pooling import log_traffic, query_logs
from pooling.models import QueryLog

pytestmark = pytest.mark.django_db
RAW = (
    "query;timestamp;user;street\n"
    "order of jo@example.org;2026-03-01T10:00:00Z;clara.client@example.org;Kim Lee\n"
    "tent;2026-03-03T11:00:00Z;c2;\ntent;2026-03-04T11:00:00Z;clara.client@example.org;\n"
)
COUNTED = "query,count\norder of jo@example.org,3\norder of al@example.org,4\ntent,2\n"


@pytest.fixture
def old(collection: Any, lead: Any) -> Any:
    """A log as it lay in storage before logs were written anew: the file that came, under its own format."""

    def store(content: str, name: str) -> QueryLog:
        file = io.BytesIO(content.encode())
        upload = ingestion.receive(collection, kind="query-logs", file=file, filename=name, actor=lead)
        how = {"format": upload.format, "options": upload.options}
        log = QueryLog.objects.get(uuid=ingestion.store(upload, actor=lead, accept_errors=True)["id"])
        storage.forget(log.path)
        path = storage.keep("uploads", name, content.encode())
        QueryLog.objects.filter(pk=log.pk).update(path=path, **how)
        row = {"raw": "tent,jo@example.org", "what": "odd: jo@example.org", "line": 2}
        told = {"report": {"problems": [row], "error_count": 1}, "preview": {"rows": [["jo@example.org", "3"]]}}
        Upload.objects.filter(pk=upload.pk).update(**told)
        return QueryLog.objects.get(pk=log.pk)

    return store


@pytest.mark.parametrize(("content", "name"), [(RAW, "log.csv"), (COUNTED, "counted.csv")])
def test_it_is_written_anew_and_counts_alike(
    old: Any, content: str, name: str, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    log = old(content, name)
    before = log_traffic.counted(log, window_days=None)
    _, drawn = query_logs.draw(log, actor=lead, sizes={"head": 9, "torso": 9, "tail": 9}, seed=3)
    with django_capture_on_commit_callbacks(execute=True):
        call_command("redact_logs")
    now = QueryLog.objects.get(pk=log.pk)
    assert not storage.exists(log.path)
    kept = gzip.decompress(storage.read_bytes(now.path)).decode()
    assert not [secret for secret in ("jo@", "clara", "Kim Lee") if secret in kept]
    after = log_traffic.counted(now, window_days=None)

    def told(found: Any) -> list[tuple[Any, ...]]:
        return [(one.query, one.frequency, one.clients) for one in found.queries]

    assert told(after) == told(before)
    assert now.sha256 == log.sha256
    assert "jo@" not in repr(list(Upload.objects.values_list("report", "preview")))
    assert Upload.objects.get().report["error_count"] == 1
    # What was drawn stays, and a second time there is nothing to do.
    assert {query.text for query in drawn} == set(log.collection.queries.values_list("text", flat=True))
    said = io.StringIO()
    call_command("redact_logs", stdout=said)
    assert said.getvalue() == "0 logs written anew, 0 reports of imports redacted\n"
    assert AuditRow.objects.filter(verb="old_logs.replace").count() == 1


def test_a_file_that_is_lost_is_told_and_the_others_are_done(old: Any, django_capture_on_commit_callbacks: Any) -> None:
    lost, there = old(RAW, "log.csv"), old(COUNTED, "counted.csv")
    storage.forget(lost.path)
    said = io.StringIO()
    with (
        pytest.raises(CommandError, match="1 log could not be read"),
        django_capture_on_commit_callbacks(execute=True),
    ):
        call_command("redact_logs", stderr=said)
    assert said.getvalue().startswith("log.csv of ")
    assert not storage.exists(there.path)
