"""A small collection with data for every feature, for tests of all URLs."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from assay.connectors import CONNECTORS
from evaluation.decisions import decisions
from evaluation.gates import verdicts
from evaluation.models import Decision, GateVerdict, RagSampleSet, RagSystem, Scoring
from evaluation.scoring import scoring
from judgments.events import events
from judgments.guidelines import guidelines
from judgments.imports import ingestion
from judgments.jobs import encrypted_secrets, jobs
from judgments.machines.prompts import prompts
from judgments.members import recorded_changes, tokens
from judgments.models import (
    ApiToken,
    Battle,
    BattleRun,
    Collection,
    CollectionEvent,
    Declaration,
    Example,
    GuidelinesVersion,
    InviteLink,
    Job,
    Judge,
    Judgment,
    LabelSource,
    MachineJudgment,
    MemberInvitation,
    Notice,
    Pair,
    PromptVersion,
    Provider,
    QueryGroup,
    Round,
    Snapshot,
    Upload,
    UploadSession,
    User,
    Webhook,
)
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from pooling.models import Connector, Pool, QueryLog, Run
from pooling.pools import pools
from tests import worked_example as example
from tests.cached_rows import cached

# Words that no answer to a rater may hold: names of runs, another rater's note, a machine's reasons.
SECRETS = (
    "bm25",
    "neural",
    "note-of-another-rater",
    "reasons-of-a-machine",
    "raw-of-a-machine",
    "name-of-a-judge",
    "answer-expected-by-a-judge",
)


@dataclass(frozen=True)
class World:
    """What the addresses name."""

    collection: Collection
    engineer: User
    runs: list[Run]
    log: QueryLog
    clicks: LabelSource
    connector: Connector
    webhook: Webhook  # has one delivery
    notice: Notice  # the lead's
    provider: Provider
    prompt: PromptVersion
    judge: Judge
    battles: BattleRun  # of the open round
    pool: Pool
    round: Round  # open; rater and rater2 were asked, rater2 has answered everything
    draft: Round
    closed: Round
    conflict: Pair  # of the closed round
    snapshot: Snapshot
    scoring: Scoring
    samples: RagSampleSet
    system: RagSystem
    declaration: Declaration
    job: Job
    upload: Upload
    version: GuidelinesVersion
    token: ApiToken  # the lead's
    link: InviteLink
    invitation: MemberInvitation  # of otto, who has not answered
    group: QueryGroup
    example: Example  # waits for the next guidelines
    answer: Judgment  # rater's only answer in the open round
    session: UploadSession  # the lead's, of which nothing arrived
    verdict: GateVerdict
    decision: Decision  # about the closed round


def make_world(collection: Collection, *, lead: User, engineer: User, rater: User, rater2: User) -> World:
    """Fill the collection by its verbs, as a lead would."""
    return cached("world", lambda: _make_world(collection, lead, engineer, rater, rater2))


def _make_world(collection: Collection, lead: User, engineer: User, rater: User, rater2: User) -> World:
    _stored(collection, lead)
    runs = list(collection.runs.order_by("name"))
    pool = pools.draw_pool(collection, strategy="depth", runs=runs, parameters={"depth": 3}, actor=lead)
    version = guidelines.add_version(collection, markdown="Grade 0 to 3.", actor=lead)
    draft, open_round, closed = (
        _round(pool, name, version, lead, rater, rater2) for name in ("Draft", "Open", "Closed")
    )
    open_round, closed = (rounds.open_round(row, actor=lead) for row in (open_round, closed))
    grade_all(closed, rater, example.GRADES["r01"])
    grade_all(closed, rater2, example.GRADES["r02"])
    grade_all(open_round, rater2, example.GRADES["r02"], note="note-of-another-rater")
    closed = rounds.close_round(closed, actor=lead)
    pair = assignment.claim_batch(open_round, rater=rater, size=1)[0]
    first = submission.submit(open_round, submission.Answer(uuid.uuid4(), pair.uuid, 3), rater=rater)
    _machine_grades(open_round)
    snapshot = snapshots.freeze(collection, name="first", rounds=[closed], actor=lead)
    scored = scoring.score_runs(snapshot, runs, actor=lead, metrics=["nDCG@10"])
    return World(
        collection=collection,
        engineer=engineer,
        runs=runs,
        log=collection.query_logs.get(),
        clicks=collection.label_sources.get(kind="clicks"),
        connector=_connector(collection, engineer),
        webhook=_webhook(collection, lead),
        notice=_notice(collection, lead),
        provider=_provider(collection, lead),
        prompt=_prompt(collection, lead),
        judge=collection.judges.get(),
        battles=_battles(open_round),
        pool=pool,
        round=open_round,
        draft=draft,
        closed=closed,
        conflict=closed.pairs.get(document__doc_id="d3"),
        snapshot=snapshot,
        scoring=scored[0],
        samples=collection.rag_sample_sets.get(),
        system=collection.rag_systems.get(),
        declaration=recorded_changes.declare(collection, kind="schema", note="stemmer", actor=lead),
        job=_waiting_job(collection, lead),
        upload=received(collection, lead, "documents", '{"doc_id": "d9"}\n'),
        version=version,
        token=tokens.make_token(lead, name="build", scopes=["read"])[0],
        link=InviteLink.objects.create(
            collection=collection,
            digest=tokens.digest("a code"),
            created_by=lead,
            expires_at=timezone.now() + timedelta(days=7),
        ),
        invitation=MemberInvitation.objects.create(
            collection=collection, username="otto", role="rater", created_by=lead
        ),
        group=QueryGroup.objects.create(collection=collection, name="jackets"),
        example=Example.objects.create(
            collection=collection, query_text="tent", document_text="D9", grade=1, reason="A tarp is no tent."
        ),
        answer=first.judgment,
        session=UploadSession.objects.create(
            collection=collection, kind="runs", filename="large.run", bytes=10, sha256="0" * 64, created_by=lead
        ),
        verdict=_verdict(snapshot, runs, engineer),
        decision=_decision(closed, runs, lead),
    )


def _decision(round_: Round, runs: list[Run], actor: User) -> Decision:
    """A decision between the two runs, whose only query is judged."""
    planned = decisions.plan(runs[0], runs[1:], decisions.Settings(metric="nDCG@3"))
    path = decisions.keep_lists(planned, round_.collection)
    return decisions.record(planned, runs[0], runs[1:], path, actor, "neural", round_)


def _verdict(snapshot: Snapshot, runs: list[Run], actor: User) -> GateVerdict:
    """A gate that a run passed by one rule and failed by another one."""
    baseline, candidate = ({"name": run.name, "sha256": run.sha256} for run in runs)
    entry = next(entry for entry in snapshot.manifest["files"] if entry["path"] == "qrels.txt")
    rule = {"value": 1.0, "baseline": 0.9, "candidate": 1.0, "p": None, "reason": None, "queries": 1, "excused": False}
    return verdicts.record(
        snapshot.collection,
        actor=actor,
        client_id=uuid.uuid4(),
        snapshot=snapshot,
        qrels_sha256=entry["sha256"],
        passed=False,
        rules=[
            {**rule, "rule": "Judged@3 >= 0.8", "metric": "Judged@3", "passed": True},
            {
                **rule,
                "rule": "drop(nDCG@3) <= -2",
                "metric": "nDCG@3",
                "passed": False,
                "reason": "2.0 above the limit",
            },
        ],
        candidate=candidate,
        baseline=baseline,
        warnings=["the snapshot has fewer than 25 queries"],
        label="Pull request 12",
        link="https://code.example.com/pull/12",
    )[0]


def _waiting_job(collection: Collection, actor: User) -> Job:
    """A job that stands in no queue: where a test commits, a worker would take it at once."""
    return Job.objects.create(
        kind="import",
        title="Store x",
        collection=collection,
        created_by=actor,
        lease_until=timezone.now() + jobs.PATIENCE,
    )


def received(collection: Collection, actor: User, kind: str, content: str, filename: str = "") -> Upload:
    """A file that was read and waits."""
    file = io.BytesIO(content.encode())
    return ingestion.receive(collection, kind=kind, file=file, filename=filename or f"{kind}.txt", actor=actor)


def grade_all(round_: Round, rater: User, grades: dict[str, int], note: str = "") -> None:
    """Every pair that the rater can get, graded by the document's id."""
    batch = assignment.claim_batch(round_, rater=rater, size=50)
    given = {pair.uuid: grades[pair.document.doc_id] for pair in batch}
    grade_together(round_, rater, given, note=note, seconds_active=9.5)


