"""Update of rounds that are not closed when the language of a query is set or changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django.db import transaction

from judgments.models import Pair, Query, Round, Slot
from judgments.rating.pair_state import Ledger, pair_states


@transaction.atomic
def follow(queries: Sequence[Query]) -> None:
    """Update the slots and counters of every round that is not closed to the new languages of queries."""
    rounds = Round.objects.filter(pairs__query__in=queries).exclude(state=Round.State.CLOSED).distinct()
    for round_ in rounds.order_by("pk"):
        for query in queries:
            _move(round_, query)


def _move(round_: Round, query: Query) -> None:
    pairs = list(Pair.objects.select_for_update(no_key=True).filter(round=round_, query=query).order_by("pk"))
    round_rater = round_.raters.select_related("user").first()
    if not pairs:
        return
    pages = pair_states(pairs)
    # Full pairs can count in any rater's counters.
    ledger = Ledger(round_, pages.values(), round_rater.user) if round_rater is not None else None
    before = {page.language for page in pages.values()}
    Slot.objects.filter(pair__in=pairs).update(language=query.language)
    for page in pages.values():
        page.language = query.language
    if ledger is not None:
        ledger.write()
    locked = Round.objects.select_for_update().get(pk=round_.pk)
    made = Counter(locked.languages_made)
    made.subtract(dict.fromkeys(before, len(pairs)))
    made[query.language] += len(pairs)
    locked.languages_made = {language: number for language, number in made.items() if number > 0}
    locked.save(update_fields=["languages_made"])
