"""Tests of round settings: validation, allowed changes by state, audit rows."""

from __future__ import annotations

import math

import pytest

from assay.core.errors import Conflict, NotValid
from judgments.models import AuditRow
from judgments.rounds import rounds
from judgments.rounds import settings as round_settings
from judgments.rounds.settings import NAMES, NEVER, UNTIL_OPEN, RoundSettings

# For each setting a value that holds on a scale of 0-3 and is not the usual one.
OTHER = {
    "ratings_per_pair": 3,
    "overlap": 0.5,
    "breadth_first": True,
    "extra_at": 2,
    "extra_most": 2,
    "walk_in": True,
    "qualification": "medical",
    "by_language": True,
    "repeat_share": 0.1,
    "gold_every": 10,
    "pass_mark": 0.8,
    "pass_within": 1,
    "gate_coefficient": "ac2",
    "gate_threshold": 0.7,
    "as_list": True,
}
# What cannot hold; nan is a number that lies nowhere.
WRONG = [
    ("ratings_per_pair", 0),
    ("ratings_per_pair", 21),
    ("ratings_per_pair", 1.5),
    ("overlap", 1.1),
    ("overlap", math.nan),
    ("extra_at", 0),
    ("extra_most", None),
    ("gold_every", 1),
    ("repeat_share", 0.6),
    ("pass_mark", 0),
    ("pass_within", -1),
    ("gate_coefficient", "kappa"),
    ("gate_threshold", -2),
    ("qualification", "x" * 61),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=[f"{name}-{value}"[:30] for name, value in WRONG])
def test_a_value_that_cannot_hold_is_named(name, value):
    with pytest.raises(NotValid) as error:
        RoundSettings(**{name: value}).check()
    assert set(error.value.fields) == {name}


def test_all_errors_are_reported_at_once():
    with pytest.raises(NotValid) as error:
        RoundSettings(overlap=2, gold_every=0, gate_threshold=7).check()
    assert set(error.value.fields) == {"overlap", "gold_every", "gate_threshold"}


def test_settings_impossible_on_a_scale_are_refused():
    RoundSettings(extra_at=1).check([0, 1])
    for settings, named in [
        (RoundSettings(extra_at=2), "extra_at"),
        (RoundSettings(pass_mark=0.8, pass_within=1), "pass_within"),
    ]:
        with pytest.raises(NotValid) as error:
            settings.check([0, 1])
        assert set(error.value.fields) == {named}


@pytest.mark.django_db
def test_a_round_keeps_what_it_was_made_with(make_round, rater):
    rater.memberships.update(qualifications=[OTHER["qualification"]])
    made = make_round(raters=[rater], opened=False, settings=RoundSettings(**OTHER))
    made.refresh_from_db()
    assert RoundSettings.of(made).as_dict() == OTHER
    assert set(OTHER) == set(NAMES)


@pytest.mark.django_db
def test_single_arguments_win_over_the_settings(make_round, rater):
    made = make_round(raters=[rater], ratings_per_pair=3, settings=RoundSettings(ratings_per_pair=2, as_list=True))
    assert (made.ratings_per_pair, made.as_list) == (3, True)


@pytest.mark.django_db
def test_each_state_of_a_round_allows_less(make_round, rater, lead):
    round_ = make_round(raters=[rater], opened=False)

    def refused():
        names = set()
        for name, value in OTHER.items():
            try:
                round_settings.change(round_, {name: value}, actor=lead)
            except NotValid as error:
                names.update(error.fields)
            else:
                round_settings.change(round_, {name: getattr(RoundSettings(), name)}, actor=lead)
        assert names == set(round_settings.fixed(round_))
        return names

    assert refused() == set(NEVER)
    round_ = rounds.open_round(round_, actor=lead)
    assert refused() == {*NEVER, *UNTIL_OPEN}
    round_ = rounds.close_round(round_, actor=lead)
    with pytest.raises(Conflict):
        round_settings.change(round_, {"as_list": True}, actor=lead)
    assert round_settings.change(round_, {"gate_threshold": 0.7}, actor=lead).gate_threshold == 0.7
    # What is as it was is no change, whatever the state.
    round_settings.change(round_, {"as_list": False}, actor=lead)


@pytest.mark.django_db
def test_a_change_is_on_record_with_what_was_before(make_round, rater, lead):
    round_settings.change(make_round(raters=[rater]), {"gold_every": 8, "as_list": True}, actor=lead)
    row = AuditRow.objects.filter(verb="round_settings.change").get()
    assert row.detail == {"gold_every": [None, 8], "as_list": [False, True]}
    assert "gold_every to 8" in row.sentence
