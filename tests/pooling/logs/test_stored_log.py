"""Tests of stored logs: no personal data, and unchanged counts."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from assay.core.errors import Conflict, NotValid, UnreadableInput
from assay.formats import sniff
from assay.formats.log_blocks import open_log
from assay.sampling.column_counting import count_stream
from judgments.imports import ingestion
from judgments.models import Upload
from pooling.logs import query_logs, traffic
from pooling.models import QueryLog

pytestmark = pytest.mark.django_db
SECRETS = ("jo@example.org", "4111 1111 1111 1111", "+49 30 901820", "clara.client@example.org", "Kim Lee, Elm St 5")
RAW = (
    "query;timestamp;user;street;lang\n"
    "order of jo@example.org;2026-03-01T10:00:00Z;clara.client@example.org;Kim Lee, Elm St 5;en\n"
    '"say ""hi"" 4111 1111 1111 1111";2026-03-02T10:00:00Z;c2;;de\n'
    "=sum +49 30 901820;2026-03-03T10:00:00Z;clara.client@example.org;;\n"
    "tent;2026-03-03T11:00:00Z;c2;;\n"
    " ;2026-03-03T12:00:00Z;c2;;\n"
    "order of JO@example.org;2026-03-04T10:00:00Z;c3;;en\n"
)
COUNTED = 'query,count\norder of jo@example.org,3\norder of al@example.org,4\ntent,2\n"two\nlines",1\n'
WITH_CLIENTS = "query,count,clients\norder of jo@example.org,3,2\norder of al@example.org,4,3\ntent,2,\n"
# Searches and counts in one file.
MIXED = (
    '{"query": "tent", "client_id": "a", "timestamp": "2026-03-01T10:00:00Z"}\n'
    '{"query": "tent", "client_id": "clara.client@example.org", "timestamp": "2026-03-02T10:00:00Z"}\n'
    '{"query": "boots", "count": 5}\n{"query": "tent", "count": 5}\n'
)
UBI = (
    '{"query_id": "1", "client_id": "clara.client@example.org", "timestamp": "2026-03-02T09:14:07Z", '
    '"user_query": "order of jo@example.org", "query_attributes": {"who": "Kim Lee, Elm St 5"}}\n'
    '{"query_id": "2", "client_id": "c2", "timestamp": "2026-03-02T09:15:07Z", "user_query": "tent"}\n'
)
Store = Callable[..., QueryLog]


@pytest.fixture
def keep(collection: Any, lead: Any) -> Store:
    def store(content: str, filename: str, **options: Any) -> QueryLog:
        file = io.BytesIO(content.encode())
        upload = ingestion.receive(
            collection, kind="query-logs", file=file, filename=filename, actor=lead, options=options
        )
        confirmed = {query_logs.SINGLE: True}
        stored = ingestion.store(upload, actor=lead, accept_errors=True, options=confirmed)
        return QueryLog.objects.get(uuid=stored["id"])

    return store


def files(folder: str) -> set[Path]:
    """All that lies in storage; other tests leave files there, too."""
    return {path for path in Path(folder).rglob("*") if path.is_file()}


def texts_of(paths: set[Path]) -> str:
    """Their content, unpacked."""
    contents = [path.read_bytes() for path in paths]
    plain = [gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content for content in contents]
    return "\n".join(content.decode() for content in plain).casefold()


@pytest.mark.parametrize(
    ("content", "name", "format"),
    [
        (RAW, "log.csv", "query-log-csv"),
        (COUNTED, "counted.csv", "query-log-jsonl"),
        (WITH_CLIENTS, "clients.csv", "query-log-jsonl"),
        (UBI, "ubi.ndjson", "query-log-csv"),
        (MIXED, "mixed.jsonl", "query-log-jsonl"),
    ],
)
def test_a_stored_log_has_no_personal_data_and_equal_counts(
    keep: Store, content: str, name: str, format: str, storage_folder: str
) -> None:
    there = files(storage_folder)
    log = keep(content, name)
    (made,) = files(storage_folder) - there
    assert made == Path(storage_folder) / log.path
    assert not [secret for secret in SECRETS if secret.casefold() in texts_of({made})]
    came = open_log(content.encode(), path=name, format=str(sniff(content.encode(), "query-log")))
    before, after = count_stream(came, window_days=None), traffic.counted(log, window_days=None)
    assert log.format == format

    def counts(counted: Any) -> list[tuple[Any, ...]]:
        return [(one.query, one.text, one.frequency, one.clients, one.variants) for one in counted.queries]

    assert counts(after) == counts(before)
    assert (after.first, after.last, after.languages) == (before.first, before.last, before.languages)
    assert log.sha256 == sha256(content.encode()).hexdigest()


def test_a_draw_keeps_the_row_on_its_line(keep: Store, lead: Any) -> None:
    log = keep(RAW, "log.csv")
    _, queries = query_logs.draw(log, actor=lead, sizes={"head": 9, "torso": 9, "tail": 9}, seed=1)
    rows = {query.text: query.raw_row for query in queries}
    assert rows["tent"] == {"query": "tent", "count": 1, "timestamp": "2026-03-03T11:00:00Z"}
    assert rows["order of [e-mail]"]["timestamp"] == "2026-03-01T10:00:00Z"
    assert not [secret for secret in SECRETS if secret in repr(rows)]


def test_the_report_has_no_personal_data(collection: Any, lead: Any) -> None:
    odd = b"query,timestamp\norder of jo@example.org,jo@example.org\ntent,2026-03-03T11:00:00Z\n"
    upload = ingestion.receive(collection, kind="query-logs", file=io.BytesIO(odd), filename="log.csv", actor=lead)
    assert upload.report["error_count"] == 1
    assert "jo@" not in repr(upload.report) + repr(upload.preview)


def test_no_other_column_names_anybody(keep: Store) -> None:
    # Whoever header must be wrong, or logs whole addresses as clicks.
    raw = "query,timestamp,clicks,language\ntent,2026-03-02T12:00:00Z,d1 to=jo@example.org,al@example.org\n"
    log = keep(raw + "tent,2026-03-02T12:00:00Z,d1 123456789,en\n", "log.csv")
    stored = gzip.decompress(Path(default_storage.path(log.path)).read_bytes()).decode()
    assert "d1 [e-mail]" in stored
    assert "d1 123456789" in stored
    everything = stored + str(log.report) + str(list(Upload.objects.values_list("report", "preview")))
    assert "@" not in everything


def test_a_log_that_is_refused_does_not_stay(collection: Any, lead: Any, keep: Store, storage_folder: str) -> None:
    keep(COUNTED, "counted.csv")
    before = files(storage_folder)
    with pytest.raises(UnreadableInput):
        keep("no,log\n1,2\n", "bad.csv")
    with pytest.raises(Conflict, match="already stored"):
        keep(COUNTED, "again.csv")
    assert files(storage_folder) == before
    there = files(storage_folder)
    file = io.BytesIO(RAW.encode())
    upload = ingestion.receive(collection, kind="query-logs", file=file, filename="a.csv", actor=lead)
    Upload.objects.filter(pk=upload.pk).update(stored_at=timezone.now())
    with pytest.raises(Conflict, match="already stored"):
        ingestion.store(upload, actor=lead)
    # The file that waited is another's to remove: somebody stored it at the same moment.
    assert files(storage_folder) - there == {Path(storage_folder) / upload.path}


def test_unstored_logs_expire_after_a_day_and_other_files_after_a_week(collection: Any, lead: Any) -> None:
    documents = b'{"doc_id": "d1", "title": "x"}\n'
    for days, left in ((0.9, {"query-logs", "documents"}), (1.1, {"documents"}), (7.1, set())):
        Upload.objects.all().delete()
        for kind, content in (("query-logs", RAW.encode()), ("documents", documents)):
            file = io.BytesIO(content)
            ingestion.receive(collection, kind=kind, file=file, filename="a", actor=lead)
        Upload.objects.update(created_at=timezone.now() - timedelta(days=days))
        paths = dict(Upload.objects.values_list("kind", "path"))
        ingestion.sweep()
        assert set(Upload.objects.values_list("kind", flat=True)) == left
        assert {kind for kind, path in paths.items() if default_storage.exists(path)} == left


def test_nothing_to_store_leaves_nothing(keep: Store) -> None:
    with pytest.raises((NotValid, UnreadableInput)):
        keep("query,count\n", "empty.csv")
