"""Command ``load_demo``, which loads the demo with the same actions as the pages and the API."""

from __future__ import annotations

import io
import json
import uuid
from argparse import ArgumentParser
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from assay.core.errors import AssayError
from assay.sampling.row_counting import normalize
from demo import catalogue, engines, log, rag, raters
from demo.answer_grades import GRADES, answer_grade
from demo.guidelines import GUIDELINES
from evaluation.models import RagSampleSet
from evaluation.rag import people as rag_people
from evaluation.scoring import scoring
from judgments.agreement import conflicts, resolutions
from judgments.guidelines import guidelines
from judgments.imports import ingestion
from judgments.members import grants
from judgments.members.collections import add_member, create_collection
from judgments.models import Collection, Grant, Pair, Query, Round, User
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from pooling.logs import query_logs
from pooling.models import QueryLog, Run
from pooling.pools import pools
from pooling.runs import runs as verbs

SLUG = "larch-and-ridge"
PASSWORD = "demo"  # noqa: S105 - made only by the demo, and refused when DEBUG is off
PEOPLE = {"lead": "lead", "engineer": "engineer", "rater1": "rater", "rater2": "rater", "rater3": "rater"}
SEED = 17
SIZES = {"head": 15, "torso": 20, "tail": 15}
DEPTH = 10
MAY_CREATE = ("lead", "engineer")
PILOT_QUERIES_A_TIER = 5
RATERS = ("rater1", "rater2", "rater3")
GRADED_SAMPLES = 10


class Command(BaseCommand):
    help = "Load the demo: an outdoor shop with a query log, three systems, a half-judged round and two RAG systems."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--quiet", action="store_true", help="do not print the demo accounts")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError("The demo has accounts with a public password. Set DEBUG=1 to load it.")
        if Collection.objects.filter(slug=SLUG).exists():
            # Accounts of an older demo do not have this permission.
            User.objects.filter(username__in=MAY_CREATE).update(can_create_collections=True)
            self.tell(options)
            return
        self.stdout.write("Loading the demo: documents, log, three systems, three raters ...")
        people = _people()
        with transaction.atomic():
            collection = _collection(people)
            _documents(collection, people["lead"])
            _log(collection, people["lead"])
        _runs(collection, people["engineer"])
        _rag(collection, people)
        pilot = _pilot(collection, people)
        snapshot = snapshots.freeze(collection, name="pilot", rounds=[pilot], actor=people["lead"])
        scoring.score_runs(snapshot, list(collection.runs.all()), actor=people["engineer"])
        _half_judged(collection, people)
        self.tell(options)

    def tell(self, options: dict[str, Any]) -> None:
        if options["quiet"]:
            return
        self.stdout.write(f"Demo accounts: {', '.join(PEOPLE)}; password: {PASSWORD}")


def _people() -> dict[str, User]:
    people = {}
    for name in PEOPLE:
        people[name], new = User.objects.get_or_create(username=name)
        if new:
            people[name].set_password(PASSWORD)
            people[name].can_create_collections = name in MAY_CREATE
            people[name].save(update_fields=["password", "can_create_collections"])
    return people


def _collection(people: dict[str, User]) -> Collection:
    collection = create_collection(
        slug=SLUG,
        name="Larch & Ridge site search",
        description="Search quality of an invented outdoor shop. All grades were made for this demo.",
        actor=people["lead"],
    )
    for kind in Grant.Kind:
        grants.grant(collection, kind=kind, value=grants.ALL)
    for name, role in PEOPLE.items():
        if name != "lead":
            add_member(collection, username=name, role=role, actor=people["lead"])
    return collection


def _store(
    collection: Collection, kind: str, filename: str, rows: list[dict[str, Any]], actor: User, **options: str
) -> None:
    body = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    _store_bytes(collection, kind, filename, body, actor, **options)


def _store_bytes(collection: Collection, kind: str, filename: str, body: bytes, actor: User, **options: str) -> None:
    upload = ingestion.receive(collection, kind=kind, file=io.BytesIO(body), filename=filename, actor=actor)
    ingestion.store(upload, actor=actor, options=options)


def _documents(collection: Collection, lead: User) -> None:
    _store(collection, "documents", "catalogue.jsonl", catalogue.documents(), lead)


def _log(collection: Collection, lead: User) -> None:
    """Store the log, draw queries by tier, and add a narrative to every drawn query."""
    _store(collection, "query-logs", "searches.jsonl", log.query_log(), lead)
    query_logs.draw(QueryLog.objects.get(collection=collection), sizes=SIZES, seed=SEED, actor=lead)
    needs = log.needs()
    queries = list(collection.queries.all())
    for query in queries:
        query.narrative = needs.get(normalize(query.text), "")
    Query.objects.bulk_update(queries, ["narrative"])


def _runs(collection: Collection, engineer: User) -> None:
    """Store the actual results of the three systems for the drawn queries."""
    queries = dict(collection.queries.values_list("query_id", "text"))
    for run in engines.runs(queries, catalogue.documents()):
        lines = []
        for query_id in run.query_ids:
            scores = run.to_dict()[query_id]
            for rank, (doc_id, score) in enumerate(scores.items(), 1):
                lines.append(f"{query_id} Q0 {doc_id} {rank} {score!r} {run.name}\n")
        _store_bytes(collection, "runs", f"{run.name}.run", "".join(lines).encode(), engineer)
    verbs.set_baseline(collection, collection.runs.get(name="bm25"), actor=engineer)


