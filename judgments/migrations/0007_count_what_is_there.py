"""What is kept current from now on is counted once for the rounds that there are."""

from __future__ import annotations

from collections import defaultdict
from math import log2
from typing import Any

from django.db import migrations
from django.db.models import Count, F, Max, Min, Q


def count(apps: Any, schema_editor: Any) -> None:
    round_, pair = apps.get_model("judgments", "Round"), apps.get_model("judgments", "Pair")
    for row in round_.objects.all():
        row.pairs_made = row.pairs.count()
        row.slots_made = row.slots.count()
        row.save(update_fields=["pairs_made", "slots_made"])
        _tallies(apps, row)
        _spreads(pair, row)
    settled = apps.get_model("judgments", "Adjudication").objects.values("pair")
    pair.objects.filter(pk__in=settled).update(settled=True)


def _spreads(pair: Any, round_: Any) -> None:
    counted = Q(
        judgments__superseded_by__isnull=True, judgments__state="graded", judgments__surplus=False
    )
    apart = pair.objects.filter(round=round_).annotate(
        low=Min("judgments__grade", filter=counted), high=Max("judgments__grade", filter=counted)
    )
    for pk, low, high in apart.filter(high__gt=F("low")).values_list("pk", "low", "high"):
        pair.objects.filter(pk=pk).update(spread=high - low)


def _tallies(apps: Any, round_: Any) -> None:
    tally = apps.get_model("judgments", "Tally")
    judgments = apps.get_model("judgments", "Judgment").objects.filter(pair__round=round_)
    current = judgments.filter(superseded_by__isnull=True).exclude(state="undone")
    events = dict(judgments.order_by().values_list("rater").annotate(number=Count("pk")))
    filled = dict(
        round_.slots.filter(filled_by__isnull=False).order_by().values_list("rater").annotate(number=Count("pk"))
    )
    states: dict[tuple[int, str], int] = {
        (rater, state): number
        for rater, state, number in current.order_by().values_list("rater", "state").annotate(number=Count("pk"))
    }
    surplus = dict(current.filter(surplus=True).order_by().values_list("rater").annotate(number=Count("pk")))
    last = dict(judgments.order_by().values_list("rater").annotate(last=Max("created_at")))
    seconds: dict[int, dict[str, int]] = defaultdict(dict)
    timed = current.filter(state="graded", seconds_active__isnull=False)
    for rater, value in timed.values_list("rater", "seconds_active"):
        name = str(round(10 * log2(max(value, 0.1))))
        seconds[rater][name] = seconds[rater].get(name, 0) + 1
    tally.objects.bulk_create(
        tally(
            round=round_,
            rater_id=rater,
            events=number,
            filled=filled.get(rater, 0),
            surplus=surplus.get(rater, 0),
            seconds=seconds[rater],
            last_at=last[rater],
            **{state: states.get((rater, state), 0) for state in ("graded", "unrateable", "later")},
        )
        for rater, number in events.items()
    )


class Migration(migrations.Migration):
    dependencies = [("judgments", "0006_rounds_and_raters")]

    operations = [migrations.RunPython(count, migrations.RunPython.noop)]
