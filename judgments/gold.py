"""Gold pairs of a round: suggest, add and remove them.

Gold grades come from resolved or unanimous pairs of the collection's other rounds, or from a lead. A pair that raters
of the round will grade anyway, or whose label would also be the label of such a pair, cannot be a gold pair.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Exists, F, Max, Min, OuterRef

from judgments import access, audit, carried, group_labels
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotValid
from judgments.documents import questions_of
from judgments.models import Adjudication, Collection, Document, GoldPair, Judgment, Pair, Query, Round, User

SETTLED, UNANIMOUS = "settled", "unanimous"
LONGEST_EXPLANATION = 2_000
# More pairs than anybody asks about in one round; a longer list is a mistake.
MOST = 2_000

Key = tuple[str, str]


@dataclass(frozen=True)
class Known:
    """A grade that is known for a query and a document; ``source`` says from where, ``line`` where in a file."""

    query: Query
    document: Document
    grade: int
    explanation: str = ""
    source: str = ""
    round: str = ""
    line: int | None = None

    @property
    def key(self) -> Key:
        return self.query.query_id, self.document.doc_id


def known_elsewhere(round_: Round, *, viewer: User) -> list[Known]:
    """What other rounds of the collection with the same grades settled, or graded alike by two or more raters.

    Parameters
    ----------
    round_ : Round
        For which round.
    viewer : User
        The lead who asks. What they may still have to grade in an open round is left out.

    Returns
    -------
    list of Known
        Each pair once, by its newest round; a settlement comes before unanimity. What stands in the round itself, or
        is known there already, is left out. In the order of the ids.
    """
    rounds = [one for one in round_.collection.rounds.exclude(pk=round_.pk) if _same_grades(one, round_)]
    settled = Adjudication.objects.filter(pair__round__in=rounds, superseded_by__isnull=True)
    counted = Judgment.objects.counted().filter(pair__round__in=rounds).order_by().values("pair")
    alike = counted.annotate(n=Count("pk"), low=Min("grade"), high=Max("grade")).filter(n__gte=2, low=F("high"))
    found: dict[int, tuple[int, str, str]] = {row["pair"]: (row["low"], "", UNANIMOUS) for row in alike}
    found |= {row.pair_id: (row.grade, row.reason, SETTLED) for row in settled}
    pairs = Pair.objects.in_bulk(found) if len(found) < MOST else _newest(found, rounds)
    rows = Pair.objects.filter(pk__in=pairs).select_related("query", "document", "round")
    known: dict[Key, Known] = {}
    for pair in rows.order_by("round__created_at", "round", "position"):
        grade, reason, source = found[pair.pk]
        one = Known(pair.query, pair.document, grade, reason, source, pair.round.name)
        known[one.key] = one
    away = stands_already(round_, known) | _gold_keys(round_) | hidden_from(viewer, round_.collection)
    return [known[key] for key in sorted(known) if key not in away]


def _newest(found: Iterable[int], rounds: Sequence[Round]) -> set[int]:
    """So many pairs are more than a page can offer: those that were made last."""
    rows = Pair.objects.filter(round__in=rounds).order_by("-pk").values_list("pk", flat=True)
    known = set(found)
    kept = [pk for pk in rows.iterator(chunk_size=5_000) if pk in known]
    return set(kept[:MOST])


def _same_grades(one: Round, other: Round) -> bool:
    """Whether a grade means the same in both rounds: of the same thing, with the same values and names."""
    return one.dimension == other.dimension and _named(one) == _named(other)


def _named(round_: Round) -> list[tuple[int, str]]:
    return list(round_.scale.grades.order_by("value").values_list("value", "label"))


def _gold_keys(round_: Round) -> set[Key]:
    return set(round_.gold.values_list("query__query_id", "document__doc_id"))


def hidden_from(viewer: User, collection: Collection) -> set[Key]:
    """The pairs that somebody may still have to grade in an open round, with those whose label tells theirs."""
    found: set[Key] = set()
    for round_ in Round.objects.open_to(viewer).filter(collection=collection):
        found |= set(access.hidden_pairs(viewer, round_).values_list("query__query_id", "document__doc_id"))
    return carried.told_by(collection, found)


def stands_already(round_: Round, keys: Iterable[Key]) -> set[Key]:
    """Those of the pairs that the round holds, or whose label would be that of a pair that it holds."""
    wanted = set(keys)
    queries = {query_id for query_id, _ in wanted}
    spellings = (group for group in group_labels.sharing(round_.collection).values() if queries & set(group))
    near = queries.union(*spellings)
    held = round_.pairs.filter(query__query_id__in=near).values_list("query__query_id", "document__doc_id")
    return carried.told_by(round_.collection, held) & wanted


def outside(round_: Round) -> int:
    """How many of the hidden pairs are of queries that the round itself does not ask about.

    Such a pair comes as the only document of its query, which can be told from the others where queries have several.
    """
    asked = round_.pairs.filter(query=OuterRef("query"))
    return round_.gold.filter(~Exists(asked), use=GoldPair.Use.HIDDEN).count()


def suggested(known: Sequence[Known], *, number: int, seed: int) -> list[Known]:
    """So many of them, drawn with the seed, with every grade about as often: people learn most from the rare ones."""
    by_grade: dict[int, list[Known]] = defaultdict(list)
    for one in known:
        by_grade[one.grade].append(one)
    rng = random.Random(f"{seed} gold")  # noqa: S311 - a draw that must be repeatable
    for rows in by_grade.values():
        rng.shuffle(rows)
    chosen: list[Known] = []
    while len(chosen) < number and any(by_grade.values()):
        chosen += [by_grade[grade].pop() for grade in sorted(by_grade) if by_grade[grade]][: number - len(chosen)]
    return chosen


@transaction.atomic
def add(round_: Round, known: Sequence[Known], *, use: str, actor: User) -> list[GoldPair]:
    """Add pairs of known grade to a round: all of them or, where one cannot be, none.

    Parameters
    ----------
    round_ : Round
        A draft, or an open round.
    known : sequence of Known
        The pairs with their grades, and why the grade is right for those that raters learn from.
    use : {"calibration", "hidden"}
        Before the round, with feedback; or within it, unseen.
    actor : User
        The lead who does it.

    Raises
    ------
    NotValid
        A grade is off the scale, a pair comes twice or stands in the round; the text names each with its line.
    Conflict
        The round is closed.
    """
    round_ = Round.objects.select_for_update().select_related("collection", "scale").get(pk=round_.pk)
    if round_.state == Round.State.CLOSED:
        raise Conflict(f"Round {round_} is closed: nobody is asked about anything there any more.")
    if use not in GoldPair.Use.values:
        raise NotValid(f"There is no use {use!r}.", {"use": f"One of {', '.join(GoldPair.Use.values)}."})
    if not known:
        raise NotValid("There is nothing to add.", {"pairs": "Name at least one pair with its grade."})
    if odd := _odd(round_, known):
        raise NotValid(f"Nothing was added. {' '.join(odd)}", {"pairs": " ".join(odd)})
    last = round_.gold.filter(use=use).aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    made = GoldPair.objects.bulk_create(
        GoldPair(
            round=round_,
            query=one.query,
            document=one.document,
            use=use,
            position=first + place,
            grade=one.grade,
            explanation=one.explanation.strip(),
            created_by=actor,
        )
        for place, one in enumerate(known)
    )
    word = "to calibrate by" if use == GoldPair.Use.CALIBRATION else "to be asked unseen"
    sentence = f"{actor} added {amount(len(made), 'pair')} of known grade to round {round_}, {word}"
    audit.record("gold.add", sentence, actor=actor, collection=round_.collection, target=round_, use=use)
    return made


def _odd(round_: Round, known: Sequence[Known]) -> list[str]:
    """What cannot be added and why, a sentence each."""
    values = round_.scale.values()
    standing, there = stands_already(round_, (one.key for one in known)), _gold_keys(round_)
    questions = questions_of(round_.collection, [one.document.doc_id for one in known if one.document.is_answer])
    said: list[str] = []
    for one in known:
        why = ""
        if one.grade not in values:
            why = f"{one.grade} is not a grade of this round; the grades are {', '.join(map(str, values))}"
        elif one.document.kind != round_.kind:
            word = "an answer" if one.document.is_answer else "a document"
            why = f"it is {word}, and raters of this round grade {'answers' if round_.of_answers else 'documents'}"
        elif one.document.is_answer and one.key not in questions:
            why = "the answer belongs to another question"
            if own := sorted(query_id for query_id, doc_id in questions if doc_id == one.document.doc_id):
                why += f"; use {', '.join(own)}"
        elif one.key in standing:
            why = "the round asks for its grade itself, or for that of a pair with the same label"
        elif one.key in there:
            why = "it is there already"
        elif len(one.explanation) > LONGEST_EXPLANATION:
            why = f"the explanation is longer than {LONGEST_EXPLANATION:,} characters"
        if why:
            where = f"Line {one.line}, " if one.line else ""
            said.append(f"{where}{one.key[0]} with {one.key[1]}: {why}.")
        there.add(one.key)
    if len(there) > MOST:
        said.append(f"A round has {MOST:,} pairs of known grade at most.")
    return said


@transaction.atomic
def remove(gold: GoldPair, *, actor: User) -> None:
    """Take a pair of known grade out again, as long as no rater has seen it.

    Raises
    ------
    Conflict
        Somebody was shown it: what they answered stands on it.
    """
    gold = GoldPair.objects.select_for_update().select_related("round__collection", "query", "document").get(pk=gold.pk)
    if gold.probes.exists():
        raise Conflict(f"{gold} was shown to a rater already and stays, with what they answered.")
    sentence = f"{actor} took {gold} out of the pairs of known grade of round {gold.round}"
    audit.record("gold.remove", sentence, actor=actor, collection=gold.round.collection, target=gold.round)
    gold.delete()
