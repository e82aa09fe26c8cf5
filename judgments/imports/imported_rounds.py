"""Import of external judgments as a closed round with raters who cannot log in.

Every rater of the file gets an account that represents them in this one round: inactive, without a password and without
memberships. An existing account never receives a judgment that it did not give. Imported judgments thus keep their
raters, so that agreement can be computed. Labels without raters are not judgments but label sources.
"""

from __future__ import annotations

import re
import uuid as uuid_module
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils import timezone

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import amount
from assay.formats.quepid.book_json import Book, BookRating
from assay.formats.row_types import DocumentRow, RatingRow
from judgments.documents.answers import questions_of
from judgments.guidelines.guidelines import add_version, latest
from judgments.imports.documents import add_documents, hash_of, stubs_for
from judgments.imports.kinds import Checked, Finding, ImportKind
from judgments.imports.qrels import queries_for
from judgments.imports.queries import being_judged, with_query_ids
from judgments.models import (
    Adjudication,
    Collection,
    Judgment,
    Pair,
    Query,
    Round,
    RoundRater,
    Slot,
    Tally,
    Upload,
    User,
    audit,
)
from judgments.models.fields import checked_name
from judgments.models.round import DEFAULT_GRADES
from judgments.rating import pair_state
from judgments.rounds.settings import make_scale
from judgments.web.access import LEADS

BATCH = 2_000
# The key of an imported round's provenance.
IMPORTED = "imported"
ADJUDICATED = "adjudicated"
# The states of answers. Pairs with the other states, later and unrated, have no judgment.
ANSWERED = ("graded", "unrateable")
NO_GUIDELINES = "# Imported judgments\n\nThe guidelines of these raters are not known to Assay.\n"
_PSEUDONYM = re.compile(r"[\w.-]{1,12}")


def check(collection: Collection, rows: Sequence[RatingRow], upload: Upload) -> Checked:
    """Refuse machine judgments and judgments of unknown queries; warn about documents without content."""
    earlier = collection.rounds.filter(**{f"provenance__{IMPORTED}__sha256": upload.sha256}).first()
    if earlier is not None:
        raise Conflict(f"{upload.filename} is already stored as the round {earlier}. Nothing was stored again.")
    rows, findings = with_query_ids(collection, rows)
    queries = set(collection.queries.values_list("query_id", flat=True))
    known = dict(collection.documents.filter(stub=False).values_list("doc_id", "content_sha256"))
    documents = known.keys() | {row.doc_id for row in rows if _content(row)}
    questions = questions_of(collection, list({row.doc_id for row in rows} - documents))
    answers = {doc_id for _, doc_id in questions}
    accepted, without = list[RatingRow](), dict[str, RatingRow]()
    for row in rows:
        if row.source not in ("human", ADJUDICATED):
            findings.append(
                _odd(row, "E23", f"a judgment of source {row.source!r}", "Import only judgments by people.")
            )
        elif row.grade is not None and not 0 <= row.grade <= 100:
            findings.append(_odd(row, "E23", f"the grade {row.grade} is out of range", "Use grades from 0 to 100."))
        elif row.doc_id in answers and (row.query_id, row.doc_id) not in questions:
            problem = f"the answer {row.doc_id} does not belong to the question {row.query_id}"
            findings.append(_odd(row, "E23", problem, "Use the question that the answer was graded for."))
        elif row.doc_id not in answers and row.query_id not in queries and not row.query:
            problem = f"the query {row.query_id} is not in this collection"
            findings.append(_odd(row, "E17", problem, "Import the queries first, or add their text in a column query."))
        else:
            accepted.append(row)
            if row.doc_id not in answers and row.doc_id not in documents:
                without.setdefault(row.doc_id, row)
    if without:
        first = next(iter(without.values()))
        what = f"{len(without):,} documents without content in this collection; the first is {first.doc_id}"
        fix = "Import these documents to show their text."
        findings.append(Finding(first.line, "W38", first.doc_id, what, "stored, without text to show", fix))
    findings += _other_contents(accepted, known)
    given = [row for row in accepted if row.state in ANSWERED]
    people = {row.rater for row in given if row.source != ADJUDICATED}
    pairs = {(row.query_id, row.doc_id) for row in accepted}
    figures = {"judgments": len(given), "raters": len(people), "pairs": len(pairs)}
    if unrateable := sum(row.state == "unrateable" for row in given):
        figures["unrateable"] = unrateable
    if unjudged := len(pairs - {(row.query_id, row.doc_id) for row in given}):
        figures["pairs without a judgment"] = unjudged
    return Checked(accepted, findings, figures)


def _content(row: RatingRow) -> DocumentRow | None:
    """Return the document that comes with a judgment."""
    return row.document if isinstance(row, BookRating) else None


