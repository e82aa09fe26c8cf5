"""Does the agreement page say how far raters agree, with n and reason, and no more than the reader may see?"""

from __future__ import annotations

import pytest
from django.urls import reverse

from judgments.views.agreement import Row, gate

pytestmark = pytest.mark.django_db


@pytest.fixture
def open_round(make_round, rater, rater2):
    return make_round(raters=[rater, rater2], queries=4, documents=5)


def place(pair):
    return pair.position % 4


def near(pair):
    return min(3, place(pair) + (pair.position % 5 == 0))


def page(client, round_, query=""):
    return client.get(reverse("round_agreement", args=[round_.uuid]) + query)


def headline(low, high):
    value = None if low is None else (low + high) / 2
    return Row("", "", value, low, high, 10, "", None)


def test_undefined_is_a_sentence(client_of, open_round, lead):
    html = page(client_of(lead), open_round).content.decode()
    assert "alpha is not defined: no pair was graded by two raters" in html
    assert "nan" not in html.casefold().replace("finan", "")


def test_headline_has_interval_and_n(client_of, open_round, lead, rater, rater2, rate_all):
    rate_all(open_round, rater, grade=place)
    rate_all(open_round, rater2, grade=near)
    response = page(client_of(lead), open_round)
    first = response.context["headline"]
    assert first.low < first.value < first.high
    assert first.n == 20
    assert f"{first.value:.3f}" in response.content.decode()


def test_everybody_the_same_is_not_agreement(client_of, open_round, lead, rater, rater2, rate_all):
    for user in (rater, rater2):
        rate_all(open_round, user, grade=2)
    assert "every overlapping grade is the same" in page(client_of(lead), open_round).content.decode()


def test_matrix_switches_its_weights(client_of, open_round, lead, rater, rater2, rate_all):
    rate_all(open_round, rater, grade=place)
    rate_all(open_round, rater2, grade=near)
    cells = [
        page(client_of(lead), open_round, f"?weights={name}").context["matrix"][0][2][1]["value"]
        for name in ("unweighted", "quadratic")
    ]
    assert cells[0] < cells[1]
    assert page(client_of(lead), open_round, "?weights=cubic").context["weights"] == "quadratic"


def test_confusion_counts_each_two_raters(client_of, open_round, lead, rater, rater2, rate_all):
    rate_all(open_round, rater, grade=place)
    rate_all(open_round, rater2, grade=near)
    confusion = page(client_of(lead), open_round).context["confusion"]
    assert confusion["n"] == 20
    assert sum(cell["n"] for _, cells in confusion["rows"] for cell in cells if cell) == 20


def test_lead_who_rates_sees_no_single_pair(client_of, make_round, lead, rater, rater2, rate_all):
    round_ = make_round(raters=[lead, rater, rater2], ratings_per_pair=3)
    rate_all(round_, rater, grade=place)
    rate_all(round_, rater2, grade=near)
    response = page(client_of(lead), round_)
    assert response.context["confusion"]["n"] == 0
    assert "You rate in this round" in response.content.decode()


def test_files_hold_every_coefficient(client_of, open_round, engineer, rater, rater2, rate_all):
    rate_all(open_round, rater, grade=place)
    rate_all(open_round, rater2, grade=near)
    client = client_of(engineer)
    assert page(client, open_round, "?format=json").json()["overlap"] == 20
    lines = page(client, open_round, "?format=csv").content.decode().splitlines()
    assert lines[0] == "coefficient,a,b,value,low,high,n,reason"
    assert len(lines) == 1 + 6 + 3


def test_raters_and_outsiders_stay_out(client_of, open_round, rater, outsider):
    assert [page(client_of(user), open_round).status_code for user in (rater, outsider)] == [403, 404]


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [(0.61, 0.7, "passed"), (0.5, 0.7, "undecided"), (0.1, 0.59, "failed"), (None, None, "undefined")],
)
def test_gate_decides_on_the_interval(low, high, word):
    assert gate(headline(low, high)).verdict == word


@pytest.mark.parametrize(("low", "start"), [(0.2, "0.0"), (-0.1, "−0.2"), (-0.3, "−0.4"), (-0.9, "−1.0")])
def test_picture_reaches_as_far_down_as_the_interval(low, start):
    picture = gate(headline(low, 0.9))
    assert picture.ticks[0] == (start, 0.0)
    assert picture.ticks[-1] == ("1.0", 340.0)
    assert 0 <= picture.low <= picture.value <= picture.high <= 340
