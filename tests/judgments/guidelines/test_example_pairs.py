"""Test that pairs shown as examples in the guidelines are left out of a round under them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.core.errors import NotValid
from judgments.agreement import resolutions
from judgments.guidelines import examples, guidelines
from judgments.models import Example
from judgments.rounds import rounds
from judgments.rounds.rounds import Candidate

pytestmark = pytest.mark.django_db


def test_pairs_that_the_guidelines_show_as_examples_stay_out(
    make_round: Callable[..., Any], rater: Any, rater2: Any, answer: Callable[..., Any], lead: Any
) -> None:
    """Raters would read their grade, and a bridge between the two rounds would rest on it."""
    first = make_round(queries=1, documents=3, raters=[rater, rater2], name="First")
    pair = first.pairs.all()[0]
    settled = resolutions.resolve(pair, grade=2, reason="It shelters.", actor=lead)
    example = examples.propose(settled, actor=lead)
    text = f"{first.guidelines.markdown}\n\n- It shelters.\n"
    second = guidelines.add_version(first.collection, actor=lead, markdown=text)
    Example.objects.filter(pk=example.pk).update(version=second)
    chosen = [Candidate(one.query, one.document, {}) for one in first.pairs.select_related("query", "document")]
    again = {"candidates": chosen, "provenance": {}, "actor": lead}
    made = rounds.create_round(first.collection, name="Second", guidelines=second, **again)
    assert set(made.pairs.values_list("document", flat=True)) == {one.document.pk for one in chosen} - {
        pair.document_id
    }
    assert made.provenance == {"examples_left_out": 1}
    assert (made.pairs_made, made.slots_made) == (2, 4)
    # Under the version before nobody reads it.
    assert rounds.create_round(first.collection, name="Old", guidelines=first.guidelines, **again).pairs.count() == 3
    with pytest.raises(NotValid) as refused:
        rounds.create_round(first.collection, name="Third", guidelines=second, **{**again, "candidates": chosen[:1]})
    assert "show the grades" in refused.value.fields["pool"]