def _other_contents(rows: Iterable[RatingRow], known: Mapping[str, str]) -> list[Finding]:
    """Warn about documents whose content in the collection is not that of the file."""
    other = {
        row.doc_id: row
        for row in rows
        if (document := _content(row)) and known.get(row.doc_id, hash_of(document)) != hash_of(document)
    }
    if not other:
        return []
    first = next(iter(other.values()))
    what = f"{len(other):,} documents have other content in this collection; the first is {first.doc_id}"
    fix = "Raters saw the content of the file. Import the documents to use it."
    return [Finding(first.line, "W64", first.doc_id, what, "stored; the collection keeps its content", fix)]


def _odd(row: RatingRow, code: str, what: str, fix: str) -> Finding:
    return Finding(row.line, code, f"{row.query_id} {row.doc_id} {row.rater}", what, "not stored", fix)


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Create the closed round with its raters, judgments and resolutions; add queries that the file has text for."""
    book = next((row.book for row in checked.rows if isinstance(row, BookRating)), Book())
    name = checked_name(str(options.get("name") or book.name or upload.filename).strip()[:120])
    if collection.rounds.filter(name=name).exists():
        raise Conflict(f"Another round is already called {name}. Choose another name.")
    rows: Sequence[RatingRow] = checked.rows
    given = [row for row in rows if row.source != ADJUDICATED and row.state in ANSWERED]
    if not given:
        raise NotValid(
            "The file has no judgments by raters.",
            {"file": "The file has only resolutions. Add the raters' judgments."},
        )
    _add_documents(collection, rows)
    _add_queries(collection, rows)
    round_ = _round(collection, name, rows, upload, actor, book)
    people = _raters(round_, sorted({row.rater for row in given}, key=str.encode))
    pairs = _pairs(round_, rows, Counter((row.query_id, row.doc_id) for row in given))
    _answers(round_, given, people, pairs)
    for row in rows:
        if row.source == ADJUDICATED and row.grade is not None:
            pair, reason = pairs[row.query_id, row.doc_id], row.note or f"Resolved before the import, by {row.rater}."
            Adjudication.objects.create(pair=pair, grade=row.grade, reason=reason, resolved_by=actor)
    Tally.objects.bulk_create(pair_state.recount(round_).values())
    counts = f"{amount(len(given), 'judgment')} of {amount(len(people), 'rater')}"
    sentence = f"{actor} imported round {round_} with {counts}"
    audit.record(
        "imported_rounds.store", sentence, actor=actor, collection=collection, target=round_, sha256=upload.sha256
    )
    return {"rows": len(rows), "id": str(round_.uuid), "name": name}


def _add_documents(collection: Collection, rows: Iterable[RatingRow]) -> None:
    """Store the documents that come with the judgments and have no content in the collection."""
    documents = {document.doc_id: document for row in rows if (document := _content(row))}
    filled = set(collection.documents.filter(stub=False).values_list("doc_id", flat=True))
    add_documents(collection, [row for doc_id, row in documents.items() if doc_id not in filled])


def _add_queries(collection: Collection, rows: Iterable[RatingRow]) -> None:
    """Store the queries that come with a need; a query that has a need already, or is being judged, keeps it."""
    needs = {row.query_id: row for row in rows if isinstance(row, BookRating) and row.narrative}
    known = {query.query_id: query for query in collection.queries.filter(query_id__in=needs)}
    new = [
        Query(collection=collection, query_id=query_id, text=row.query, narrative=row.narrative)
        for query_id, row in needs.items()
        if query_id not in known
    ]
    Query.objects.bulk_create(new, batch_size=BATCH)
    judged = being_judged(collection)
    filled = [query for query in known.values() if not query.narrative and query.query_id not in judged]
    for query in filled:
        query.narrative = needs[query.query_id].narrative
    Query.objects.bulk_update(filled, ["narrative"], batch_size=BATCH)


def _round(
    collection: Collection, name: str, rows: Iterable[RatingRow], upload: Upload, actor: User, book: Book
) -> Round:
    now = timezone.now()
    versions = sorted({row.guideline for row in rows if row.guideline})
    return Round.objects.create(
        collection=collection,
        name=name,
        state=Round.State.CLOSED,
        scale=make_scale(collection, _grades((row.grade for row in rows if row.grade is not None), book)),
        guidelines=latest(collection) or add_version(collection, markdown=NO_GUIDELINES, actor=actor),
        # Only the file names the raters' guidelines.
        provenance={IMPORTED: {"file": upload.filename, "sha256": upload.sha256, "guidelines": versions}},
        created_by=actor,
        opened_at=now,
        closed_at=now,
    )


def _grades(given: Iterable[int], book: Book) -> Sequence[tuple[int, str, str]] | None:
    """Return the scale of the book, or the default scale if it contains all grades, or one up to the highest grade."""
    if len(set(book.scale)) > 1:
        return [(value, book.labels.get(str(value)) or str(value), "") for value in sorted(set(book.scale))]
    top = max(given, default=0)
    if top <= max(value for value, _, _ in DEFAULT_GRADES):
        return None
    return [(value, str(value), "") for value in range(top + 1)]


def _raters(round_: Round, names: Sequence[str]) -> dict[str, User]:
    """Create an account without login for each rater, with the file's names as pseudonyms if possible."""
    usable = all(_PSEUDONYM.fullmatch(name) for name in names)
    people = {}
    for number, name in enumerate(names, 1):
        user = User(username=_free_username(round_, number), first_name=name[:150], is_active=False)
        user.set_unusable_password()
        user.save()
        pseudonym = name if usable else f"r{number:02d}"
        RoundRater.objects.create(round=round_, user=user, pseudonym=pseudonym, left_at=round_.closed_at)
        people[name] = user
    return people


