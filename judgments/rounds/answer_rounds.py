"""Rounds in which people grade answers of RAG systems: one round per dimension, over the same answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from django.db import transaction
from django.utils.text import Truncator

from assay.core.content_hash import content_hash
from assay.core.errors import NotValid
from assay.core.text_rules import amount, id_fault
from judgments.documents.answers import answers_by_id
from judgments.guidelines import guidelines
from judgments.models import Collection, Document, GuidelinesVersion, Query, Round, User, audit
from judgments.rounds import rounds
from judgments.rounds.answer_dimensions import DIMENSIONS
from judgments.rounds.settings import RoundSettings, Row
from judgments.web.rich_text import LONGEST

# More answers than people can grade in one round; a longer list is a mistake.
MOST_ANSWERS = 20_000
# A rater reads the passages together with the answer.
MOST_PASSAGES = 100
# Maximum characters of an answer with its evidence and reference.
LONGEST_ANSWER = 1_000_000
# Maximum characters of a question, as in the column of queries.
LONGEST_QUERY = 2_048
LONGEST_TITLE = 80
BATCH = 500


@dataclass(frozen=True)
class Passage:
    """One passage of the evidence of an answer."""

    doc_id: str
    text: str
    title: str = ""
    url: str = ""


@dataclass(frozen=True)
class GivenAnswer:
    """One answer to grade."""

    query_id: str
    query: str
    text: str
    evidence: tuple[Passage, ...] = ()
    reference: str = ""

    @property
    def doc_id(self) -> str:
        """The id of the answer in pairs, labels and exports."""
        parts = [self.query_id, self.text.strip(), [asdict(one) for one in self.evidence], self.reference.strip()]
        content = json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
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
    """Create one draft round for each dimension, all with the same answers, or no round if one fails."""
    _check_dimensions(dimensions, texts or {})
    _check_answers(answers)
    queries = _queries(collection, answers)
    documents = _documents(collection, answers)
    made = []
    for dimension in dimensions:
        # Sort by id, because the order of the input would reveal the systems.
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
    audit.record(
        "answer_rounds.create_answer_rounds",
        f"{actor} created {amount(len(made), 'round')} of {amount(len(documents), 'answer')}",
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
        problem = f"Unknown dimension {unknown[0]!r}. Known dimensions: {known}."
        raise NotValid(problem, "dimensions" if unknown[0] in dimensions else "guidelines")
    if not dimensions or len(set(dimensions)) < len(dimensions):
        raise NotValid(f"Name at least one dimension, and each only once. Known dimensions: {known}.", "dimensions")
    if idle := sorted(set(texts) - set(dimensions)):
        problem = (
            f"There are guidelines for {idle[0]}, but no round for it. Add the dimension or remove the guidelines."
        )
        raise NotValid(problem, "guidelines")


def _check_answers(answers: Sequence[GivenAnswer]) -> None:
    if not answers:
        raise NotValid("There are no answers to grade.", {"answers": "Send at least one answer."})
    if len(answers) > MOST_ANSWERS:
        problem = f"{len(answers):,} answers exceed the limit of {MOST_ANSWERS:,} per round. Send a sample of them."
        raise NotValid(problem, "answers")
    questions: dict[str, GivenAnswer] = {}
    for number, one in enumerate(answers, 1):
        fault = _fault(one) or _other_question(one, questions.setdefault(one.query_id, one))
        if fault:
            raise NotValid(f"Answer {number}, query {one.query_id[:100]!r}: {fault}", "answers")


def _fault(one: GivenAnswer) -> str:
    """Return the problem of an answer with its fix; "" if it can be graded."""
    for what, text in (("query_id", one.query_id), *(("evidence doc_id", passage.doc_id) for passage in one.evidence)):
        if fault := id_fault(text):
            return f"the {what} {fault[1]}. Give it another id."
    if not one.query.strip():
        return "the question is empty. Send its text."
    if len(one.query) > LONGEST_QUERY:
        return f"the question has {len(one.query):,} characters. Shorten it to {LONGEST_QUERY:,}."
    if not one.text.strip():
        return "the answer is empty. Leave it out, because people cannot grade it."
    if len(one.evidence) > MOST_PASSAGES:
        return f"there are {len(one.evidence)} passages of evidence. Send at most {MOST_PASSAGES}."
    read = [
        one.query,
        one.text,
        one.reference,
        *(text for passage in one.evidence for text in asdict(passage).values()),
    ]
    if len(one.text) > LONGEST or sum(map(len, read)) > LONGEST_ANSWER:
        return (
            f"the answer has {len(one.text):,} characters, and {sum(map(len, read)):,} with its question and evidence. "
            f"The limits are {LONGEST:,} and {LONGEST_ANSWER:,}. Shorten it."
        )
    if any("\0" in text or _is_broken(text) for text in read):
        return "the text contains a NUL character or an unpaired surrogate. Remove it."
    return ""


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _other_question(one: GivenAnswer, first: GivenAnswer) -> str:
    if one.query != first.query:
        return (
            f"the question is {one.query[:100]!r} here and {first.query[:100]!r} earlier. Give each question its own "
            "query_id."
        )
    if one.reference.strip() != first.reference.strip():
        return (
            "the reference answer differs from an earlier one for this question. Send one reference answer per "
            "question."
        )
    return ""


def _queries(collection: Collection, answers: Sequence[GivenAnswer]) -> dict[str, Query]:
    """Return the questions by id: the collection's query if id and text are equal, otherwise a new row."""
    texts = {one.query_id: one.query for one in answers}
    queries = {row.query_id: row for row in collection.queries.all() if texts.get(row.query_id) == row.text}
    questions = {row.query_id: row for row in collection.queries(manager="questions").all() if row.query_id in texts}
    for query_id, text in texts.items():
        if query_id not in queries and query_id in questions and questions[query_id].text != text:
            problem = (
                f"The question {query_id!r} is “{questions[query_id].text[:100]}” in earlier rounds and "
                f"“{text[:100]}” here. Give the new question another id."
            )
            raise NotValid(problem, "answers")
    known = questions | queries
    new = [
        Query(collection=collection, kind=Query.Kind.QUESTION, query_id=query_id, text=text)
        for query_id, text in texts.items()
        if query_id not in known
    ]
    Query.questions.bulk_create(new, batch_size=BATCH)
    return known | {query.query_id: query for query in new}


def _documents(collection: Collection, answers: Sequence[GivenAnswer]) -> dict[str, Document]:
    """Return the answers as rows. Existing rows are reused, so that rounds share them."""
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
        # Lists show a document's title, which is the beginning of the answer.
        title=Truncator(" ".join(text.split())).chars(LONGEST_TITLE),
        text=text,
        evidence=evidence,
        reference=reference,
        content_sha256=content_hash("", text, "", "", {"evidence": evidence, "reference": reference}),
    )


def _guidelines(collection: Collection, dimension: str, markdown: str, actor: User) -> GuidelinesVersion:
    """Return the version with this text if rounds of the dimension use it; otherwise create the next version."""
    text = guidelines.normalize(markdown if markdown.strip() else DIMENSIONS[dimension].guidelines)
    mine = collection.guidelines.filter(sha256=GuidelinesVersion.hash_of(text), rounds__dimension=dimension)
    return mine.first() or guidelines.add_version(collection, markdown=text, actor=actor)
