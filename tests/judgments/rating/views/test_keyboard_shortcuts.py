"""Tests of keyboard shortcuts: custom keys, swaps, conflicts, reset."""

from __future__ import annotations

import pytest
from django.urls import reverse

from assay.core.errors import NotValid
from judgments.models import User
from judgments.rating.keyboard_shortcuts import ACTS, set_keys, table

pytestmark = pytest.mark.django_db


def test_a_custom_key_replaces_the_default(rater):
    set_keys(rater, {"later": "S", "grade-2": "d", "undo": "z"})
    assert User.objects.get(pk=rater.pk).station_keys == {"later": "s", "grade-2": "d"}
    assert table(rater)["s"] == "later"
    assert table(rater)["d"] == "grade-2"
    assert "l" not in table(rater)


def test_a_second_usual_key_gives_way_to_a_wish(rater):
    set_keys(rater, {"note": "-"})
    assert table(rater)["-"] == "note"
    assert table(rater)["u"] == "unable"


def test_acts_may_swap_their_keys(rater):
    set_keys(rater, {"later": "n", "note": "l"})
    assert (table(rater)["n"], table(rater)["l"]) == ("later", "note")


@pytest.mark.parametrize(
    ("wanted", "fault"),
    [
        ({"later": "n"}, "later"),
        ({"later": "x", "note": "x"}, "later"),
        ({"grade-1": "x", "grade-2": "x"}, "grade-1"),
        ({"grade-1": "u"}, "grade-1"),
        ({"later": "5"}, "later"),
        ({"later": "ab"}, "later"),
        ({"later": "٣"}, "later"),
    ],
)
def test_conflicts_and_what_is_no_key_are_refused(rater, wanted, fault):
    with pytest.raises(NotValid) as refused:
        set_keys(rater, wanted)
    assert fault in refused.value.fields
    assert User.objects.get(pk=rater.pk).station_keys == {}


def test_every_act_has_a_key_that_no_other_has(rater):
    keys = [key for usual, also, _ in ACTS.values() for key in (usual, also) if key]
    assert len(keys) == len(set(keys)) == len(table(rater))


def test_page_keeps_refuses_and_resets(client_of, rater):
    client, url = client_of(rater), reverse("station_keys")
    assert client.post(url, {"later": "s"}).status_code == 302
    refused = client.post(url, {"later": "n"})
    assert refused.status_code == 422
    assert "is already the key for “write a note”" in refused.content.decode()
    assert 'value="n"' in refused.content.decode()
    client.post(url, {"reset": "1", "later": "s"})
    assert User.objects.get(pk=rater.pk).station_keys == {}