def _rag(collection: Collection, people: dict[str, User]) -> None:
    """Store questions, the actual answers of two RAG systems and human grades; a job scores the systems."""
    documents, engineer = catalogue.documents(), people["engineer"]
    questions = rag.samples(documents)
    _store(collection, "samples", "shop-questions.jsonl", questions, engineer)
    for name, lines in rag.outputs(questions, documents).items():
        _store(collection, "outputs", f"{name}.jsonl", lines, engineer, name=name)
    _answers_graded(RagSampleSet.objects.get(collection=collection), people)


def _answers_graded(sample_set: RagSampleSet, people: dict[str, User]) -> None:
    """Create two closed rounds in which all raters graded answers of both systems."""
    made = rag_people.start(
        sample_set,
        name="Shop answers",
        systems=list(sample_set.systems.all()),
        dimensions=tuple(GRADES),
        samples=GRADED_SAMPLES,
        ratings_per_pair=len(RATERS),
        raters=[people[name] for name in RATERS],
        seed=SEED,
        actor=people["lead"],
    )
    names = {str(system.uuid): system.name for system in sample_set.systems.all()}
    for round_ in made:
        answered = sample_set.gradings.get(round=round_).answers
        given = {ids[key]: (key, names[system]) for system, ids in answered.items() for key in ids}
        opened = rounds.open_round(round_, actor=people["lead"])
        _rate(opened, people, share=1.0, answer=partial(_answer_grade, given))
        rounds.close_round(opened, actor=people["lead"])


def _answer_grade(given: dict[str, tuple[str, str]], pair: Pair, rater: int) -> submission.Answer:
    sample_id, system = given[pair.document.doc_id]
    grade, seconds = answer_grade(pair.round.dimension, sample_id, system, rater)
    return submission.Answer(
        client_id=uuid.uuid5(pair.uuid, f"rater{rater}"),
        pair=pair.uuid,
        state="graded",
        grade=grade,
        seconds_active=seconds,
        seconds_away=0.0,
    )


def _pilot(collection: Collection, people: dict[str, User]) -> Round:
    """Create the small first round for the first snapshot: rated, with its widest conflicts resolved, closed."""
    lead = people["lead"]
    version = guidelines.add_version(collection, markdown=GUIDELINES, actor=lead)
    chosen: set[str] = set()
    for tier in SIZES:
        chosen.update(collection.queries.filter(tier=tier).values_list("query_id", flat=True)[:PILOT_QUERIES_A_TIER])
    drawn = pools.choose(collection, strategy="depth", runs=_all_runs(collection), parameters={"depth": DEPTH})
    pairs = [(pair.query_id, pair.doc_id) for pair in drawn.pairs if pair.query_id in chosen]
    pool = pools.draw_pool(
        collection, strategy="list", runs=_all_runs(collection), parameters={"pairs": pairs}, actor=lead
    )
    staff = [people[name] for name in RATERS]
    pilot = pools.make_round(
        pool, actor=lead, name="Pilot", guidelines=version, ratings_per_pair=2, raters=staff, seed=SEED
    )
    pilot = rounds.open_round(pilot, actor=lead)
    _rate(pilot, people, share=1.0, answer=_answer)
    for pair in conflicts.with_details(conflicts.in_conflict(pilot, viewer=lead, steps=2)):
        grades = sorted(conflicts.grades_of(pair).values())
        reason = "According to the guidelines, the need decides, not matching words."
        resolutions.resolve(pair, grade=grades[0] + 1, reason=reason, actor=lead)
    return rounds.close_round(pilot, actor=lead)


def _half_judged(collection: Collection, people: dict[str, User]) -> Round:
    """Create the open round: a depth pool over all queries, two ratings per pair, about half of them given."""
    lead = people["lead"]
    pool = pools.draw_pool(
        collection, strategy="depth", runs=_all_runs(collection), parameters={"depth": DEPTH}, seed=SEED, actor=lead
    )
    staff = [people[name] for name in RATERS]
    version = guidelines.latest(collection)
    made = pools.make_round(
        pool, actor=lead, name="Autumn", guidelines=version, ratings_per_pair=2, raters=staff, seed=SEED
    )
    made = rounds.open_round(made, actor=lead)
    _rate(made, people, share=0.5, answer=_answer)
    return made


def _all_runs(collection: Collection) -> list[Run]:
    return list(collection.runs.order_by("name"))


def _rate(
    round_: Round, people: dict[str, User], share: float, answer: Callable[[Pair, int], submission.Answer]
) -> None:
    """Let the three raters rate in turns, one batch each, until this share of the ratings is complete."""
    wanted = sum(round_.pairs.values_list("ratings_wanted", flat=True))
    given, idle = 0, 0
    while given < share * wanted and idle < 3:
        idle = 0
        for number, name in enumerate(RATERS, 1):
            batch = assignment.claim_batch(round_, rater=people[name], size=10)
            idle += not batch
            answers = [answer(pair, number) for pair in batch]
            for result in submission.submit_all(round_, answers, rater=people[name]):
                if isinstance(result, AssayError):
                    raise result
            given += len(batch)


def _answer(pair: Pair, rater: int) -> submission.Answer:
    document = pair.document
    row = {"doc_id": document.doc_id, "title": document.title, "text": document.text, "fields": document.fields}
    state, grade, seconds = raters.grade(rater, pair.query.text, row, SEED)
    return submission.Answer(
        client_id=uuid.uuid5(pair.uuid, f"rater{rater}"),
        pair=pair.uuid,
        state=state,
        grade=grade,
        reason="document broken" if state == "unrateable" else "",
        note=raters.note(rater, pair.query.text, row, grade),
        seconds_active=timedelta(seconds=seconds).total_seconds(),
        seconds_away=0.0,
    )
