"""A round with very many judgments in the database of DATABASE_URL, and how long its pages take. Prints JSON.

python full_round.py JUDGMENTS LOADS

Rows are written by the database itself, as the verbs would have left them: pairs with their spread, filled slots,
judgments, tallies. The database must be empty; static files go into ASSAY_VAR.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

RATERS, A_QUERY = 20, 100
# Every pair has two raters; the second differs from the first for one pair in four, by one step.
FIRST = f"(1 + i % {RATERS})"
SECOND = f"(1 + (i + 1 + i / {RATERS} % {RATERS - 1}) % {RATERS})"
GRADE = "(i * 7919 % 10007 % 4)"
OTHER = f"(CASE WHEN i * 31 % 101 % 4 = 0 THEN ({GRADE} + 1) % 4 ELSE {GRADE} END)"


def build(judgments: int) -> Any:
    """Make the collection, its people and the round; answer the round."""
    from django.db import connection, transaction

    from judgments.guidelines import guidelines
    from judgments.members import collections
    from judgments.models import Document, Membership, Query, Round, User
    from judgments.rounds import rounds

    pairs = judgments // 2
    lead = User.objects.create_user("lead")
    raters = [User.objects.create_user(f"rater{number:02}") for number in range(RATERS)]
    collection = collections.create_collection(actor=lead, slug="full", name="Full")
    Membership.objects.bulk_create(Membership(collection=collection, user=one, role="rater") for one in raters)
    queries = Query.objects.bulk_create(
        Query(collection=collection, query_id=f"q{n:06}", text=f"query {n}", tier=("head", "torso", "tail")[n % 3])
        for n in range(-(-pairs // A_QUERY))
    )
    documents = Document.objects.bulk_create(
        Document(collection=collection, doc_id=f"d{n:04}", title=f"Document {n}", content_sha256="0" * 64)
        for n in range(A_QUERY)
    )
    version = guidelines.add_version(collection, markdown="Grade what helps.", actor=lead)
    first = [rounds.Candidate(queries[0], documents[0], {})]
    made = rounds.create_round(
        collection,
        name="Full",
        candidates=first,
        provenance={},
        guidelines=version,
        actor=lead,
        raters=raters,
    )
    rounds.open_round(made, actor=lead)
    with transaction.atomic():
        made.slots.all().delete()
        made.pairs.all().delete()
        _fill(connection, made, pairs, queries[0].pk, documents[0].pk, raters[0].pk)
    Round.objects.filter(pk=made.pk).update(pairs_made=pairs, slots_made=2 * pairs)
    _tally(made)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    made.refresh_from_db()
    return made


def _fill(connection: Any, made: Any, pairs: int, query: int, document: int, rater: int) -> None:
    """Write pairs, judgments and slots, each with one statement."""
    postgres = connection.vendor == "postgresql"
    uuid = "gen_random_uuid()" if postgres else "lower(hex(randomblob(16)))"
    empty = "'{}'::jsonb" if postgres else "'{}'"
    false = "false" if postgres else "0"
    now = "now()" if postgres else "datetime('now')"
    numbers = f"WITH RECURSIVE n(i) AS (SELECT CAST(0 AS bigint) UNION ALL SELECT i + 1 FROM n WHERE i < {pairs - 1})"
    # Keys follow from the number, so that no statement has to look for another's rows.
    base = 1_000
    both = ((base, FIRST, GRADE, 0), (base + pairs, SECOND, OTHER, 1))
    apart = f"abs({GRADE} - {OTHER})"
    statements = [
        f"{numbers} INSERT INTO judgments_pair (id, uuid, round_id, query_id, document_id, position, ratings_wanted, "
        f"origin, spread, settled) SELECT {base} + i, {uuid}, {made.pk}, {query} + i / {A_QUERY}, "
        f"{document} + i % {A_QUERY}, i, 2, {empty}, {apart}, {false} FROM n"
    ]
    for first, who, grade, number in both:
        statements.append(
            f"{numbers} INSERT INTO judgments_judgment (id, uuid, pair_id, rater_id, client_id, state, grade, reason, "
            f"note, seconds_active, how, surplus, document_sha256, created_at) SELECT {first} + i, {uuid}, {base} + i, "
            f"{rater - 1} + {who}, {uuid}, 'graded', {grade}, '', '', 4 + i % 13, {empty}, {false}, '', {now} FROM n"
        )
        statements.append(
            f"{numbers} INSERT INTO judgments_slot (round_id, pair_id, position, number, language, rater_id, "
            f"filled_by_id) SELECT {made.pk}, {base} + i, i, {number} + 1, '', {rater - 1} + {who}, {first} + i FROM n"
        )
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _tally(made: Any) -> None:
    """Count the tallies as the verbs would have kept them."""
    from django.db.models import Count
    from django.utils import timezone

    from judgments.models import Judgment, Tally
    from judgments.rating.pair_state import seconds_class

    rows = Judgment.objects.of_round(made).order_by().values_list("rater", "seconds_active").annotate(n=Count("pk"))
    tallies: dict[int, Tally] = {}
    for rater, seconds, number in rows:
        tally = tallies.setdefault(rater, Tally(round=made, rater_id=rater, last_at=timezone.now()))
        for name in ("graded", "filled", "events"):
            setattr(tally, name, getattr(tally, name) + number)
        named = seconds_class(seconds)
        tally.seconds[named] = tally.seconds.get(named, 0) + number
    Tally.objects.bulk_create(tallies.values())


def timed(work: Callable[[], Any], times: int) -> list[float]:
    """Do it again and again; the seconds of each."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return seconds


def freeze(made: Any) -> None:
    """Freeze the round as its lead does; every pair must have its label."""
    from judgments.models import User
    from judgments.snapshots import snapshots

    lead = User.objects.get(username="lead")
    frozen = snapshots.freeze(made.collection, name="Full", rounds=[made], actor=lead, override_reason="measured")
    if frozen.summary["labels"] != made.pairs_made:
        raise SystemExit(f"{frozen.summary['labels']} labels were frozen of {made.pairs_made} pairs")


def main(words: Sequence[str]) -> None:
    """Build, count once, and load each page as a lead does."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import Client
    from django.urls import reverse

    from judgments.agreement import round_report
    from judgments.models import User

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    judgments, loads = int(words[0]), int(words[1])
    began = time.perf_counter()
    made = build(judgments)
    times: dict[str, Any] = {"build": time.perf_counter() - began}
    client = Client(HTTP_HOST="localhost")
    client.force_login(User.objects.get(username="lead"))
    pages = {name: reverse(name, args=[made.uuid]) for name in ("round_progress", "round_agreement", "conflicts")}
    pages["rounds"] = reverse("rounds", args=["full"])
    pages["overview"] = reverse("collection", args=["full"])
    pages["api_progress"] = f"/api/v1/rounds/{made.uuid}/progress/"

    def load(address: str) -> None:
        answer = client.get(address)
        if answer.status_code != 200:
            raise SystemExit(f"{address} answered {answer.status_code}")

    # Before the report is there, nobody waits for it either.
    times["before"] = {name: timed(lambda at=at: load(at), 1) for name, at in pages.items()}
    times["report"] = timed(lambda: round_report.exact(made), 1)[0]
    times["pages"] = {name: timed(lambda at=at: load(at), loads) for name, at in pages.items()}
    times["preview"] = timed(lambda: load(f"{reverse('snapshot_new', args=['full'])}?rounds={made.uuid}"), 1)[0]
    times["freezing"] = timed(lambda: freeze(made), 1)[0]
    print(json.dumps(times))


if __name__ == "__main__":
    main(sys.argv[1:])
