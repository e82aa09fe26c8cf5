"""Tests of click evidence: impressions and clicks count once, and bots are left out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from assay.clicks.click_counts import Evidence, Robots, count_clicks
from assay.clicks.log_file import read_clicks
from assay.core.errors import UnreadableInput
from assay.formats.row_types import ClickRow


def cells(evidence: Evidence) -> set[tuple[str, str, int, int, int]]:
    """Query, document, rank, impressions, clicks."""
    names = [query_id or text for query_id, text in evidence.queries]
    columns = (evidence.query, evidence.document, evidence.rank, evidence.impressions, evidence.clicks)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {(names[query], evidence.documents[doc], *rest) for query, doc, *rest in rows}


def shown(doc_id: str, position: int | None, search: str = "s1", query: str = "tent", client: str = "c1") -> ClickRow:
    return ClickRow(query, doc_id, position, 1, 0, search_id=search, client_id=client)


def clicked(doc_id: str, position: int | None, search: str = "s1", query: str = "tent") -> ClickRow:
    return ClickRow(query, doc_id, position, 0, 1, search_id=search, client_id="c1")


def search(*results: str, search: str = "s1", query: str = "tent") -> ClickRow:
    return ClickRow(query, "", None, 0, 0, search_id=search, client_id="c1", results=results)


def test_queries_are_one_by_their_normal_form_and_ids_by_themselves() -> None:
    rows = [ClickRow(" Rain  JACKET", "d1", 1, 1, 1), ClickRow("rain jacket", "d1", 1, 1, 0)]
    evidence = count_clicks(rows)
    assert (cells(evidence), evidence.typed) == ({("rain jacket", "d1", 1, 2, 1)}, ["Rain JACKET"])
    by_id = count_clicks([ClickRow("a", "d1", 1, 1, 1, query_id="q1"), ClickRow("b", "d1", 1, 1, 0, query_id="q2")])
    assert cells(by_id) == {("q1", "d1", 1, 1, 1), ("q2", "d1", 1, 1, 0)}


def test_personal_data_is_gone_before_anything_is_counted() -> None:
    evidence = count_clicks([ClickRow("order of jo@example.org", "d1", 1, 1, 1, client_id="jo@example.org")])
    assert evidence.queries == [("", "order of [e-mail]")]
    assert evidence.redacted == {"e-mail": 1}
    assert "jo@" not in repr(evidence)


def test_a_search_shows_a_document_once_and_counts_one_click() -> None:
    rows = [shown("d1", 0), shown("d1", 0), clicked("d1", 0), clicked("d1", 0), shown("d2", 1), shown("d1", 0, "s2")]
    evidence = count_clicks(rows)
    assert cells(evidence) == {("tent", "d1", 1, 2, 1), ("tent", "d2", 2, 1, 0)}
    assert (evidence.first_position, evidence.clients, evidence.unshown) == (0, 1, 0)


def test_returned_documents_count_where_impressions_are_missing() -> None:
    rows = [search("d1", "d2", "d3"), clicked("d2", 2), search("d1", "d2", search="s2"), shown("d1", 1, "s2")]
    assert cells(count_clicks(rows)) == {("tent", "d1", 1, 2, 0), ("tent", "d2", 2, 1, 1), ("tent", "d3", 3, 1, 0)}


def test_lists_are_numbered_by_us_also_where_events_begin_with_0() -> None:
    rows = [search("d1", "d2"), shown("d1", 0, "s2"), clicked("d2", 1)]
    assert cells(count_clicks(rows)) == {("tent", "d1", 1, 2, 0), ("tent", "d2", 2, 1, 1)}


def test_an_event_without_words_belongs_to_its_search() -> None:
    rows = [clicked("d1", None, query=""), shown("d1", 3, query=""), search(), clicked("d9", 1, "nowhere", query="")]
    evidence = count_clicks(rows)
    assert cells(evidence) == {("tent", "d1", 3, 1, 1)}
    assert evidence.without_query == 1


def test_a_click_without_an_impression_counts_as_one_and_is_reported() -> None:
    evidence = count_clicks([shown("d1", 1), clicked("d7", None)])
    assert cells(evidence) == {("tent", "d1", 1, 1, 0), ("tent", "d7", 0, 1, 1)}
    assert evidence.unshown == 1


def test_robots_are_left_out_by_the_rule_and_reported() -> None:
    person = [ClickRow("tent", f"d{n}", 1, 1, int(n == 0), client_id="c1") for n in range(4)]
    eager = [ClickRow("tent", "d1", 1, 1, int(n != 0), client_id="eager") for n in range(10)]
    busy = [ClickRow("tent", "d1", 1, 21, 0, client_id="busy")]
    nobody = [ClickRow("tent", "d1", 1, 100, 99)]
    rules = Robots(most_impressions=20, most_clicked=0.8, least_impressions=10)
    evidence = count_clicks([*person, *eager, *busy, *nobody], rules)
    assert evidence.robots == {"too many clicks": 1, "too many impressions": 1}
    assert (evidence.robot_impressions, evidence.clients, evidence.anonymous) == (31, 3, 100)
    assert int(evidence.impressions.sum()) == 104
    # At the thresholds themselves nobody is left out.
    assert rules.reason(20, 0) == rules.reason(10, 8) == rules.reason(9, 9) == ""


def test_more_rows_than_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.clicks.click_counts.BATCH", 7)
    rows = [ClickRow("tent", f"d{number % 3}", 1, 1, number % 2) for number in range(60)]
    assert cells(count_clicks(rows)) == {("tent", f"d{n}", 1, 20, 10) for n in range(3)}


def test_a_file_is_counted_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.clicks.log_file.BEAT", 10_000)
    path = tmp_path / "clicks.csv.gz"
    lines = "".join(f"tent,d{number % 5},{number % 5},{int(number % 7 == 0)}\n" for number in range(35_000))
    path.write_bytes(gzip.compress(("query,doc_id,position,clicked\n" + lines + "tent,d1\n").encode()))
    seen: list[int] = []
    result, report = read_clicks(path, path="clicks.csv.gz", format="click-log-csv", progress=seen.append)
    assert cells(result) == {("tent", f"d{n}", n + 1, 7_000, 1_000) for n in range(5)}
    assert (report.accepted, report.errors[0].line, report.bytes) == (35_000, 35_002, path.stat().st_size)
    assert len(seen) == 4
    assert seen == sorted(seen)


def test_a_file_without_a_row_is_refused() -> None:
    with pytest.raises(UnreadableInput, match="is empty"):
        read_clicks(b"", path="a", format="click-log-csv")
    with pytest.raises(UnreadableInput, match="contains no impressions"):
        read_clicks(b'{"action_name": "add_to_cart"}\n\n', path="a", format="click-log-ubi")
