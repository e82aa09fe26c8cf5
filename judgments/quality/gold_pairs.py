"""Gold pairs of a round: suggest, add and remove them.

Gold grades come from resolved or unanimous pairs of the collection's other rounds, or from a lead. A pair of the round
itself, or a pair that shares its label with one of these, cannot be a gold pair.
"""

from __future__ import annotations

import csv
import io
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, Exists, F, Max, Min, OuterRef

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import amount
from judgments.documents.answers import answers_by_id, questions_of
from judgments.jobs.limited_process import read_at_once
from judgments.labels import carried_labels, grade_visibility, group_labels
from judgments.models import Adjudication, Collection, Document, GoldPair, Judgment, Pair, Query, Round, User, audit

SETTLED, UNANIMOUS = "settled", "unanimous"
LONGEST_EXPLANATION = 2_000
# More gold pairs than any round needs; a longer list is a mistake.
MOST = 2_000

Key = tuple[str, str]


@dataclass(frozen=True)
class Known:
    """An expert grade of a query and a document, with its source and its line in a file."""

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
    """Return pairs that other rounds with the same scale resolved, or with equal grades by two or more raters."""
    alike = round_.collection.rounds.exclude(pk=round_.pk).filter(dimension=round_.dimension)
    # A grade means the same in rounds with the same values and labels.
    rounds = [one for one in alike if _named(one) == _named(round_)]
    settled = Adjudication.objects.current().filter(pair__round__in=rounds)
    counted = Judgment.objects.counted().filter(pair__round__in=rounds).order_by().values("pair")
    alike = counted.annotate(n=Count("pk"), low=Min("grade"), high=Max("grade")).filter(n__gte=2, low=F("high"))
    by_pair: dict[int, tuple[int, str, str]] = {row["pair"]: (row["low"], "", UNANIMOUS) for row in alike}
    by_pair |= {row.pair_id: (row.grade, row.reason, SETTLED) for row in settled}
    pairs = Pair.objects.in_bulk(by_pair) if len(by_pair) < MOST else _newest(by_pair, rounds)
    rows = Pair.objects.filter(pk__in=pairs).select_related("query", "document", "round")
    known: dict[Key, Known] = {}
    for pair in rows.order_by("round__created_at", "round", "position"):
        grade, reason, source = by_pair[pair.pk]
        one = Known(pair.query, pair.document, grade, reason, source, pair.round.name)
        known[one.key] = one
    away = stands_already(round_, known) | _gold_keys(round_) | grade_visibility.hidden_keys(viewer, round_.collection)
    return [known[key] for key in sorted(known) if key not in away]


def _newest(pairs: Iterable[int], rounds: Sequence[Round]) -> set[int]:
    """Return the newest pairs, up to the number that a page can offer."""
    rows = Pair.objects.filter(round__in=rounds).order_by("-pk").values_list("pk", flat=True)
    known = set(pairs)
    keys = [pk for pk in rows.iterator(chunk_size=5_000) if pk in known]
    return set(keys[:MOST])


def _named(round_: Round) -> list[tuple[int, str]]:
    return list(round_.scale.grades.order_by("value").values_list("value", "label"))


def _gold_keys(round_: Round) -> set[Key]:
    return set(round_.gold.values_list("query__query_id", "document__doc_id"))


def stands_already(round_: Round, keys: Iterable[Key]) -> set[Key]:
    """Return the pairs that are in the round or share their label with a pair in the round."""
    wanted = set(keys)
    queries = {query_id for query_id, _ in wanted}
    spellings = (group for group in group_labels.sharing(round_.collection).values() if queries & set(group))
    near = queries.union(*spellings)
    held = round_.pairs.filter(query__query_id__in=near).values_list("query__query_id", "document__doc_id")
    return carried_labels.linked_pairs(round_.collection, held) & wanted


def outside(round_: Round) -> int:
    """Return the number of hidden gold pairs whose query is not in the round."""
    same_query = round_.pairs.filter(query=OuterRef("query"))
    return round_.gold.filter(~Exists(same_query), use=GoldPair.Use.HIDDEN).count()


def suggested(known: Sequence[Known], *, number: int, seed: int) -> list[Known]:
    """Draw this many pairs with the seed, with each grade about equally often, because rare grades teach most."""
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
    """Add gold pairs to a round: all of them, or none if one is invalid."""
    round_ = Round.objects.select_for_update().select_related("collection", "scale").get(pk=round_.pk)
    if round_.state == Round.State.CLOSED:
        raise Conflict(f"Round {round_} is closed and accepts no more gold pairs.")
    if use not in GoldPair.Use.values:
        raise NotValid(f"Unknown use {use!r}.", {"use": f"Known uses: {', '.join(GoldPair.Use.values)}."})
    if not known:
        raise NotValid("No pairs were given.", {"pairs": "Enter at least one pair with its grade."})
    if odd := _odd(round_, known):
        raise NotValid(f"No pair was added. {' '.join(odd)}", {"pairs": " ".join(odd)})
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
    word = "for qualification" if use == GoldPair.Use.CALIBRATION else "for hidden checks"
    sentence = f"{actor} added {amount(len(made), 'gold pair')} to round {round_}, {word}"
    audit.record("gold.add", sentence, actor=actor, target=round_, use=use)
    return made