def _free_username(round_: Round, number: int) -> str:
    """Return an unused account name, with as much of the round's id as necessary."""
    names = (f"imported-{round_.uuid.hex[:length]}-{number}" for length in (6, 12, 32))
    return next(name for name in names if not User.objects.filter(username=name).exists())


def _pairs(
    round_: Round, rows: Sequence[RatingRow], number: Mapping[tuple[str, str], int]
) -> dict[tuple[str, str], Pair]:
    named = zip(rows, queries_for(round_.collection, rows), strict=True)
    queries = {(row.query_id, row.doc_id): query for row, query in named}
    documents = stubs_for(round_.collection, (row.doc_id for row in rows))
    by_query: dict[str, dict[str, None]] = defaultdict(dict)
    grades: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in rows:
        by_query[row.query_id][row.doc_id] = None
        if row.grade is not None and row.source != ADJUDICATED:
            grades[row.query_id, row.doc_id].append(row.grade)
    settled = {(row.query_id, row.doc_id) for row in rows if row.source == ADJUDICATED}
    keys = [(query_id, doc_id) for query_id, doc_ids in by_query.items() for doc_id in doc_ids]
    made = Pair.objects.bulk_create(
        (
            Pair(
                round=round_,
                query=queries[key],
                document=documents[key[1]],
                position=place,
                ratings_wanted=max(1, number[key]),
                origin={IMPORTED: True},
                spread=max(grades[key]) - min(grades[key]) if grades[key] else 0,
                resolved=key in settled,
            )
            for place, key in enumerate(keys)
        ),
        batch_size=BATCH,
    )
    languages = Counter(pair.query.language for pair in made)
    round_.pairs_made, round_.slots_made = len(made), sum(pair.ratings_wanted for pair in made)
    round_.languages_made = dict(languages)
    round_.ratings_per_pair = max(pair.ratings_wanted for pair in made)
    round_.save(update_fields=["pairs_made", "slots_made", "languages_made", "ratings_per_pair"])
    return dict(zip(keys, made, strict=True))


def _answers(
    round_: Round, rows: Sequence[RatingRow], people: Mapping[str, User], pairs: Mapping[tuple[str, str], Pair]
) -> None:
    """Create each judgment with its slot, and the empty slots; the time of the original answer is stored beside."""
    made = Judgment.objects.bulk_create(
        (
            Judgment(
                pair=pairs[row.query_id, row.doc_id],
                rater=people[row.rater],
                client_id=uuid_module.uuid4(),
                state=row.state,
                grade=row.grade,
                note=row.note,
                seconds_active=None if row.ms_active is None else row.ms_active / 1000,
                how={IMPORTED: True, **({"rated_at": row.rated_at} if row.rated_at else {})},
                document_sha256=pairs[row.query_id, row.doc_id].document.content_sha256,
            )
            for row in rows
        ),
        batch_size=BATCH,
    )
    numbers: Counter[int] = Counter()
    slots = []
    for judgment in made:
        pair = judgment.pair
        numbers[pair.pk] += 1
        place = {"position": pair.position, "number": numbers[pair.pk], "language": pair.query.language}
        slots.append(Slot(round=round_, pair=pair, rater=judgment.rater, filled_by=judgment, **place))
    # A pair without a judgment has the slot that nobody filled.
    slots += [
        Slot(round=round_, pair=pair, position=pair.position, number=1, language=pair.query.language)
        for pair in pairs.values()
        if not numbers[pair.pk]
    ]
    Slot.objects.bulk_create(slots, batch_size=BATCH)


JUDGMENTS = ImportKind(
    name="judgments",
    title="Judgments",
    format_kind="ratings",
    default_format="ratings-csv",
    check=check,
    store=store,
    roles=LEADS,
    columns=("query_id", "doc_id", "rater", "grade", "state"),
    asks=("name",),
)
