"""Does a lead see the pool before it is drawn, and everybody on the staff why each pair is in it?"""

from __future__ import annotations

import re
from typing import Any

import pytest

from pooling.models import Pool

LIST = "query_id,doc_id\nq1,d1\nq2,d9\n"


def _asked(example: Any, **more: Any) -> dict[str, Any]:
    runs = [str(run.uuid) for run in example.runs.all()]
    return {"strategy": "depth", "runs": runs, "depth": "3", "residual": "0", "by": "rank", "seed": "1", **more}


def test_the_empty_list_says_what_is_missing(collection: Any, client_of: Any, lead: Any, at: Any) -> None:
    assert b"Add queries first" in client_of(lead).get(at("pools", collection)).content
    assert b"A pool needs queries" in client_of(lead).get(at("pool_new", collection)).content


def test_the_page_opens_with_a_preview_of_all_runs(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    page = client_of(lead).get(at("pool_new", example)).content.decode()
    assert "Draw 5 pairs" in page
    assert "assuming 20 s a rating" in page
    assert "All runs share 1 of the pairs, 20 %" in page


def test_a_strategy_asks_for_its_own_parameters(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    page = client_of(lead).get(at("pool_new", example), {"strategy": "rbp"}).content.decode()
    assert 'name="p"' in page
    assert 'value="0.8"' in page


def test_a_preview_has_an_address_and_stores_nothing(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    page = client_of(lead).get(at("pool_new", example), _asked(example, depth="1")).content.decode()
    assert "Draw 2 pairs" in page
    assert not Pool.objects.exists()


def test_the_button_sends_what_was_previewed(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    client = client_of(lead)
    page = client.get(at("pool_new", example), _asked(example, depth="1", leave_out_judged="on")).content.decode()
    button = page[page.index('<form class="row" method="post"') :]
    sent: dict[str, list[str]] = {"act": ["draw"]}
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', button):
        sent.setdefault(name, []).append(value)
    client.post(at("pool_new", example), sent)
    assert (Pool.objects.get().parameters["depth"], Pool.objects.get().entries.count()) == (1, 2)


def test_drawing_leads_to_the_pool(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    client = client_of(lead)
    answer = client.post(at("pool_new", example), _asked(example, act="draw", seed="9"))
    pool = Pool.objects.get()
    assert answer.headers["Location"] == at("pool", example, pool)
    assert (pool.seed, pool.entries.count()) == (9, 5)
    assert "Make a round from these pairs" in client.get(answer.headers["Location"]).content.decode()


@pytest.mark.parametrize("wrong", [{"depth": "0"}, {"budget": "0"}, {"runs": []}, {"by": "taste"}, {"seed": ""}])
def test_a_wrong_form_is_answered_with_422(example: Any, client_of: Any, lead: Any, at: Any, wrong: Any) -> None:
    answer = client_of(lead).post(at("pool_new", example), _asked(example, act="draw", **wrong))
    assert answer.status_code == 422
    assert not Pool.objects.exists()


def test_a_given_list_is_previewed_then_drawn(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    client = client_of(lead)
    sent = {"strategy": "list", "pairs": LIST.replace("\n", "\r\n"), "seed": "1"}
    page = client.post(at("pool_new", example), sent).content.decode()
    assert "Draw 2 pairs" in page
    assert "odd line" not in page
    client.post(at("pool_new", example), {**sent, "act": "draw"})
    assert Pool.objects.get().entries.count() == 2


def test_a_list_comes_as_a_file_too_and_is_kept_for_the_draw(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile

    file = SimpleUploadedFile("pairs.csv", LIST.encode())
    page = client_of(lead).post(at("pool_new", example), {"strategy": "list", "seed": "1", "file": file})
    assert "query_id,doc_id\nq1,d1\nq2,d9\n</textarea>" in page.content.decode()


@pytest.mark.parametrize(("pairs", "said"), [("", "no pair yet"), ("q1,d1\n", "query_id"), (LIST + "q9,d1\n", "q9")])
def test_a_list_that_cannot_be_used_says_why(
    example: Any, client_of: Any, lead: Any, at: Any, pairs: str, said: str
) -> None:
    answer = client_of(lead).post(at("pool_new", example), {"strategy": "list", "pairs": pairs, "seed": "1"})
    assert answer.status_code == 422
    assert said in answer.content.decode()


def test_the_pool_shows_why_each_pair_is_here(pool: Any, client_of: Any, engineer: Any, at: Any) -> None:
    page = client_of(engineer).get(at("pool", pool.collection, pool)).content.decode()
    assert "bm25 1, neural 2" in page
    assert page.count('role="img"') == 2
    assert "Make a round" not in page


def test_pairs_filter_by_run_and_reason(example: Any, client_of: Any, lead: Any, at: Any) -> None:
    client = client_of(lead)
    client.post(at("pool_new", example), _asked(example, act="draw", depth="1", residual="2"))
    page = at("pool", example, Pool.objects.get())
    residual = client.get(page, {"why": "residual", "format": "csv"})
    lines = b"".join(residual.streaming_content).decode().splitlines()
    assert [line.split(",")[5] for line in lines[1:]] == ["residual", "residual"]
    found = client.get(page, {"run": "neural", "why": "chosen"}).content.decode()
    assert "2 pairs" in found or "1 pair" in found


def test_the_pool_names_its_rounds(open_round: Any, pool: Any, client_of: Any, engineer: Any, at: Any) -> None:
    page = client_of(engineer).get(at("pool", pool.collection, pool)).content.decode()
    assert f"/rounds/{open_round.uuid}/progress/" in page


@pytest.mark.parametrize("table", ["systems", "ranks"])
def test_the_pictures_download_as_tables(pool: Any, client_of: Any, engineer: Any, at: Any, table: str) -> None:
    answer = client_of(engineer).get(at("pool", pool.collection, pool), {"table": table})
    assert answer.headers["Content-Disposition"] == f'attachment; filename="shop-{table}.csv"'


def test_an_engineer_reads_pools_and_draws_none(example: Any, client_of: Any, engineer: Any, at: Any) -> None:
    client = client_of(engineer)
    assert client.get(at("pools", example)).status_code == 200
    assert client.get(at("pool_new", example)).status_code == 403


def test_the_list_of_pairs_needs_a_fixed_number_of_queries(
    pool: Any, client_of: Any, lead: Any, at: Any, django_assert_max_num_queries: Any
) -> None:
    client = client_of(lead)
    client.get(at("pool", pool.collection, pool))
    with django_assert_max_num_queries(40):
        client.get(at("pool", pool.collection, pool))


def test_large_runs_are_pooled_by_a_job(example: Any, client_of: Any, lead: Any, at: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("pooling.pools.LARGE", 5)
    client = client_of(lead)
    assert "in the background" in client.get(at("pool_new", example)).content.decode()
    answer = client.post(at("pool_new", example), _asked(example, act="draw"))
    assert answer.headers["Location"].startswith("/jobs/")
