"""Tests of snapshot visibility: labels are hidden from leads who may still grade one of their pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import Conflict, NotAllowed
from judgments.guidelines import guidelines
from judgments.rounds import rounds
from judgments.snapshots import snapshots

pytestmark = pytest.mark.django_db


def test_leads_who_still_rate_cannot_read_grades_from_a_snapshot(
    make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, lead: Any
) -> None:
    round_ = make_round(queries=1, documents=2, raters=[rater, lead])
    rate_all(round_, rater, 1)
    with pytest.raises(Conflict, match="may still grade"):
        snapshots.freeze(round_.collection, name="early", rounds=[round_], actor=lead)
    rate_all(round_, lead, 2)
    assert snapshots.freeze(round_.collection, name="done", rounds=[round_], actor=lead).summary["labels"] == 2


def test_snapshots_frozen_by_others_are_hidden_too(
    make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, lead: Any, engineer: Any, client_of: Any
) -> None:
    round_ = make_round(queries=1, documents=2, raters=[rater, lead])
    rate_all(round_, rater, 1)
    frozen = snapshots.freeze(round_.collection, name="early", rounds=[round_], actor=engineer)
    page, call = f"/snapshots/{frozen.uuid}/export/ratings-csv/", f"/api/v1/snapshots/{frozen.uuid}/export/ratings-csv/"

    def statuses(user: Any) -> list[int]:
        return [client_of(user).get(address).status_code for address in (page, call)]

    assert (statuses(lead), statuses(engineer)) == ([403, 403], [200, 200])
    rate_all(round_, lead, 2)
    assert statuses(lead) == [200, 200]


def test_snapshots_of_a_closed_round_are_hidden_while_its_pairs_are_rated_again(
    make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, lead: Any, engineer: Any, client_of: Any
) -> None:
    first = make_round(queries=2, documents=2, raters=[rater])
    rate_all(first, rater, 1)
    first = rounds.close_round(first, actor=lead)
    frozen = snapshots.freeze(first.collection, name="first", rounds=[first], actor=lead)
    page, call = f"/snapshots/{frozen.uuid}/export/trec-qrels/", f"/api/v1/snapshots/{frozen.uuid}/export/trec-qrels/"

    def statuses(user: Any) -> list[int]:
        return [client_of(user).get(address).status_code for address in (page, call)]

    assert statuses(lead) == [200, 200]

    def counted(user: Any) -> list[bool]:
        """Where the labels are counted by grade."""
        preview = (
            f"/c/{first.collection.slug}/snapshots/new/?rounds={first.uuid}&rule=median&sources=human&merge=newest"
        )
        pages = [client_of(user).get(address).content for address in (f"/snapshots/{frozen.uuid}/", preview)]
        api = client_of(user).get(f"/api/v1/snapshots/{frozen.uuid}/").json()["summary"]
        return [*(b'aria-label="Labels by grade"' in page for page in pages), "by_grade" in api]

    assert counted(lead) == [True, True, True]
    again = make_round(queries=2, documents=2, raters=[lead], name="Again")
    assert (statuses(lead), statuses(engineer)) == ([403, 403], [200, 200])
    assert (counted(lead), counted(engineer)[::2]) == ([False, False, False], [True, True])
    rate_all(again, lead, 2)
    assert (statuses(lead), counted(lead)) == ([200, 200], [True, True, True])


def test_agreement_of_the_rounds_is_hidden(
    make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, rater2: Any, lead: Any, client_of: Any
) -> None:
    """An alpha over all pairs, less the grades that the lead knows, tells those of the pairs that they still grade."""
    first = make_round(queries=3, documents=3, raters=[rater, rater2], ratings_per_pair=2)
    rate_all(first, rater, 1)
    rate_all(first, rater2, 2)
    first = rounds.close_round(first, actor=lead)
    frozen = snapshots.freeze(first.collection, name="first", rounds=[first], actor=lead, override_reason="a test")
    alpha = frozen.manifest["rounds"][0]["agreement"]["alpha"]["ordinal"]["value"]
    page = f"/snapshots/{frozen.uuid}/"
    assert f"{alpha:.3f}".replace("-", "−") in client_of(lead).get(page).content.decode()
    again = make_round(queries=1, documents=1, raters=[lead], name="Again")
    content = client_of(lead).get(page).content.decode()
    assert f"{alpha:.3f}".replace("-", "−") not in content
    assert "gate " not in content
    rate_all(again, lead, 2)
    assert f"{alpha:.3f}".replace("-", "−") in client_of(lead).get(page).content.decode()


def test_grades_of_duplicates_of_open_pairs_are_hidden(
    make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, lead: Any
) -> None:
    first = make_round(queries=1, documents=2, raters=[rater])
    first.pairs.filter(position=1).delete()
    rate_all(first, rater, 1)
    first = rounds.close_round(first, actor=lead)
    frozen = snapshots.freeze(first.collection, name="first", rounds=[first], actor=lead)
    again = make_round(queries=1, documents=2, raters=[lead], name="Again")
    again.pairs.filter(position=0).delete()
    snapshots.check_reader(frozen, lead)  # another document
    held, judged = again.pairs.get(), first.pairs.get()
    held.origin = {**held.origin, "copies": [{"doc_id": judged.document.doc_id}]}
    held.save()
    with pytest.raises(NotAllowed, match="may still grade"):
        snapshots.check_reader(frozen, lead)


def test_the_manifest_hides_pairs_that_were_rated_again(
    make_round: Callable[..., Any], rate_all: Callable[..., int], rater: Any, lead: Any, engineer: Any, client_of: Any
) -> None:
    """The manifest holds how often each grade was given, and how many labels changed from round to round."""
    first = make_round(queries=1, documents=1, raters=[rater])
    rate_all(first, rater, 3)
    rounds.close_round(first, actor=lead)
    guidelines.add_version(first.collection, markdown="Grade what helps most.", actor=lead)
    second = make_round(queries=1, documents=1, raters=[rater], name="Second")
    rate_all(second, rater, 0)
    rounds.close_round(second, actor=lead)
    frozen = snapshots.freeze(first.collection, name="both", rounds=[first, second], actor=lead)
    page, call = f"/snapshots/{frozen.uuid}/export/manifest/", f"/api/v1/snapshots/{frozen.uuid}/manifest/"

    def manifest_of(user: Any) -> list[Any]:
        shown = client_of(user).get(f"/snapshots/{frozen.uuid}/").content
        return [
            *(client_of(user).get(address).status_code for address in (page, call)),
            b"with the same label" in shown,
        ]

    assert manifest_of(lead) == [200, 200, True]
    again = make_round(queries=1, documents=1, raters=[lead], name="Again")
    assert (manifest_of(lead), manifest_of(engineer)) == ([403, 403, False], [200, 200, True])
    rate_all(again, lead, 2)
    assert manifest_of(lead) == [200, 200, True]