def pseudonym(round_: Round, rater: User) -> str:
    return round_.raters.get(user=rater).pseudonym


def grade_together(round_: Round, rater: User, grades: Mapping[uuid.UUID, int | None], **fields: Any) -> list[Judgment]:
    """A rater's answers for leased pairs as one request, which is far cheaper than one for each."""
    answers = [submission.Answer(uuid.uuid4(), pair, grade, **fields) for pair, grade in grades.items()]
    results = submission.submit_all(round_, answers, rater=rater)
    assert all(isinstance(result, submission.Receipt) for result in results), results
    return [result.judgment for result in results]


def _connector(collection: Collection, engineer: User) -> Connector:
    """An engine with a secret, at an address that nobody allowed: no test of addresses asks it."""
    settings = {one.name: one.default for one in CONNECTORS["json-http"].settings if not one.secret}
    settings["address"] = "https://search.example.com/find"
    sealed = encrypted_secrets.seal({"secret": "secret-of-a-connector"})
    return Connector.objects.create(
        collection=collection, name="live", kind="json-http", settings=settings, sealed=sealed, created_by=engineer
    )


def _webhook(collection: Collection, lead: User) -> Webhook:
    """A webhook with a secret and a failed delivery, to an address that the operator does not allow."""
    sealed = encrypted_secrets.seal({"secret": "secret-of-a-webhook"})
    hook = Webhook.objects.create(
        collection=collection,
        address="https://hooks.example.com/x",
        events=["snapshot.frozen"],
        sealed=sealed,
        created_by=lead,
    )
    hook.deliveries.create(event=CollectionEvent.objects.filter(kind="snapshot.frozen").get(), state="failed")
    return hook


