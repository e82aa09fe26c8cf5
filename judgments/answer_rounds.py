"""Rounds in which people grade answers of RAG systems: one round for each dimension, over the same answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from django.db import transaction
from django.utils.text import Truncator

from judgments import audit, guidelines, rounds
from judgments.answer_dimensions import DIMENSIONS
from judgments.core.amounts import amount
from judgments.core.content_hash import content_hash
from judgments.core.errors import NotValid
from judgments.core.ids import id_fault
from judgments.documents import answers_by_id
from judgments.models import Collection, Document, GuidelinesVersion, Query, Round, User
from judgments.richtext import LONGEST
from judgments.round_settings import RoundSettings
from judgments.scales import Row

# Nobody grades more in one round; a longer list is a mistake.
MOST_ANSWERS = 20_000
# A rater reads the passages beside the answer.
MOST_PASSAGES = 100
# Characters of an answer with its evidence and its reference.
LONGEST_ANSWER = 1_000_000
# Characters of a question, as the column of queries takes them.
LONGEST_QUERY = 2_048
LONGEST_TITLE = 80
BATCH = 500


@dataclass(frozen=True)
class Passage:
    """One passage of the evidence that an answer was made from."""

    doc_id: str
    text: str
    title: str = ""
    url: str = ""


@dataclass(frozen=True)
class GivenAnswer:
    """One answer to grade.

    Parameters
    ----------
    query_id, query : str
        The question. It is the collection's query where that has the same id and text.
    text : str
        What the system answered.
    evidence : tuple of Passage
        What the system answered from, in the order in which citations such as ``[1]`` count the passages.
    reference : str
        The right answer, shown to raters of ``correct`` and ``complete``; empty where none is known.
    """

    query_id: str
    query: str
    text: str
    evidence: tuple[Passage, ...] = ()
    reference: str = ""

    @property
    def doc_id(self) -> str:
        """The id of the answer in pairs, labels and exports.

        It is drawn from what a rater reads, so equal answers of two systems are one answer, and it names no system.
        """
        told = [self.query_id, self.text.strip(), [asdict(one) for one in self.evidence], self.reference.strip()]
        content = json.dumps(told, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return f"answer-{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


@transaction.atomic
def create_answer_rounds(
    collection: Collection,
    *,
    name: str,
    answers: Sequence[GivenAnswer],
    actor: User,
    dimensions: Sequence[str] = tuple(DIMENSIONS),
    scale: Sequence[Row] | None = None,
    relevant_from: int | None = None,
    texts: Mapping[str, str] | None = None,
    settings: RoundSettings | None = None,
    ratings_per_pair: int | None = None,
    raters: Sequence[User] = (),
    seed: int = 1,
) -> list[Round]:
    """Make one draft round for each dimension, all over the same answers, or none.

    Parameters
    ----------
    collection : Collection
        Where the rounds belong.
    name : str
        The beginning of their names: ``name: faithful``.
    answers : sequence of GivenAnswer
        In any order. An answer that comes twice is graded once.
    actor : User
        The lead who does it.
    dimensions : sequence of str
        ``faithful``, ``correct`` and ``complete``, or some of them.
    scale : sequence of (value, label, cue), optional
        The scale of every round; three grades named after the dimension when None.
    relevant_from : int, optional
        The lowest grade that counts where a metric knows only yes and no; all but the lowest when None.
    texts : mapping of dimension to Markdown, optional
        Guidelines in place of the usual ones of a dimension.
    settings, ratings_per_pair, raters, seed
        As `judgments.rounds.create_round` takes them.

    Returns
    -------
    list of Round
        In the order of ``dimensions``.

    Raises
    ------
    NotValid
        An answer, dimension, scale, setting or rater that cannot be used; the message says which.
    Conflict
        A name is taken.
    """
    _check_dimensions(dimensions, texts or {})
    _check_answers(answers)
    queries = _queries(collection, answers)
    documents = _documents(collection, answers)
    made = []
    for dimension in dimensions:
        # By the id: the order in which systems were given would tell them apart.
        candidates = sorted(
            (rounds.Candidate(queries[one.query_id], documents[one.doc_id], {}) for one in answers),
            key=lambda pair: (pair.query.query_id, pair.document.doc_id),
        )
        made.append(
            rounds.create_round(
                collection,
                name=f"{name.strip()}: {dimension}" if name.strip() else "",
                candidates=candidates,
                provenance={"dimension": dimension, "pairs": len(documents)},
                guidelines=_guidelines(collection, dimension, (texts or {}).get(dimension, ""), actor),
                actor=actor,
                grades=scale or DIMENSIONS[dimension].grades,
                relevant_from=relevant_from,
                ratings_per_pair=ratings_per_pair,
                settings=settings,
                raters=raters,
                seed=seed,
                dimension=dimension,
            )
        )
    sentence = f"{actor} made {amount(len(made), 'round')} over {amount(len(documents), 'answer')}"
    audit.record(
        "answer_rounds.create_answer_rounds",
        sentence,
        actor=actor,
        collection=collection,
        rounds=[str(round_.uuid) for round_ in made],
        answers_given=len(answers),
        answers=len(documents),
    )
    return made


def _check_dimensions(dimensions: Sequence[str], texts: Mapping[str, str]) -> None:
    known = ", ".join(DIMENSIONS)
    unknown = sorted({*dimensions, *texts} - set(DIMENSIONS))
    if unknown:
        said = f"Unknown dimension {unknown[0]!r}. Known dimensions: {known}."
        raise NotValid(said, {"dimensions" if unknown[0] in dimensions else "guidelines": said})
    if not dimensions or len(set(dimensions)) < len(dimensions):
        said = f"Name one or more dimensions, each once: {known}."
        raise NotValid(said, {"dimensions": said})
    if idle := sorted(set(texts) - set(dimensions)):
        said = f"There are guidelines for {idle[0]}, but no round for it. Add the dimension or leave them out."
        raise NotValid(said, {"guidelines": said})


def _check_answers(answers: Sequence[GivenAnswer]) -> None:
    if not answers:
        raise NotValid("There are no answers to grade.", {"answers": "Send at least one answer."})
    if len(answers) > MOST_ANSWERS:
        said = f"{len(answers):,} answers; at most {MOST_ANSWERS:,} can be graded in one round. Send a sample of them."
        raise NotValid(said, {"answers": said})
    questions: dict[str, GivenAnswer] = {}
    for number, one in enumerate(answers, 1):
        fault = _fault(one) or _other_question(one, questions.setdefault(one.query_id, one))
        if fault:
            said = f"Answer {number}, query {one.query_id[:100]!r}: {fault}"
            raise NotValid(said, {"answers": said})


def _fault(one: GivenAnswer) -> str:
    """What is wrong with an answer and what to do about it; nothing where it can be graded."""
    for what, text in (("query_id", one.query_id), *(("evidence doc_id", passage.doc_id) for passage in one.evidence)):
        if fault := id_fault(text):
            return f"the {what} {fault[1]}. Give it another id."
    if not one.query.strip():
        return "the question is empty. Send its text."
    if len(one.query) > LONGEST_QUERY:
        return f"the question has {len(one.query):,} characters. Shorten it to {LONGEST_QUERY:,}."
    if not one.text.strip():
        return "the answer is empty. Leave it out: people cannot grade it."
    if len(one.evidence) > MOST_PASSAGES:
        return f"there are {len(one.evidence)} passages of evidence. Send {MOST_PASSAGES} at most."
    read = [
        one.query,
        one.text,
        one.reference,
        *(text for passage in one.evidence for text in asdict(passage).values()),
    ]
    if len(one.text) > LONGEST or sum(map(len, read)) > LONGEST_ANSWER:
        return (
            f"the answer has {len(one.text):,} characters, and {sum(map(len, read)):,} with its evidence. "
            f"A page shows {LONGEST:,} and {LONGEST_ANSWER:,} at most. Shorten it."
        )
    if any("\0" in text or _is_broken(text) for text in read):
        return "the text holds a NUL character or half of a surrogate pair. Remove it."
    return ""


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _other_question(one: GivenAnswer, first: GivenAnswer) -> str:
    if one.query != first.query:
        return f"the question is {one.query[:100]!r} here and {first.query[:100]!r} before. Give each its own query_id."
    if one.reference.strip() != first.reference.strip():
        return "the reference answer differs from the one before. A question has one reference answer."
    return ""


def _queries(collection: Collection, answers: Sequence[GivenAnswer]) -> dict[str, Query]:
    """Return the questions by id: the collection's query where id and text are equal, else a row of their own."""
    texts = {one.query_id: one.query for one in answers}
    queries = {row.query_id: row for row in collection.queries.all() if texts.get(row.query_id) == row.text}
    questions = {row.query_id: row for row in collection.queries(manager="questions").all() if row.query_id in texts}
    for query_id, text in texts.items():
        if query_id not in queries and query_id in questions and questions[query_id].text != text:
            said = (
                f"The question {query_id!r} is “{questions[query_id].text[:100]}” in earlier rounds and "
                f"“{text[:100]}” here. Give the new question another id."
            )
            raise NotValid(said, {"answers": said})
    known = questions | queries
    new = [
        Query(collection=collection, kind=Query.Kind.QUESTION, query_id=query_id, text=text)
        for query_id, text in texts.items()
        if query_id not in known
    ]
    Query.questions.bulk_create(new, batch_size=BATCH)
    return known | {query.query_id: query for query in new}


