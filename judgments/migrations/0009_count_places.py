"""Places are kept by language, and how many are open to whom is kept current: counted once for the rounds there are."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from django.db import migrations
from django.db.models import Count, Max, OuterRef, Q, Subquery


def count(apps: Any, schema_editor: Any) -> None:
    slot = apps.get_model("judgments", "Slot")
    pair = apps.get_model("judgments", "Pair")
    language = pair.objects.filter(pk=OuterRef("pair")).values("query__language")[:1]
    slot.objects.exclude(pair__query__language="").update(language=Subquery(language))
    for round_ in apps.get_model("judgments", "Round").objects.all():
        made = round_.pairs.order_by().values_list("query__language").annotate(number=Count("pk"))
        round_.languages_made = dict(made)
        round_.save(update_fields=["languages_made"])
        _places(apps, round_)


def _places(apps: Any, round_: Any) -> None:
    judgments = apps.get_model("judgments", "Judgment").objects.filter(pair__round=round_)
    tallies = apps.get_model("judgments", "Tally").objects.filter(round=round_)
    slots = apps.get_model("judgments", "Slot").objects.filter(round=round_)
    unfilled = set(slots.filter(filled_by__isnull=True).values_list("pair", flat=True))
    had: dict[int, set[tuple[int, str]]] = defaultdict(set)
    full: dict[int, set[tuple[int, str]]] = defaultdict(set)
    filled = slots.filter(filled_by__isnull=False).order_by("-rater")
    home: dict[int, int] = {}
    for pair, rater, language in filled.values_list("pair", "rater", "language"):
        home[pair] = rater  # whose row counts a full pair does not matter: rows are added up
        if pair in unfilled:
            had[rater].add((pair, language))
    for pair, rater, language in filled.values_list("pair", "rater", "language"):
        if pair not in unfilled and home[pair] == rater:
            full[rater].add((pair, language))
    over = judgments.filter(Q(surplus=True) | Q(state="requeued"))
    for pair, rater, language in over.values_list("pair", "rater", "pair__query__language"):
        if pair in unfilled:
            had[rater].add((pair, language))
    newest = dict(judgments.order_by().values_list("rater").annotate(last=Max("pk")))
    places = dict(judgments.filter(pk__in=newest.values()).values_list("rater", "pair__position"))
    for tally in tallies:
        counted = Counter(f"had:{language}" for _, language in had[tally.rater_id])
        counted += Counter(f"full:{language}" for _, language in full[tally.rater_id])
        tally.places, tally.reached = dict(counted), places.get(tally.rater_id)
        tally.save(update_fields=["places", "reached"])


class Migration(migrations.Migration):
    dependencies = [("judgments", "0008_places_by_language")]

    operations = [migrations.RunPython(count, migrations.RunPython.noop)]
