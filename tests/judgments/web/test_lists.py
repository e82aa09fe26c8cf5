"""Tests of the shared list view: sorting, filters, paging and downloads of the same rows."""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.models import Query
from judgments.web.columns import Column
from judgments.web.lists import ChoiceFilter, Listing

pytestmark = pytest.mark.both_databases
SHOES = Listing(
    name="shoes",
    noun=("shoe", "shoes"),
    columns=(
        Column("name", "Name", order="name", head=True),
        Column("price", "Price", order="price", numeric=True),
        Column("note", "Note"),
    ),
    search=("name",),
    choices=(ChoiceFilter("kind", "Kind", "kind", [("boot", "boots"), ("clog", "clogs")]),),
    order="name",
    page_size=2,
)
ROWS = [
    {"name": "Fell", "price": 120.0, "kind": "boot", "note": "=cmd()"},
    {"name": "Ash", "price": None, "kind": "clog", "note": None},
    {"name": "Tarn", "price": 1200.5, "kind": "boot", "note": "<b>"},
]


def names(page):
    return [row["name"] for row in page.rows]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, ["Ash", "Fell"]),
        ({"page": "2"}, ["Tarn"]),
        ({"page": "99"}, ["Tarn"]),
        ({"page": "x"}, ["Ash", "Fell"]),
        ({"sort": "-name"}, ["Tarn", "Fell"]),
        ({"sort": "-price"}, ["Tarn", "Fell"]),
        ({"sort": "price"}, ["Fell", "Tarn"]),
        ({"sort": "note"}, ["Ash", "Fell"]),
        ({"q": "TAR"}, ["Tarn"]),
        ({"q": "nothing"}, []),
        ({"kind": "clog"}, ["Ash"]),
        ({"kind": "sandal"}, ["Ash", "Fell"]),
    ],
)
def test_parameters_choose_the_rows(params, expected):
    assert names(SHOES.read(params, ROWS)) == expected


def test_words_say_which_rows_of_how_many():
    assert SHOES.read({}, ROWS).words == "1–2 of 3 shoes"
    assert SHOES.read({"q": "ash"}, ROWS).words == "1 shoe"


def test_page_links_keep_the_query():
    page = SHOES.read({"kind": "boot", "sort": "-price"}, ROWS)
    assert page.csv == "?kind=boot&sort=-price&format=csv"
    assert {column.key: url for column, url, _ in page.heads}["price"] == "?kind=boot&sort=price"


def test_first_sort_of_a_number_starts_with_the_highest():
    heads = {column.key: url for column, url, _ in SHOES.read({}, ROWS).heads}
    assert (heads["price"], heads["name"], heads["note"]) == ("?sort=-price", "?sort=-name", "")


def test_file_holds_the_whole_filtered_list_and_runs_no_formula():
    lines = list(SHOES.read({"sort": "-price", "page": "2"}, ROWS).csv_lines())
    assert lines == ["name,price,note\n", "Tarn,1200.5,<b>\n", "Fell,120.0,'=cmd()\n", "Ash,,\n"]


def test_page_shows_separators_and_escapes():
    _, cells = SHOES.read({"q": "tarn"}, ROWS).table[0]
    assert [str(cell.shown) for cell in cells] == ["Tarn", "1,200.500", "<b>"]


def test_an_empty_list_differs_from_an_empty_search():
    assert SHOES.read({}, []).nothing
    assert not SHOES.read({"q": "zzz"}, ROWS).nothing


@pytest.fixture
def many(collection):
    rows = [
        Query(collection=collection, query_id=f"q{n:03}", text=f"jacket {n}", frequency=n or None) for n in range(120)
    ]
    Query.objects.bulk_create([*rows, Query(collection=collection, query_id="z", text="-1+1", tier="head")])
    return reverse("queries", args=[collection.slug])


@pytest.fixture
def get(many, lead, client_of):
    client = client_of(lead)
    return lambda query="", **more: client.get(many + query, **more)


def test_page_of_a_queryset(get):
    html = get("?page=2").content.decode()
    assert "51–100 of 121 queries" in html
    assert "q050" in html
    assert "q049" not in html


def test_rows_without_a_value_come_last_in_both_orders(get):
    for sort in ("frequency", "-frequency"):
        rows = get(f"?sort={sort}&page=3").context["listing"].rows
        assert [row.query_id for row in rows][-2:] == ["q000", "z"]


def test_filters_of_a_queryset(get):
    assert get("?q=jacket+7").context["listing"].count == 11
    assert get("?tier=head").context["listing"].count == 1
    assert "No query matches" in get("?q=%00nothing").content.decode()


def test_download_is_named_after_the_collection(get):
    response = get("?format=csv&tier=head")
    assert response.headers["Content-Disposition"] == 'attachment; filename="shop-queries.csv"'
    lines = b"".join(response.streaming_content).decode().splitlines()
    assert lines[0].startswith("query_id,query,frequency")
    assert lines[1].startswith("z,'-1+1,,head")


def test_htmx_gets_the_table_alone(get):
    response = get("?q=jacket", headers={"HX-Request": "true", "HX-Target": "queries"})
    assert response.content.decode().lstrip().startswith('<div id="queries"')
    assert "HX-Request" in response.headers["Vary"]


def test_head_says_how_it_is_sorted(get):
    assert '<th scope="col" class="num" aria-sort="descending">' in get("?sort=-frequency").content.decode()


def test_number_of_database_queries_does_not_grow_with_rows(get, django_assert_max_num_queries):
    with django_assert_max_num_queries(25):
        get()


def test_addresses_carry_what_the_page_was_given():
    listing = Listing("d", ("row", "rows"), (Column("a", "A", order="a"),), order="a", given={"metric": "AP"})
    page = listing.read({"sort": "-a", "q": ""}, [{"a": 1}])
    assert page.csv == "?metric=AP&sort=-a&format=csv"
    assert page.everything == "?metric=AP"


def test_a_head_that_others_named_runs_no_formula():
    shared = Listing(name="shared", noun=("run", "runs"), columns=(Column("=cmd()", "=cmd()"),), order="")
    assert next(shared.read({}, []).csv_lines()) == "'=cmd()\n"
