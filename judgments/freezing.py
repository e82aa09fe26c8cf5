"""Freeze labels into a snapshot.

A snapshot is files in storage plus one row. Its identity is ``content_sha256``, over labels, queries and provenance,
with no name, clock time or pseudonym in it: the same inputs give the same hash on every machine and database.
"""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from judgments import access, audit, baselines, bundle, gates, manifests, merging, storage
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotValid
from judgments.core.ids import id_fault
from judgments.frozen import MANIFEST
from judgments.gates import Held
from judgments.labels import EXCLUDED, Consolidation, Settled, settle_labels
from judgments.models import Collection, Judgment, Pair, Round, Snapshot, User

# Told of a snapshot and of who froze it, once it is there for good.
FROZEN: list[Callable[[Snapshot, User], object]] = []


@dataclass(frozen=True)
class _Asked:
    """What is frozen, by whom, how, and why in spite of a warning."""

    collection: Collection
    name: str
    actor: User
    how: Consolidation
    override_reason: str


def preview(
    collection: Collection,
    *,
    rounds: Sequence[Round],
    rule: str = "median",
    sources: Sequence[str] = ("human",),
    merge: str = merging.NEWEST,
    named: Sequence[str] = (),
    unrateable: str = EXCLUDED,
    judge: str = "",
) -> Settled:
    """What would be frozen: labels, ties, conflicts that only the rule decides, pairs without a rating."""
    how = {"rule": rule, "merge": merge, "sources": sources, "named": named, "unrateable": unrateable}
    how["judge"] = judge
    return settle_labels(collection, rounds, **how)  # type: ignore[arg-type]


def freeze(
    collection: Collection,
    *,
    name: str,
    rounds: Sequence[Round],
    actor: User,
    rule: str = "median",
    sources: Sequence[str] = ("human",),
    merge: str = merging.NEWEST,
    named: Sequence[str] = (),
    unrateable: str = EXCLUDED,
    judge: str = "",
    override_reason: str = "",
) -> Snapshot:
    """Freeze the labels of one or more rounds under a rule.

    Parameters
    ----------
    collection : Collection
        Where it belongs.
    name : str
        Once in the collection.
    rounds : sequence of Round
        Whose labels; of one scale.
    actor : User
        The lead who does it.
    rule, sources, merge, named, unrateable, judge
        As :func:`judgments.labels.settle_labels` takes them; they become part of the provenance.
    override_reason : str
        Why a lead froze in spite of a warning. A round whose agreement fails its gate is frozen with one, or not.

    Raises
    ------
    NotValid
        No labels, rounds that do not go together, or a bridge that does not hold.
    Conflict
        The name is taken, a round fails its gate and no reason is given, or the actor still rates pairs of which the
        labels would tell the others' grades.
    """
    name = name.strip()
    if not name:
        raise NotValid("A snapshot needs a name.", {"name": "For example: autumn-1."})
    if fault := id_fault(name):
        raise NotValid(f"The name {fault[1]}.", {"name": f"It {fault[1]}. Write it in letters, digits and signs."})
    how = Consolidation(rule, tuple(sources), merge, tuple(named), unrateable, judge)
    taken = f"There is a snapshot called {name} already. Take another name."
    if collection.snapshots.filter(name=name).exists():
        raise Conflict(taken, {"name": taken})
    # Computed before anything is locked, and kept: the same question below is answered at once.
    gates.hold(rounds, how.sources)
    try:
        with transaction.atomic():
            frozen = _freeze(_Asked(collection, name, actor, how, override_reason.strip()), _locked(rounds))
            for tell in FROZEN:
                transaction.on_commit(partial(tell, frozen, actor))
            return frozen
    except IntegrityError as error:
        # Another one of that name was frozen at the same moment.
        raise Conflict(taken, {"name": taken}) from error


def _locked(rounds: Sequence[Round]) -> list[Round]:
    """The rounds as they are now, with their pairs: no answer or settlement comes between the files of one bundle."""
    # By key, as answers lock them; raters may go on asking for pairs.
    list(Pair.objects.select_for_update(no_key=True).filter(round__in=rounds).order_by("pk").values_list("pk"))
    rows = Round.objects.select_for_update(of=("self",)).filter(pk__in=[round_.pk for round_ in rounds])
    return list(rows.select_related("scale", "guidelines", "collection"))


def _freeze(asked: _Asked, rounds: list[Round]) -> Snapshot:
    _refuse_to_unblind(rounds, asked.actor)
    how = asked.how
    settled = preview(
        asked.collection,
        rounds=rounds,
        rule=how.rule,
        merge=how.merge,
        sources=how.sources,
        named=how.named,
        unrateable=how.unrateable,
        judge=how.judge,
    )
    if not settled.labels:
        raise NotValid("There is nothing to freeze: no pair has a grade yet.", {"rounds": "Rate first."})
    merging.check_bridges(settled.merged, how.merge)
    held = gates.hold(rounds, how.sources)
    gates.check(held, asked.override_reason)
    snapshot = _write(asked, rounds, settled, held)
    snapshot.rounds.set(rounds)
    audit.record(
        "snapshots.freeze",
        f"{asked.actor} froze snapshot {asked.name} with {amount(len(settled.labels), 'label')}",
        actor=asked.actor,
        collection=asked.collection,
        target=snapshot,
        content_sha256=snapshot.content_sha256,
        override_reason=asked.override_reason,
    )
    return snapshot


def _refuse_to_unblind(rounds: Sequence[Round], actor: User) -> None:
    """A lead who still rates in an open round would read the others' grades from the labels."""
    for round_ in rounds:
        if _others_grades(round_, actor).exists():
            raise Conflict(
                f"You still rate in {round_}, and its labels would tell you what others graded. "
                "Finish rating, or close the round first."
            )


def _others_grades(round_: Round, reader: User) -> QuerySet[Judgment]:
    """What others gave to the pairs that the reader may still have to grade."""
    hidden = access.hidden_pairs(reader, round_)
    return Judgment.objects.counted().filter(pair__in=hidden).exclude(rater=reader)


def _write(asked: _Asked, rounds: list[Round], settled: Settled, held: Sequence[Held]) -> Snapshot:
    """Put the bundle into storage, and the one row that points to it into the database."""
    from judgments.formats.manifest import manifest_bytes

    queries = bundle.judged_queries(asked.collection, rounds, settled)
    content = bundle.content(queries, rounds, settled, asked.how)
    freezing = baselines.Freezing(asked.collection, rounds, queries, settled)
    files = bundle.files(queries, rounds, settled, freezing.hashes)
    manifest = {
        **manifests.about(rounds, settled, asked.how, held),
        **manifests.identity(asked.name, content, files),
        "baseline": baselines.take(freezing),
        "override_reason": asked.override_reason,
    }
    folder = f"snapshots/{uuid_module.uuid4().hex}"
    # The row first: a name that is taken meanwhile is refused before a file lies in storage.
    snapshot = Snapshot.objects.create(
        collection=asked.collection,
        name=asked.name,
        content_sha256=manifest["content_sha256"],
        rule=asked.how.rule,
        folder=folder,
        manifest=manifest,
        summary=manifests.summary(manifest, settled),
        override_reason=asked.override_reason,
        created_by=asked.actor,
    )
    for path, (_, body) in files.items():
        storage.keep(folder, path, body)
    storage.keep(folder, MANIFEST, manifest_bytes(manifest))
    return snapshot
