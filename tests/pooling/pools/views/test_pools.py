"""Tests of the pool pages: preview, and the reason for each pair for leads and engineers."""

from __future__ import annotations

import csv
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from judgments.jobs import jobs
from judgments.models import Job
from pooling.models import Pool
from pooling.pools import pools
from tests.judgments.charts.vega_lite import layers_of

LIST = "query_id,doc_id\nq1,d1\nq2,d9\n"


def _query(example: Any, **more: Any) -> dict[str, Any]:
    runs = [str(run.uuid) for run in example.runs.all()]
    return {"strategy": "depth", "runs": runs, "depth": "3", "residual": "0", "by": "rank", "seed": "1", **more}


def test_the_empty_list_says_what_is_missing(collection: Any, client_of: Any, lead: Any, at: Any) -> None:
    assert b"Add queries first" in client_of(lead).get(at("pools", collection)).content
    assert b"A pool needs queries" in client_of(lead).get(at("pool_new", collection)).content


def test_the_pool_equals_its_preview(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    """A request that leaves things out is not filled up from the defaults of the page that nobody saw."""
    answer = client_of(lead).post(at("pool_new", example), {"act": "draw", "strategy": "depth", "depth": "3"})
    assert answer.status_code == 422
    assert not Pool.objects.exists()


def test_the_page_opens_with_a_preview_of_all_runs(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    page = client_of(lead).get(at("pool_new", example)).content.decode()
    assert "Draw 5 pairs" in page
    assert "assuming 20 s per rating" in page
    assert "All runs share 1 of the pairs, 20%" in page


def test_a_strategy_asks_for_its_own_parameters(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    page = client_of(lead).get(at("pool_new", example), {"strategy": "rbp"}).content.decode()
    assert 'name="p"' in page
    assert 'value="0.8"' in page


def test_a_preview_has_an_address_and_stores_nothing(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    page = client_of(lead).get(at("pool_new", example), _query(example, depth="1")).content.decode()
    assert "Draw 2 pairs" in page
    assert not Pool.objects.exists()


def test_the_button_sends_what_was_previewed(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    client = client_of(lead)
    page = client.get(at("pool_new", example), _query(example, depth="1", leave_out_judged="on")).content.decode()
    button = page[page.index('<form class="row" method="post"') :]
    form_data: dict[str, list[str]] = {"act": ["draw"]}
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', button):
        form_data.setdefault(name, []).append(value)
    client.post(at("pool_new", example), form_data)
    assert (Pool.objects.get().parameters["depth"], Pool.objects.get().entries.count()) == (1, 2)


def test_the_list_says_why_a_pool_was_drawn(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    for reason in ("freshness of first: judge the holes", "freshness of first: judge changed documents again"):
        pools.draw_pool(example, strategy="list", actor=lead, parameters={"pairs": [("q1", "d1")]}, reason=reason)
    html = client_of(lead).get(at("pools", example)).content.decode()
    assert "judge the holes" in html
    assert "judge changed documents again" in html


def test_drawing_leads_to_the_pool(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    client = client_of(lead)
    answer = client.post(at("pool_new", example), _query(example, act="draw", seed="9"))
    pool = Pool.objects.get()
    assert answer.headers["Location"] == at("pool", example, pool)
    assert (pool.seed, pool.entries.count()) == (9, 5)
    assert "Create round" in client.get(answer.headers["Location"]).content.decode()


@pytest.mark.parametrize("wrong", [{"depth": "0"}, {"budget": "0"}, {"runs": []}, {"by": "taste"}, {"seed": ""}])
def test_a_wrong_form_is_answered_with_422(example: Any, client_of: Any, lead: Any, at: Any, wrong: Any) -> None:
    answer = client_of(lead).post(at("pool_new", example), _query(example, act="draw", **wrong))
    assert answer.status_code == 422
    assert not Pool.objects.exists()


def test_a_given_list_is_previewed_then_drawn(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    client = client_of(lead)
    form_data = {"strategy": "list", "pairs": LIST.replace("\n", "\r\n"), "seed": "1"}
    page = client.post(at("pool_new", example), form_data).content.decode()
    assert "Draw 2 pairs" in page
    assert "1 issue" not in page
    client.post(at("pool_new", example), {**form_data, "act": "draw"})
    assert Pool.objects.get().entries.count() == 2


def test_a_list_can_be_a_file_and_is_stored_for_the_draw(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    file = SimpleUploadedFile("pairs.csv", LIST.encode())
    page = client_of(lead).post(at("pool_new", example), {"strategy": "list", "seed": "1", "file": file})
    assert "query_id,doc_id\nq1,d1\nq2,d9\n</textarea>" in page.content.decode()


@pytest.mark.parametrize(
    ("pairs", "message"), [("", "list has no pairs"), ("q1,d1\n", "query_id"), (LIST + "q9,d1\n", "q9")]
)
def test_a_list_that_cannot_be_used_says_why(
    example: Any, client_of: Any, lead: Any, at: Any, pairs: str, message: str
) -> None:
    answer = client_of(lead).post(at("pool_new", example), {"strategy": "list", "pairs": pairs, "seed": "1"})
    assert answer.status_code == 422
    assert message in answer.content.decode()


def test_the_pool_shows_why_each_pair_is_here(pool: Any, client_of: Any, engineer: Any, at: Any) -> None:
    page = client_of(engineer).get(at("pool", pool.collection, pool)).content.decode()
    assert "bm25 1, neural 2" in page
    assert page.count('role="img"') == 2
    assert "Create round" not in page


def test_pairs_filter_by_run_and_reason(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    client = client_of(lead)
    client.post(at("pool_new", example), _query(example, act="draw", depth="1", residual="2"))
    page = at("pool", example, Pool.objects.get())
    residual = client.get(page, {"why": "residual", "format": "csv"})
    lines = b"".join(residual.streaming_content).decode().splitlines()
    assert [line.split(",")[5] for line in lines[1:]] == ["residual", "residual"]
    response = client.get(page, {"run": "neural", "why": "chosen"}).content.decode()
    assert "2 pairs" in response or "1 pair" in response


def test_the_pool_names_its_rounds(open_round: Any, pool: Any, client_of: Any, engineer: Any, at: Any) -> None:
    page = client_of(engineer).get(at("pool", pool.collection, pool)).content.decode()
    assert f"/rounds/{open_round.uuid}/progress/" in page


@pytest.mark.parametrize("table", ["systems", "ranks"])
def test_the_pictures_download_as_tables(pool: Any, client_of: Any, engineer: Any, at: Any, table: str) -> None:
    answer = client_of(engineer).get(at("pool", pool.collection, pool), {"table": table})
    assert answer.headers["Content-Disposition"] == f'attachment; filename="shop-{table}.csv"'
    lines = list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))
    address = at("pool", pool.collection, pool)
    svg = client_of(engineer).get(address, {"picture": table})
    assert svg.headers["Content-Type"] == "image/svg+xml"
    rows = layers_of(client_of(engineer).get(address, {"picture": table, "format": "vl.json"}))[0]
    assert [{key: str(row[key]) for key in line if key != "judged"} for row, line in zip(rows, lines, strict=True)] == [
        {key: line[key] for key in line if key != "judged"} for line in lines
    ]


def test_the_list_of_pairs_needs_a_fixed_number_of_queries(
    pool: Any, client_of: Any, lead: Any, at: Any, django_assert_max_num_queries: Any
) -> None:
    client = client_of(lead)
    client.get(at("pool", pool.collection, pool))
    with django_assert_max_num_queries(40):
        client.get(at("pool", pool.collection, pool))


def test_large_runs_are_pooled_by_a_job(example: Any, client_of: Any, lead: Any, at: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("pooling.pools.pools.LARGE", 5)
    client = client_of(lead)
    assert "in the background" in client.get(at("pool_new", example)).content.decode()
    answer = client.post(at("pool_new", example), _query(example, act="draw"))
    assert answer.headers["Location"].startswith("/jobs/")


DOCUMENTS = b"""{"doc_id": "d1", "title": "Rain jacket", "text": "dry"}
{"doc_id": "d2", "title": "RAIN jacket", "text": "Dry"}
"""


def test_equal_documents_are_judged_once_by_default_and_can_be_judged_apart(
    example: Any, store: Any, client_of: Any, lead: Any, engineer: Any, at: Any
) -> None:
    store(example, "documents", DOCUMENTS, "documents.jsonl")
    client = client_of(lead)
    page = client.get(at("pool_new", example)).content.decode()
    assert "Draw 4 pairs" in page
    assert "1 duplicate of 1 document" in page
    assert [f'muted">{doc_id}</span>' in page for doc_id in ("d1", "d2")] == [True, True]  # titles alone are alike
    (address,) = re.findall(r'href="(\?[^"]*apart=[^"]*)">Judge separately', page)
    apart = client.get(at("pool_new", example) + address.replace("&amp;", "&")).content.decode()
    assert "Draw 5 pairs" in apart
    (back,) = re.findall(r'href="(\?[^"]*)">Judge as a duplicate', apart)
    assert "apart" not in back
    nested = client.get(at("pool_new", example), _query(example, duplicates="exact", apart="[" * 5_000))
    assert "These pairs are not valid JSON." in nested.content.decode()
    file = client.get(at("pool_new", example), {"table": "duplicates"})
    assert b"d1,d2" in b"".join(file.streaming_content)

    client.post(at("pool_new", example), _query(example, act="draw", duplicates="exact"))
    pool = Pool.objects.get()
    page = at("pool", example, pool)
    assert "Judge separately" not in client_of(engineer).get(page).content.decode()
    assert "Judge separately" in client.get(page).content.decode()
    odd = client.post(at("pool_apart", example, pool), {"query_id": "q1\0", "doc_id": "d2"}, follow=True)
    assert "is not judged through another document in this pool" in odd.content.decode()
    form_data = {"query_id": "q1", "doc_id": "d2"}
    for expected in ("d2 is now judged separately", "is not judged through another document in this pool"):
        assert expected in client.post(at("pool_apart", example, pool), form_data, follow=True).content.decode()
    assert pool.entries.count() == 5


def test_hours_and_ratings_become_pairs_and_are_shown_both_ways(
    example: Any, client_of: Any, lead: Any, at: Any
) -> None:
    client = client_of(lead)
    # 1 min of 2 raters at 20 s a rating are 6 ratings, 3 pairs with two each; one query.
    options = _query(example, hours="0.0167", raters="2", ratings_per_pair="2")
    page = client.get(at("pool_new", example), options).content.decode()
    assert "Draw 3 pairs" in page
    assert "of at most 3" in page
    assert "each, 2 min in total, with 2 ratings per pair" in page
    client.post(at("pool_new", example), {**options, "act": "draw"})
    assert Pool.objects.get().parameters["hours"] == 0.0167
    few = client.get(at("pool_new", example), {**options, "hours": "0.01", "raters": "1"})
    assert few.status_code == 422
    assert "enough for one pair" in few.content.decode()


def test_a_double_click_draws_once(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    client = client_of(lead)
    page = client.get(at("pool_new", example), _query(example)).content.decode()
    (token,) = set(re.findall(r'name="token" value="([^"]+)"', page))
    submitted = _query(example, act="draw", token=token)
    first, second = (client.post(at("pool_new", example), submitted).headers["Location"] for _ in range(2))
    assert first == second
    assert Pool.objects.count() == 1


def test_slow_previews_run_in_the_background(
    example: Any, client_of: Any, lead: Any, at: Any, monkeypatch: Any
) -> None:
    monkeypatch.setitem(pools.MOST_COMPARED, "near", 5)
    client, options = client_of(lead), _query(example, duplicates="near")
    assert "Preview in the background" in client.get(at("pool_new", example), options).content.decode()
    client.post(at("pool_new", example), {**options, "act": "preview"})
    job = Job.objects.get(kind="pool-preview")
    assert "is running" in client.get(at("pool_new", example), options).content.decode()
    jobs.work_on_job.func(str(job.uuid))
    response = client.get(f"/jobs/{job.uuid}/").content.decode()
    assert "&#x27;told" not in response
    (page,) = re.findall(r'href="([^"]+)">View result', response)
    assert "Draw 5 pairs" in client.get(page.replace("&amp;", "&")).content.decode()


def test_systems_that_differ_are_worth_more_depth(
    collection: Any, store: Any, client_of: Any, lead: Any, at: Any
) -> None:
    store(collection, "queries", b"query_id,query,tier\nq1,rain jacket,head\nq2,tent,tail\n", "queries.csv")
    for name in "abcd":
        lines = [f"q1 Q0 {name}{n} {n} {50 - n} {name}\n" for n in range(1, 31)]
        store(collection, "runs", "".join([*lines, f"q2 Q0 {name} 1 1 {name}\n"]).encode(), f"{name}.run")
    client = client_of(lead)
    page = client.get(at("pool_new", collection)).content.decode()
    assert "4 systems differ in this pool" in page
    (address,) = re.findall(r'href="([^"]+)">Preview depth 20', page)
    deeper = client.get(at("pool_new", collection) + address.replace("&amp;", "&")).content.decode()
    assert "Draw 84 pairs" in deeper
    assert "is advised" not in deeper
    file = client.get(at("pool_new", collection), {"table": "tiers"})
    assert b"".join(file.streaming_content).decode().splitlines()[1:] == ["head,1,40,40.0", "tail,1,4,4.0"]
    assert client.get(at("pool_new", collection), {"picture": "systems"}).headers["Content-Type"] == "image/svg+xml"


def test_the_overlap_of_runs_is_a_matrix_and_a_file(pool: Any, client_of: Any, engineer: Any, at: Any) -> None:
    client = client_of(engineer)
    page = client.get(at("pool", pool.collection, pool)).content.decode()
    assert re.search(r'<td data-level="1">1 <small>33%</small></td>', page)
    file = client.get(at("pool", pool.collection, pool), {"table": "overlap"})
    assert b"".join(file.streaming_content).decode().splitlines() == ["run,bm25,neural", "bm25,3,1", "neural,1,3"]


def test_many_duplicates_are_shown_when_requested(example: Any, store: Any, client_of: Any, lead: Any, at: Any) -> None:
    store(example, "documents", b"".join(b'{"doc_id": "x%d", "title": "Same"}\n' % n for n in range(30)), "d.jsonl")
    store(example, "runs", "".join(f"q2 Q0 x{n} {n + 1} {50 - n} many\n" for n in range(30)).encode(), "many.run")
    client, options = client_of(lead), _query(example, depth="30", duplicates="exact")
    options["runs"] = [str(run.uuid) for run in example.runs.all()]
    page = client.get(at("pool_new", example), options).content.decode()
    assert (page.count("Judge separately"), "And 9 more" in page) == (20, True)
    client.post(at("pool_new", example), {**options, "act": "draw"})
    shown = client.get(at("pool", example, Pool.objects.get()), {"groups": "all"}).content.decode()
    assert (
        shown.count("Judge separately"),
        "more" in shown[shown.index("Judge separately") :].split("</section>")[0],
    ) == (
        29,
        False,
    )


@pytest.mark.slow
def test_a_pool_of_many_runs_is_reported_in_short_and_whole_in_its_files(
    example: Any, store: Any, client_of: Any, lead: Any, at: Any
) -> None:
    for number in range(18):
        store(example, "runs", f"q1 Q0 d{number} 1 3 x\nq1 Q0 e{number} 2 2 x\n".encode(), f"system-{number:02}.run")
    chosen = list(example.runs.all())
    pool = pools.draw_pool(example, strategy="depth", actor=lead, runs=chosen, parameters={"depth": 3})
    client = client_of(lead)
    page = client.get(at("pools", example)).content.decode()
    assert "bm25, neural, system-00 and 17 more" in page
    assert b"system-17" in b"".join(client.get(at("pools", example), {"format": "csv"}).streaming_content)
    page = client.get(at("pool", example, pool)).content.decode()
    assert "The 12 of 20 runs with the most unique pairs" in page
    assert ">20 runs</summary>" in page
    file = b"".join(client.get(at("pool", example, pool), {"table": "systems"}).streaming_content)
    assert file.count(b"system-") == 18
