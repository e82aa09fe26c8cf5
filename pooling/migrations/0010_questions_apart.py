"""Questions that only answer rounds brought into a collection are no longer queries of it."""

from datetime import timedelta

from django.db import migrations

MADE = "answer_rounds.create_answer_rounds"
# What the action records of its parts before its own row.
PARTS = {"guidelines.add_version", "rounds.create_round", MADE}
LONGEST = timedelta(minutes=10)
BATCH = 500
# `join` cuts longer ids, to have room for a UUID.
LONGEST_ID = 460
# A query from a log, a file or a page usually has one of these.
UNTOUCHED = {
    "narrative": "",
    "draft": "",
    "group": "",
    "language": "",
    "tier": "",
    "frequency__isnull": True,
    "clients__isnull": True,
    "probability__isnull": True,
    "weight__isnull": True,
    "raw_row__isnull": True,
    "sample__isnull": True,
    "stratum__isnull": True,
    "places__isnull": True,
    "imported_labels__isnull": True,
}


def _rows(apps, app, name):
    return apps.get_model(app, name)._base_manager.all()


def separate(apps, schema_editor):
    """Mark a query as a question when nothing but answer rounds can have brought it, and nothing else uses it."""
    query, pairs = _rows(apps, "judgments", "Query"), _rows(apps, "judgments", "Pair")
    rounds = _rows(apps, "judgments", "Round").exclude(dimension="")
    for collection in sorted(set(rounds.values_list("collection", flat=True))):
        of_answers = dict(rounds.filter(collection=collection).values_list("pk", "uuid"))
        asked = pairs.filter(round__in=of_answers).values("query")
        rows = query.filter(collection=collection, kind="query", pk__in=asked, **UNTOUCHED)
        found = [row.pk for row in rows if not _is_used(apps, row, of_answers) and _is_made(apps, row, of_answers)]
        for start in range(0, len(found), BATCH):
            query.filter(pk__in=found[start : start + BATCH]).update(kind="question")
        _restore(query.filter(collection=collection, pk__in=asked))


def _restore(rows):
    """Give the questions that `join` renamed their kind and id back."""
    for row in rows:
        query_id = row.query_id.removesuffix(f" {row.uuid}")
        if query_id != row.query_id:
            row.kind = "question"
            row.query_id = query_id if len(query_id) < LONGEST_ID else row.query_id
            row.save(update_fields=["kind", "query_id"])


def _is_used(apps, row, of_answers):
    """Whether a pool, a round of documents or its gold pairs hold the query."""
    return (
        _rows(apps, "pooling", "PoolEntry").filter(query=row.pk).exists()
        or _rows(apps, "judgments", "Pair").filter(query=row.pk).exclude(round__in=of_answers).exists()
        or _rows(apps, "judgments", "GoldPair").filter(query=row.pk).exclude(round__in=of_answers).exists()
    )


def _is_made(apps, row, of_answers):
    """Whether the act recorded next after the query made one of its rounds, with nothing else in between."""
    acts = _rows(apps, "judgments", "AuditRow").filter(collection=row.collection_id, at__gte=row.created_at)
    for act in acts.filter(at__lte=row.created_at + LONGEST).order_by("at", "pk")[:20]:
        if act.verb not in PARTS:
            return False
        if act.verb == MADE:
            mine = row.pairs.values_list("round", flat=True).distinct()
            return bool({str(of_answers[pk]) for pk in mine} & set(act.detail.get("rounds", [])))
    return False


def join(apps, schema_editor):
    """Make questions queries again; one whose id a query has by now gets another id."""
    query = _rows(apps, "judgments", "Query")
    for row in query.filter(kind="question"):
        taken = query.filter(collection=row.collection_id, kind="query", query_id=row.query_id)
        if taken.exists():
            row.query_id = f"{row.query_id[:LONGEST_ID]} {row.uuid}"
        row.kind = "query"
        row.save(update_fields=["kind", "query_id"])


class Migration(migrations.Migration):
    dependencies = [("pooling", "0009_archive"), ("judgments", "0025_questions_apart")]

    operations = [migrations.RunPython(separate, join)]
