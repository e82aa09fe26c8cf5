"""How does a round of a million pairs come into a database within a minute or two: by the database's own hand.

It runs inside a process in which Django is set up. What it writes is what the verbs would have written: the tallies are
those that counting the events gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DOCUMENTS = 100  # of each query


@dataclass(frozen=True)
class Large:
    """The round, and who rates in it."""

    round: Any
    raters: list[Any]


def make(pairs: int) -> Large:
    """An open round of two ratings a pair with four raters.

    Half of the pairs have both ratings, by the second and third rater; of the next fifth the first rater alone has
    rated each pair; the fourth rated nothing.
    """
    from django.db import connection, transaction

    from judgments.guidelines import guidelines
    from judgments.members import round_raters
    from judgments.members.collections import create_collection
    from judgments.models import Membership, Role, User
    from judgments.rounds import rounds
    from judgments.rounds.settings import make_scale

    lead, *raters = [User.objects.create_user(f"bench{number}") for number in range(5)]
    collection = create_collection(actor=lead, slug="bench", name="Bench")
    Membership.objects.bulk_create(Membership(collection=collection, user=user, role=Role.RATER) for user in raters)
    version = guidelines.add_version(collection, markdown="Grade what helps.", actor=lead)
    from judgments.models import Round

    round_ = Round.objects.create(
        collection=collection, name="Large", scale=make_scale(collection, None), guidelines=version, created_by=lead
    )
    round_raters.ask(round_, raters)
    round_.pairs_made, round_.slots_made, round_.languages_made = pairs, 2 * pairs, {"": pairs}
    round_.save()
    with transaction.atomic(), connection.cursor() as cursor:
        _fill(collection, -(-pairs // DOCUMENTS))
        for statement in _statements(connection.vendor, round_.pk, pairs):
            cursor.execute(statement)
        _answer(cursor, connection.vendor, round_.pk, 0, pairs // 2, raters[1].pk, 1)
        _answer(cursor, connection.vendor, round_.pk, 0, pairs // 2, raters[2].pk, 2)
        _answer(cursor, connection.vendor, round_.pk, pairs // 2, pairs // 5, raters[0].pk, 1)
        _tallies(round_, raters, pairs)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    return Large(rounds.open_round(round_, actor=lead), raters)


def _fill(collection: Any, queries: int) -> None:
    from judgments.models import Document, Query

    text = "A short text about a jacket for a wet week, long enough to be read."
    Query.objects.bulk_create(
        (Query(collection=collection, query_id=f"q{place}", text=f"query {place}") for place in range(queries)), 2_000
    )
    Document.objects.bulk_create(
        Document(collection=collection, doc_id=f"d{place}", title=f"Document {place}", text=text)
        for place in range(DOCUMENTS)
    )


def _statements(vendor: str, round_: int, pairs: int) -> list[str]:
    numbers, uuid, _, empty = _words(vendor)
    return [
        "INSERT INTO judgments_pair (uuid, round_id, query_id, document_id, position, ratings_wanted, origin, spread, "
        "settled) "
        f"SELECT {uuid}, {round_}, (SELECT min(id) FROM judgments_query) + i / {DOCUMENTS}, "
        f"(SELECT min(id) FROM judgments_document) + i % {DOCUMENTS}, i, 2, {empty}, 0, {_no(vendor)} "
        f"FROM {numbers(pairs)}",
        "INSERT INTO judgments_slot (round_id, pair_id, position, number, language) "
        f"SELECT {round_}, p.id, p.position, n.number, '' FROM judgments_pair p "
        "CROSS JOIN (SELECT 1 AS number UNION SELECT 2) n ORDER BY p.position, n.number",
    ]


def _answer(cursor: Any, vendor: str, round_: int, first: int, count: int, rater: int, number: int) -> None:
    """Let a rater fill one slot of each pair of a stretch."""
    _, uuid, now, empty = _words(vendor)
    stretch = f"round_id = {round_} AND position >= {first} AND position < {first + count}"
    cursor.execute(
        "INSERT INTO judgments_judgment (uuid, pair_id, rater_id, client_id, state, grade, reason, note, "
        "seconds_active, how, surplus, document_sha256, created_at) "
        f"SELECT {uuid}, id, {rater}, {uuid}, 'graded', position % 4, '', '', 8, {empty}, {_no(vendor)}, '', {now} "
        f"FROM judgments_pair WHERE {stretch} ORDER BY position"
    )
    # PostgreSQL would not know how many rows a rater has by now, and look each answer up among all of theirs.
    cursor.execute("ANALYZE judgments_judgment")
    cursor.execute(
        "INSERT INTO judgments_handout (pair_id, rater_id, at) "
        f"SELECT id, {rater}, {now} FROM judgments_pair WHERE {stretch} ORDER BY position"
    )
    cursor.execute(
        f"UPDATE judgments_slot SET rater_id = {rater}, filled_by_id = (SELECT j.id FROM judgments_judgment j "
        f"WHERE j.pair_id = judgments_slot.pair_id AND j.rater_id = {rater}) WHERE {stretch} AND number = {number}"
    )


def _tallies(round_: Any, raters: list[Any], pairs: int) -> None:
    from django.utils import timezone

    from judgments.models import Tally
    from judgments.rating.pair_state import seconds_class

    ahead, half = pairs // 5, pairs // 2
    for rater, number, places, reached in (
        (raters[0], ahead, {"had:": ahead}, half + ahead - 1),
        (raters[1], half, {"full:": half}, half - 1),
        (raters[2], half, {}, half - 1),
    ):
        Tally.objects.create(
            round=round_,
            rater=rater,
            graded=number,
            filled=number,
            events=number,
            seconds={seconds_class(8): number},
            places=places,
            reached=reached,
            last_at=timezone.now(),
        )


def _words(vendor: str) -> tuple[Any, str, str, str]:
    """Numbers from 0, a new id, the time and an empty object, in the database's words."""
    if vendor == "postgresql":
        return lambda count: f"generate_series(0, {count - 1}) AS t(i)", "gen_random_uuid()", "now()", "'{}'::jsonb"
    number = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {last}) SELECT i FROM n"
    return (
        lambda count: f"({number.format(last=count - 1)})",
        "lower(hex(randomblob(16)))",
        "strftime('%Y-%m-%d %H:%M:%f', 'now')",
        "'{}'",
    )


def _no(vendor: str) -> str:
    return "false" if vendor == "postgresql" else "0"
