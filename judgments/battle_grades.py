"""Grades from the scores of pairwise comparisons, with cut points learned from human grades.

Scores have no zero of relevance. So cut points are learned from anchors, and the grades are those of a machine judge
like every other. Anchors are a random share of the human grades outside the audit slice: the judge is calibrated on
pairs that it did not learn from.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from judgments import audit, audit_slice, judged, machine_runs, model_judges, untold
from judgments.audit_slice import drawn
from judgments.battle_scores import Key, scores_of
from judgments.core.amounts import amount
from judgments.core.errors import Conflict, NotValid
from judgments.models import Battle, BattleRun, Judge, MachineJudgment, Round, User
from judgments.preferences.cut_points import LEAST, CutPoints, learn

KIND = "pairwise"
LEARNT = {"cuts", "steepness", "anchors_right"}


@transaction.atomic
def to_grades(run: BattleRun, *, actor: User, share: float = 0.5) -> Judge:
    """Make a machine judge of the battles' scores.

    Parameters
    ----------
    run : BattleRun
        One that is not at work.
    actor : User
        The lead who asks for it.
    share : float
        Which share of the pairs that people graded outside of the audit slice are anchors, drawn by the run's seed.

    Returns
    -------
    Judge
        With a grade for every document that has a score. More battles or other anchors are another judge.

    Raises
    ------
    NotValid
        The share is out of bounds, or too few anchors to learn from.
    Conflict
        It is at work, nobody has fought yet, or this judge is there already.
    """
    if not 0 < share <= 1:
        raise NotValid("The share of anchors is none.", {"share": "Above 0, at most 1; a half is usual."})
    if not machine_runs.is_over(run):
        raise Conflict("These battles are being fought. Wait for their end, or pause them.")
    scores = scores_of(run, None)
    if not scores:
        raise Conflict("No battle has an answer yet.")
    anchors = _anchors(run, scores, share, actor)
    found = _learnt(run, scores, anchors)
    judge = _judge(run, anchors, found, share)
    if run.round.collection.judges.filter(name=judge.name).exists():
        raise Conflict(f"{judge.name} is there already: neither battles nor anchors are others since.")
    judge.save()
    number = _write(run, judge, scores, found)
    sentence = f"{actor} made {judge} of {run} in round {run.round}: {amount(number, 'grade')}"
    audit.record("battle_grades.to_grades", sentence, actor=actor, collection=run.round.collection, target=judge)
    return judge


def judges_of(run: BattleRun) -> list[Judge]:
    """The judges that were made of these battles, the newest first."""
    rows = run.round.collection.judges.filter(kind=KIND, parameters__run=str(run.uuid))
    return list(rows.order_by("-pk"))


def told_parameters(judge: Judge, round_: Round, viewer: Any) -> dict[str, Any]:
    """A judge's parameters; without what was learnt from anchors for who may still grade one of them.

    Few documents set a cut point: where it lies tells how they were graded.
    """
    learnt = LEARNT & judge.parameters.keys()
    hidden = _hidden(round_, viewer) if learnt and viewer is not None else set()
    if not any(tuple(key) in hidden for key in (judge.told.get("example_pairs", ()) if hidden else ())):
        return judge.parameters
    return {name: value for name, value in judge.parameters.items() if name not in learnt}


def _hidden(round_: Round, viewer: Any) -> set[Key]:
    return set(untold.untold_pairs(viewer, round_).values_list("query__query_id", "document__doc_id"))


def _anchors(run: BattleRun, scores: dict[Key, Any], share: float, actor: User) -> dict[Key, int]:
    """A share of what people graded, none of it in the audit slice: that is for holding the judge against people.

    What the lead may still grade is none: the grades of the others would tell them where it lies.
    """
    values, hidden = set(run.round.scale.values()), _hidden(run.round, actor)
    audited = audit_slice.of_battles(run)
    people = {
        key: grade
        for key, grade in judged.labels_of(run.round).items()
        if key in scores and grade in values and key not in hidden and not audited.holds(*key)
    }
    return {key: int(grade) for key, grade in sorted(people.items()) if drawn(run.seed + 1, *key) < share}


def _learnt(run: BattleRun, scores: dict[Key, tuple[float, float | None]], anchors: dict[Key, int]) -> CutPoints:
    if len(anchors) < LEAST or len(set(anchors.values())) < 2:
        said = (
            f"People graded {len(anchors):,} of the anchors, "
            f"{amount(len(set(anchors.values())), 'different grade')} among "
            f"them; it takes {LEAST} and two. Have people grade more of these documents, or take a larger share; the "
            "audit slice has no anchors, nor have pairs that you may still grade."
        )
        raise NotValid(said, {"share": said})
    return learn([scores[key][0] for key in anchors], list(anchors.values()))


def _judge(run: BattleRun, anchors: dict[Key, int], found: CutPoints, share: float) -> Judge:
    asker = {name: run.told[name] for name in ("guidelines_version", "seed")}
    parameters: dict[str, Any] = {
        "run": str(run.uuid),
        "models": [f"{one['name']}: {one['model']}" for one in run.ensemble] or _names(run),
        "template": run.told["template"][0],
        "template_version": run.told["template"][1],
        **asker,
        "temperature": 0.0,
        "cycles": run.cycles,
        "answers": Battle.objects.filter(run=run, score__isnull=False).count(),
        "anchors": len(anchors),
        "anchor_share": share,
        "anchors_right": found.right,
        "values": list(found.values),
        "cuts": list(found.cuts),
        "steepness": found.steepness,
    }
    models = ", ".join(dict.fromkeys(one["model"] for one in run.ensemble) or _names(run))
    return Judge(
        collection=run.round.collection,
        name=f"pairwise {models[:60]} {model_judges.digest(parameters)[:8]}",
        kind=KIND,
        model=models[:200],
        parameters=parameters,
        # Left out where the judge is held against people, as examples that a model was shown are.
        told={"kind": KIND, "example_pairs": [list(key) for key in anchors]},
    )


def _names(run: BattleRun) -> list[str]:
    """Who answered, of battles that came from a file."""
    rows = Battle.objects.filter(run=run).order_by("model_asked")
    return list(rows.values_list("model_asked", flat=True).distinct())


def _write(run: BattleRun, judge: Judge, scores: dict[Key, tuple[float, float | None]], found: CutPoints) -> int:
    keys = list(scores)
    values = [scores[key][0] for key in keys]
    graded = dict(zip(keys, found.grades(values).tolist(), strict=True))
    likely = dict(zip(keys, found.probabilities(values).tolist(), strict=True))
    rows = []
    for pair in run.round.pairs.select_related("query", "document").order_by("position").iterator(chunk_size=2_000):
        key = (pair.query.query_id, pair.document.doc_id)
        if key not in graded:
            continue
        rows.append(
            MachineJudgment(
                judge=judge,
                pair=pair,
                outcome="graded",
                grade=graded[key],
                probabilities={str(value): share for value, share in zip(found.values, likely[key], strict=True)},
                # Scores of a query sum to nothing: who is told all but one knows that one too. They stand with the
                # battles, made anew for each reader.
                rationale="By its score in battles, between cut points",
                document_sha256=pair.document.content_sha256,
            )
        )
    MachineJudgment.objects.bulk_create(rows, batch_size=500)
    return len(rows)
