"""Resolution of all one-step conflicts of a round by a label rule, as one act that can be undone.

An act is one audit row, and each of its resolutions refers to it. It resolves what its preview showed: conflicts that a
lead resolved after the preview, or whose judgments changed after it, are skipped and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.utils import timezone

from assay.aggregation import RULES
from assay.core.errors import Conflict, NotAllowed, NotValid
from assay.core.text_rules import amount
from judgments.agreement import conflicts, resolutions
from judgments.labels import round_labels
from judgments.labels.grade_visibility import means_visible
from judgments.models import Adjudication, AuditRow, Judgment, Pair, Round, User, audit
from judgments.models.pair import PairQuerySet
from judgments.web import access

ACT, UNDO = "adjudication.by_rule", "adjudication.undo_by_rule"
ONE_STEP = 1
# More pairs than this would hold a transaction for minutes; the next act resolves the rest.
MOST = 10_000
# Rules whose label of a pair depends on the grades of other pairs.
OVER_ALL_PAIRS = ("dawid-skene",)


@dataclass(frozen=True)
class Preview:
    """What an act would do: the number of pairs by the grade of their label, and what stays open."""

    rule: str
    by_grade: dict[int, int]
    undecided: int  # the rule gives no label
    remaining: int  # for the next act
    previewed_at: datetime

    @property
    def count(self) -> int:
        return sum(self.by_grade.values())


@dataclass(frozen=True)
class Act:
    """A finished act and what was skipped."""

    row: AuditRow
    resolved: int
    skipped_resolved: int
    skipped_changed: int
    undecided: int
    remaining: int

    @classmethod
    def of(cls, row: AuditRow) -> Act:
        return cls(row, **{name: row.detail[name] for name in COUNTS})


COUNTS = ("resolved", "skipped_resolved", "skipped_changed", "undecided", "remaining")


def preview(round_: Round, *, rule: str, viewer: Any) -> Preview:
    """Return what an act would do now, without doing it."""
    _check_rule(round_, rule, viewer)
    at = timezone.now()
    waiting = _one_step(round_, viewer).unresolved()
    pairs = list(waiting.select_related("query", "document")[:MOST])
    labels = _labels(round_, rule, pairs)
    counts = Counter(labels.values())
    by_grade = {value: counts[value] for value in round_.scale.values() if counts[value]}
    return Preview(rule, by_grade, len(pairs) - len(labels), waiting.count() - len(pairs), at)


@transaction.atomic
def resolve_by_rule(
    round_: Round,
    *,
    rule: str,
    actor: User,
    reason: str = "",
    previewed_at: datetime | None = None,
    client_id: UUID | None = None,
) -> Act:
    """Resolve the open one-step conflicts by the label rule. An act sent twice with one client id is done once."""
    _check_rule(round_, rule, actor)
    why = reason.strip() or default_reason(rule)
    resolutions.check_reason(why)
    all_ = _one_step(round_, actor)
    since = previewed_at or timezone.now()
    changed = Judgment.objects.filter(pair=OuterRef("pk"), created_at__gt=since).order_by()
    waiting = all_.unresolved()
    keys = list(waiting.filter(~Exists(changed)).values_list("pk", flat=True)[:MOST])
    # Locked by their keys, as submissions lock them, and checked again after other transactions have ended.
    rows = Pair.objects.select_for_update(of=("self",)).filter(pk__in=keys, resolved=False, spread=ONE_STEP)
    pairs = list(rows.select_related("round", "query", "document").order_by("pk"))
    if client_id is not None and (before := _recorded(client_id, round_, actor)) is not None:
        return Act.of(before)
    labels = _labels(round_, rule, pairs)
    decided = [pair for pair in pairs if pair.pk in labels]
    meanwhile = Adjudication.objects.current().filter(created_at__gt=since, pair__in=all_.order_by().values("pk"))
    counts = {
        "skipped_resolved": meanwhile.count(),
        "skipped_changed": waiting.filter(Exists(changed)).count(),
        "undecided": len(pairs) - len(decided),
    }
    counts["resolved"] = len(decided)
    counts["remaining"] = max(waiting.count() - len(pairs) - counts["skipped_changed"], 0)
    if not decided:
        raise Conflict(_nothing(counts))
    # The row omits the grades, because its reader may still grade some of the pairs.
    sentence = f"{actor} resolved {amount(len(decided), 'one-step conflict')} of {round_} by the label rule {rule}"
    act = audit.record(ACT, sentence, actor=actor, target=round_, uuid=client_id, rule=rule, reason=why, **counts)
    settled = [
        Adjudication(pair=pair, grade=labels[pair.pk], reason=why, resolved_by=actor, act=act) for pair in decided
    ]
    resolutions.store(decided, settled, home=resolutions.first_rater(decided[0]) or actor)
    return Act.of(act)


@transaction.atomic
def undo(round_: Round, act: UUID, *, actor: User) -> AuditRow:
    """Undo an act as one act: its pairs are open again, except those that a lead has resolved by hand since."""
    done = access.existing(acts(round_).filter(uuid=act), "This round has no such act.")
    keys = Adjudication.objects.current().filter(act=done).values("pair")
    pairs = list(
        Pair.objects.select_for_update(of=("self",)).filter(pk__in=keys).order_by("pk").select_related("round")
    )
    if (
        before := AuditRow.objects.filter(verb=UNDO, target_uuid=round_.uuid, detail__act=str(act)).first()
    ) is not None:
        return before
    resolutions.check_not_frozen(round_, done.at)
    rows = {row.pair_id: row for row in Adjudication.objects.current().filter(act=done)}
    pairs = [pair for pair in pairs if pair.pk in rows]
    unchanged = done.detail["resolved"] - len(pairs)
    sentence = f"{actor} undid {amount(len(pairs), 'resolution')} of {round_} by the label rule {done.detail['rule']}"
    row = audit.record(UNDO, sentence, actor=actor, target=round_, act=str(act), undone=len(pairs), kept=unchanged)
    if pairs:
        undone = resolutions.undoing([rows[pair.pk] for pair in pairs], actor=actor, act=row)
        resolutions.store(pairs, undone, home=resolutions.first_rater(pairs[0]) or actor)
    return row


def _nothing(counts: dict[str, int]) -> str:
    """Return why an act would resolve no pair."""
    parts = [
        (counts["skipped_resolved"], "resolved by a lead in the meantime"),
        (counts["skipped_changed"], "changed by raters in the meantime"),
        (counts["undecided"], "not decided by the label rule"),
    ]
    known = ", ".join(f"{number:,} {words}" for number, words in parts if number)
    return f"No one-step conflict is left to resolve{f': {known}' if known else ''}."


def acts(round_: Round) -> Any:
    """Return the acts on the round, newest first, with the number of resolutions that still stand as ``standing``."""
    standing = Count(
        "resolutions",
        filter=Q(resolutions__superseded_by__isnull=True, resolutions__grade__isnull=False),
    )
    rows = AuditRow.objects.filter(verb=ACT, target_uuid=round_.uuid, collection=round_.collection_id)
    return rows.annotate(standing=standing).order_by("-pk")


def default_reason(rule: str) -> str:
    """Return the reason that raters read if the lead gives none."""
    return f"The grades differ by one step. Resolved by the label rule: {RULES[rule].title.lower()}"


def _one_step(round_: Round, viewer: Any) -> PairQuerySet:
    return conflicts.in_conflict(round_, viewer=viewer).filter(spread=ONE_STEP)


def _labels(round_: Round, rule: str, pairs: Sequence[Pair]) -> dict[int, int]:
    """Return the labels of the pairs that the rule decides, by the pair's key."""
    if not pairs:
        return {}
    (rated,) = round_labels.read_rounds([round_])
    labels = round_labels.label(rated, rule).labels
    keys = {pair.pk: (pair.query.query_id, pair.document.doc_id) for pair in pairs}
    return {pk: labels[key] for pk, key in keys.items() if key in labels}


def _check_rule(round_: Round, rule: str, viewer: Any) -> None:
    if rule not in RULES:
        raise NotValid(f"Unknown label rule {rule!r}.", {"rule": f"Use one of {', '.join(RULES)}."})
    if rule in OVER_ALL_PAIRS and not means_visible(viewer, round_):
        raise NotAllowed(
            f"The rule {rule} uses the grades of all pairs, and you may still grade some of them. Choose another rule."
        )


def _recorded(client_id: UUID, round_: Round, actor: User) -> AuditRow | None:
    before = AuditRow.objects.filter(uuid=client_id).first()
    if before is not None and (before.verb, before.target_uuid, before.actor_id) != (ACT, round_.uuid, actor.pk):
        raise Conflict("Another act has this client id. Create a new id for each act.")
    return before
