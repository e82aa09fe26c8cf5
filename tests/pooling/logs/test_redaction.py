"""Tests of redacting stored logs: same searches, and only logs stored unredacted are rewritten."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command

from judgments.imports import ingestion
from judgments.models import AuditRow, Upload
from pooling.logs import query_logs, traffic
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
        default_storage.delete(log.path)
        path = default_storage.save(f"uploads/{name}", ContentFile(content.encode()))
        QueryLog.objects.filter(pk=log.pk).update(path=path, **how)
        row = {"raw": "tent,jo@example.org", "what": "odd: jo@example.org", "line": 2}
        facts = {"report": {"problems": [row], "error_count": 1}, "preview": {"rows": [["jo@example.org", "3"]]}}
        Upload.objects.filter(pk=upload.pk).update(**facts)
        return QueryLog.objects.get(pk=log.pk)

    return store


@pytest.mark.parametrize(("content", "name"), [(RAW, "log.csv"), (COUNTED, "counted.csv")])
def test_it_is_written_anew_and_counts_alike(
    old: Any, content: str, name: str, lead: Any, django_capture_on_commit_callbacks: Any
) -> None:
    log = old(content, name)
    before = traffic.counted(log, window_days=None)
    _, drawn = query_logs.draw(log, actor=lead, sizes={"head": 9, "torso": 9, "tail": 9}, seed=3)
    with django_capture_on_commit_callbacks(execute=True):
        call_command("redact_logs")
    now = QueryLog.objects.get(pk=log.pk)
    assert not default_storage.exists(log.path)
    stored = gzip.decompress(Path(default_storage.path(now.path)).read_bytes()).decode()
    assert not [secret for secret in ("jo@", "clara", "Kim Lee") if secret in stored]
    after = traffic.counted(now, window_days=None)

    def counts(matches: Any) -> list[tuple[Any, ...]]:
        return [(one.query, one.frequency, one.clients) for one in matches.queries]

    assert counts(after) == counts(before)
    assert now.sha256 == log.sha256
    assert "jo@" not in repr(list(Upload.objects.values_list("report", "preview")))
    assert Upload.objects.get().report["error_count"] == 1
    # What was drawn stays, and a second time there is nothing to do.
    assert {query.text for query in drawn} == set(log.collection.queries.values_list("text", flat=True))
    output = io.StringIO()
    call_command("redact_logs", stdout=output)
    assert output.getvalue() == "0 logs rewritten, 0 import reports redacted\n"
    assert AuditRow.objects.filter(verb="old_logs.replace").count() == 1


def test_a_lost_file_is_reported_and_the_others_are_redacted(old: Any, django_capture_on_commit_callbacks: Any) -> None:
    lost, there = old(RAW, "log.csv"), old(COUNTED, "counted.csv")
    default_storage.delete(lost.path)
    output = io.StringIO()
    with (
        pytest.raises(CommandError, match="1 log could not be read"),
        django_capture_on_commit_callbacks(execute=True),
    ):
        call_command("redact_logs", stderr=output)
    assert output.getvalue().startswith("log.csv of ")
    assert not default_storage.exists(there.path)