def _odd(round_: Round, known: Sequence[Known]) -> list[str]:
    """Return a sentence for each pair that cannot be added."""
    values = round_.scale.values()
    standing, there = stands_already(round_, (one.key for one in known)), _gold_keys(round_)
    questions = questions_of(round_.collection, [one.document.doc_id for one in known if one.document.is_answer])
    problems: list[str] = []
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
            why = "this pair, or a pair that shares its label, is part of the round"
        elif one.key in there:
            why = "it is already a gold pair"
        elif len(one.explanation) > LONGEST_EXPLANATION:
            why = f"the explanation is longer than {LONGEST_EXPLANATION:,} characters"
        if why:
            where = f"Line {one.line}, " if one.line else ""
            problems.append(f"{where}{one.key[0]} with {one.key[1]}: {why}.")
        there.add(one.key)
    if len(there) > MOST:
        problems.append(f"A round has at most {MOST:,} gold pairs.")
    return problems


@transaction.atomic
def remove(gold: GoldPair, *, actor: User) -> None:
    """Remove a gold pair that no rater has seen."""
    gold = GoldPair.objects.select_for_update().select_related("round__collection", "query", "document").get(pk=gold.pk)
    if gold.probes.exists():
        raise Conflict(f"{gold} cannot be removed because a rater has seen it.")
    sentence = f"{actor} removed {gold} from the gold pairs of round {gold.round}"
    audit.record("gold.remove", sentence, actor=actor, target=gold.round)
    gold.delete()


COLUMNS = ("query_id", "doc_id", "grade")
LARGEST = 5_000_000
MOST_LISTED = 20

Row = tuple[int, Mapping[str, Any]]


def read_csv(collection: Collection, content: bytes) -> list[Known]:
    """Return the pairs of a CSV file with the columns ``query_id,doc_id,grade`` and, optionally, ``explanation``."""
    if len(content) > LARGEST:
        raise NotValid("The file is larger than 5 MB.", {"file": "Upload fewer pairs. A few hundred are enough."})
    return from_rows(collection, read_at_once(rows_in, content, most=LARGEST), field="file", word="Line")


def rows_in(content: bytes) -> list[Row]:
    """Yield the lines of the file with their numbers."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise NotValid(f"Line {line} is not UTF-8. Save the file as UTF-8 and upload it again.", "file") from None
    if "\0" in text:
        problem = f"Line {text[: text.index(chr(0))].count(chr(10)) + 1} contains a NUL character. Upload a text file."
        raise NotValid(problem, "file")
    return list(_rows(text))


def _rows(text: str) -> Iterator[Row]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if header is None:
                header = [cell.strip().lower() for cell in cells]
                if missing := [name for name in COLUMNS if name not in header]:
                    columns = ",".join(COLUMNS)
                    raise NotValid(f"Line 1 has no column {', '.join(missing)}. Write {columns},explanation.", "file")
            elif len(cells) != len(header):
                yield reader.line_num, {"odd": f"{amount(len(cells), 'cell')}, but the header has {len(header)}"}
            else:
                yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        yield reader.line_num, {"odd": f"is not valid CSV: {error}"}
    if header is None:
        raise NotValid("The file is empty.", {"file": f"Write the columns into the first line: {','.join(COLUMNS)}."})


def from_rows(collection: Collection, rows: Iterable[Row], *, field: str, word: str = "Number") -> list[Known]:
    """Return the pairs for rows of ids, each with its row number."""
    held = list(rows)
    if len(held) > MOST:
        raise NotValid(f"{len(held):,} pairs exceed the limit.", {field: f"Send at most {MOST:,} pairs."})
    named = Query.of_any_kind.filter(collection=collection, query_id__in=_ids(held, "query_id"))
    queries = {row.query_id: row for row in named.order_by("-kind")}
    doc_ids = _ids(held, "doc_id")
    questions = questions_of(collection, list(doc_ids))
    documents = answers_by_id(collection, list(doc_ids))
    documents |= {row.doc_id: row for row in collection.documents.filter(doc_id__in=doc_ids)}
    gold_grades: list[Known] = []
    odd: list[str] = []
    for number, row in held:
        query_id, doc_id, grade = (_cell(row, name) for name in COLUMNS)
        query, document = questions.get((query_id, doc_id)) or queries.get(query_id), documents.get(doc_id)
        why = row.get("odd", "")
        if not why and query is None:
            why = f"the query {query_id!r} is not in this collection"
        elif not why and document is None:
            why = f"the document {doc_id!r} is not in this collection"
        elif not why and not (grade.isascii() and grade.isdigit() and len(grade) < 4):
            why = f"{grade!r} is not a grade"
        if why or query is None or document is None:
            odd.append(f"{word} {number}: {why}.")
            continue
        line = number if word == "Line" else None
        gold_grades.append(Known(query, document, int(grade), _cell(row, "explanation"), line=line))
    if odd:
        more = f" {amount(len(odd) - MOST_LISTED, 'more row')} cannot be used." if len(odd) > MOST_LISTED else ""
        problem = f"{' '.join(odd[:MOST_LISTED])}{more}"
        raise NotValid(f"Nothing was added. {problem}", {field: problem})
    return gold_grades


def _ids(rows: Iterable[Row], name: str) -> set[str]:
    return {cell for _, row in rows if (cell := _cell(row, name)) and "\0" not in cell}


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value).strip()
