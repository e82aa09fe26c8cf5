"""How far can a judge of a round be trusted: held against people, tried with canaries, in dollars?

Only pairs that this reader may be told about are counted: who still rates learns nothing of them from a judge's
numbers.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from django.db.models import Avg, Count, Sum

from judgments import audit_slice, untold
from judgments.core.errors import NotValid
from judgments.models import Judge, JudgeRun, MachineJudgment, ModelCall, Round
from judgments.round_labels import Key, label, read_rounds

if TYPE_CHECKING:
    from judgments.agreement.machine import Calibrated, Share

Over = Literal["slice", "all"]


@dataclass(frozen=True)
class Held:
    """A judge held against people.

    Parameters
    ----------
    over : str
        ``slice``: on the audit slice alone, which was drawn from all pairs; ``all``: on whatever people graded.
    calibrated : Calibrated
        Kappas, alphas, confusion, what each grade is worth.
    slice_size, slice_graded : int
        Pairs of the slice, and how many of them people have graded.
    hidden : int
        Pairs that are left out because this reader may still grade them.
    """

    over: Over
    calibrated: Calibrated
    slice_size: int
    slice_graded: int
    hidden: int


@dataclass(frozen=True)
class Flip:
    """How often one kind of trap raised the grade."""

    trap: str
    flipped: int
    share: Share


@dataclass(frozen=True)
class Money:
    """What a judge's calls in a round took; what was found in its ledger cost nothing again."""

    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    usd: float | None
    seconds: float | None
    judged: int
    models: tuple[str, ...]

    @property
    def per_thousand(self) -> float | None:
        """Dollars for a thousand pairs."""
        return None if self.usd is None or not self.judged else self.usd * 1_000 / self.judged


def held(judge: Judge, round_: Round, viewer: Any, *, over: Over = "slice", resamples: int = 1_000) -> Held:
    """Hold a judge's grades against the settled labels of people in the same round.

    Parameters
    ----------
    judge, round_ : Judge, Round
        Whose grades, and where.
    viewer : User
        Who reads it.
    over : {"slice", "all"}
        On which pairs.
    resamples : int
        Of the intervals, by query; 0 gives none.

    Raises
    ------
    NotValid
        There is no such choice of pairs.
    """
    from judgments.agreement.machine import against_people

    if over not in ("slice", "all"):
        raise NotValid("Pairs are those of the slice, or all.", {"over": "slice or all."})
    hidden = _hidden(round_, viewer)
    people = {key: grade for key, grade in labels_of(round_).items() if key not in hidden}
    inside = slice_keys(judge, round_)
    if over == "slice":
        people = {key: grade for key, grade in people.items() if key in inside}
    machine = {key: grade for key, grade in grades_of(judge, round_).items() if key not in hidden}
    found = against_people(
        people,
        machine,
        round_.scale.values(),
        relevant_from=round_.scale.relevant_from,
        resamples=resamples,
        seed=round_.seed,
    )
    graded = sum(key in inside for key in people)
    return Held(over, found, len(inside), graded, len(hidden))


def labels_of(round_: Round) -> dict[Key, float]:
    """What people said of the round's pairs: settled, else the median.

    Pairs that were left to people in a round of their own are among them: of the rounds under the same guidelines and
    scale the newest that has a grade of the pair counts.
    """
    same = round_.collection.rounds.filter(guidelines=round_.guidelines_id).exclude(state=Round.State.DRAFT)
    values = round_.scale.values()
    found: dict[Key, float] = {}
    for rated in read_rounds([row for row in same.select_related("scale") if row.scale.values() == values]):
        found |= {key: float(grade) for key, grade in label(rated, "median").labels.items()}
    here = set(round_.pairs.values_list("query__query_id", "document__doc_id"))
    return {key: grade for key, grade in found.items() if key in here}


def grades_of(judge: Judge, round_: Round) -> dict[Key, float]:
    """The judge's grades by pair; a failure is none, and the pairs that it was shown as examples are left out."""
    rows = judge.judgments.filter(pair__round=round_, outcome="graded")
    shown = {tuple(key) for key in judge.told.get("example_pairs", ())}
    found = rows.values_list("pair__query__query_id", "pair__document__doc_id", "grade")
    return {(query_id, doc_id): float(grade) for query_id, doc_id, grade in found if (query_id, doc_id) not in shown}


def slice_keys(judge: Judge, round_: Round) -> set[Key]:
    """The audit slice of the judge's run in the round; all pairs for a judge that had none."""
    run = judge.runs.filter(round=round_).first()
    rows = round_.pairs.values_list("query__query_id", "document__doc_id")
    if run is None:
        return set(rows)
    return {key for key in rows if audit_slice.drawn(run.seed, *key) < run.audit_share}


def flips(run: JudgeRun) -> list[Flip]:
    """By trap, how often the same document got a higher grade with a trap in it."""
    planted = ModelCall.objects.filter(run=run, purpose="canary", outcome="graded")
    plain = dict(run.judge.judgments.filter(pair__round=run.round, outcome="graded").values_list("pair", "grade"))
    found: dict[str, dict[int, bool]] = {}
    for trap, pair, grade in planted.order_by("pk").values_list("trap", "pair", "grade"):
        if pair in plain and grade is not None:
            found.setdefault(trap, {})[pair] = grade > plain[pair]
    return [Flip(trap, sum(of.values()), share_of(sum(of.values()), len(of))) for trap, of in sorted(found.items())]


def share_of(part: int, whole: int) -> Share:
    """A share with Wilson's interval; no value of nothing."""
    from judgments.agreement.machine import Share
    from judgments.quality.chance import wilson

    return Share(part / whole, *wilson(part, whole), whole) if whole else Share(None, None, None, 0)


def money(judge: Judge, round_: Round) -> Money:
    """What the judge's calls for this round took."""
    calls = ModelCall.objects.filter(judge=judge, run__round=round_)
    told = calls.aggregate(
        calls=Count("pk"), read=Sum("tokens_in"), written=Sum("tokens_out"), usd=Sum("cost_usd"), seconds=Avg("seconds")
    )
    models = calls.exclude(model_answered="").order_by().values_list("model_answered", flat=True).distinct()
    return Money(
        told["calls"],
        calls.filter(outcome="transport_error").count(),
        told["read"] or 0,
        told["written"] or 0,
        told["usd"],
        told["seconds"],
        judge.judgments.filter(pair__round=round_).count(),
        tuple(sorted(models)),
    )


def outcomes(judge: Judge, round_: Round) -> dict[str, int]:
    """How many pairs ended in which outcome."""
    rows = MachineJudgment.objects.filter(judge=judge, pair__round=round_).order_by("outcome")
    return dict(rows.values_list("outcome").annotate(number=Count("pk")))


def _hidden(round_: Round, viewer: Any) -> Set[Key]:
    return set(untold.untold_pairs(viewer, round_).values_list("query__query_id", "document__doc_id"))