def _documents(collection: Collection, answers: Sequence[GivenAnswer]) -> dict[str, Document]:
    """The answers as rows; one that is there already is used again, so that rounds share it."""
    given = {one.doc_id: one for one in answers}
    Document.answers.bulk_create(
        [_row(collection, doc_id, one) for doc_id, one in given.items()], batch_size=BATCH, ignore_conflicts=True
    )
    return answers_by_id(collection, list(given))


def _row(collection: Collection, doc_id: str, one: GivenAnswer) -> Document:
    evidence = [asdict(passage) for passage in one.evidence]
    text, reference = one.text.strip(), one.reference.strip()
    return Document(
        collection=collection,
        kind=Document.Kind.ANSWER,
        doc_id=doc_id,
        # Lists name a document by its title: the beginning of the answer.
        title=Truncator(" ".join(text.split())).chars(LONGEST_TITLE),
        text=text,
        evidence=evidence,
        reference=reference,
        content_sha256=content_hash("", text, "", "", {"evidence": evidence, "reference": reference}),
    )


def _guidelines(collection: Collection, dimension: str, markdown: str, actor: User) -> GuidelinesVersion:
    """The version with this text, if rounds of the dimension have it already; else it becomes the next version.

    A version is never shared with rounds of documents or of another dimension: the newest version of each stays theirs.
    """
    text = guidelines.kept(markdown if markdown.strip() else DIMENSIONS[dimension].guidelines)
    mine = collection.guidelines.filter(sha256=GuidelinesVersion.hash_of(text), rounds__dimension=dimension)
    return mine.first() or guidelines.add_version(collection, markdown=text, actor=actor)