def _notice(collection: Collection, lead: User) -> Notice:
    event = events.emit("labels.stale", collection, text="The labels are stale.", page="/", data={})
    return Notice.objects.get(event=event, user=lead)


def _provider(collection: Collection, lead: User) -> Provider:
    """A place where models are asked, with a key, at an address that nobody allowed."""
    models = [{"name": "judge-1", "price_in": 1.0, "price_out": 4.0}]
    sealed = encrypted_secrets.seal({"key": "key-of-a-provider"})
    return Provider.objects.create(
        collection=collection,
        name="models",
        protocol="openai",
        base_url="https://models.example.com",
        models_offered=models,
        sealed=sealed,
        created_by=lead,
    )


def _prompt(collection: Collection, lead: User) -> PromptVersion:
    words = "Asked: {query}. Grades: {scale}. Text: {document}"
    return prompts.add_version(collection, actor=lead, name="ours", system="", prompt=words)


def _stored(collection: Collection, lead: User) -> None:
    texts = [{"doc_id": name, "title": name.upper(), "text": f"<b>Text</b> of {name}"} for name in example.DOCUMENTS]
    for kind, content, filename in (
        ("queries", "query_id,query,narrative\nq1,rain jacket,For a wet week.\n", "queries.csv"),
        ("documents", "".join(f"{json.dumps(text)}\n" for text in texts), "documents.jsonl"),
        ("runs", example.BM25, "bm25.run"),
        ("runs", example.NEURAL, "neural.run"),
        ("query-logs", "query,count\nrain jacket,90\ntent,9\nstove,1\n", "log.csv"),
        ("qrels", "q1 0 d1 3\n", "old.qrels"),
        (
            "clicks",
            "query,doc_id,position,impressions,clicks\nrain jacket,d1,1,100,20\nrain jacket,d2,2,100,5\n",
            "clicks.csv",
        ),
        ("samples", '{"sample_id": "a", "query": "Wet?", "reference_answer": "No."}\n', "samples.jsonl"),
        ("outputs", '{"sample_id": "a", "response": "No.", "retrieved": ["d1"]}\n', "outputs.jsonl"),
    ):
        ingestion.store(received(collection, lead, kind, content, filename), actor=lead)


def _round(pool: Pool, name: str, version: GuidelinesVersion, lead: User, *raters: User) -> Round:
    return pools.make_round(pool, actor=lead, name=name, guidelines=version, raters=raters)


def _machine_grades(round_: Round) -> None:
    pair_fields = {"expected": {"q1": ["answer-expected-by-a-judge"]}}
    judge = Judge.objects.create(collection=round_.collection, name="name-of-a-judge", kind="test", inputs=pair_fields)
    MachineJudgment.objects.bulk_create(
        MachineJudgment(
            judge=judge,
            pair=pair,
            outcome="graded",
            grade=2,
            rationale="reasons-of-a-machine",
            raw="raw-of-a-machine",
        )
        for pair in round_.pairs.all()
    )


def _battles(round_: Round) -> BattleRun:
    """What a machine said of the first document of the round against every other one."""
    run = BattleRun.objects.create(
        round=round_,
        number=1,
        ensemble=[{"provider": str(uuid.uuid4()), "name": "models", "model": "judge-1"}],
        inputs={"template": ["pairwise", 1, "", "{query} {first} {second}"], "guidelines": "", "guidelines_version": 1},
        cycles=1,
        both=0.0,
        seed=1,
        drawn=[],
        battles=0,
        cap_calls=10,
        state=BattleRun.State.DONE,
    )
    first, *others = round_.pairs.order_by("position")
    Battle.objects.bulk_create(
        Battle(
            run=run,
            a=first,
            b=pair,
            swapped=False,
            key=f"{pair.pk:064}",
            prompt_sha256="",
            requested_model="name-of-a-judge",
            outcome="graded",
            score=0.5,
            reason="reasons-of-a-machine",
            raw="raw-of-a-machine",
        )
        for pair in others
    )
    return run
