"""Grades from the scores of pairwise comparisons, with thresholds learned from human grades.

Scores have no fixed zero point of relevance, so thresholds are learned from anchors, and the grades belong to a machine
judge like any other. Anchors are a random share of the human grades outside the audit slice, so the judge is calibrated
on other pairs than it learned from.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import amount
from assay.llm.pairwise.cut_points import LEAST, CutPoints, learn, other_grade, turned
from assay.llm.pairwise.score_fitting import fit_queries
from judgments.hooks import Doubt
from judgments.labels import grade_visibility
from judgments.machines import machine_runs
from judgments.machines.calibration import audit_sample, calibration
from judgments.machines.calibration.audit_sample import drawn
from judgments.machines.calibration.pairwise_judges import visible_parameters
from judgments.machines.calibration.routing import ERROR, TURNED
from judgments.machines.judge_runs import model_judges
from judgments.machines.pairwise.scores import Key, comparison_rows, scores_of
from judgments.models import Battle, BattleRun, Judge, MachineJudgment, Round, User, audit

KIND = "pairwise"


@transaction.atomic
def create_judge(run: BattleRun, *, actor: User, share: float = 0.5) -> Judge:
    """Create a machine judge from the scores of the comparisons."""
    if not 0 < share <= 1:
        raise NotValid(
            "The share of anchors is out of range.", {"share": "Choose a share above 0 and at most 1, such as 0.5."}
        )
    if not machine_runs.is_over(run):
        raise Conflict("These comparisons are running. Wait until they are done, or pause them.")
    scores = scores_of(run, None)
    if not scores:
        raise Conflict("No comparison has an answer yet.")
    anchors = _anchors(run, scores, share, actor)
    cut_points = _learn(run, scores, anchors)
    judge = _judge(run, anchors, cut_points, share)
    if run.round.collection.judges.filter(name=judge.name).exists():
        raise Conflict(f"{judge.name} already exists, and comparisons and anchors have not changed since.")
    judge.save()
    number = _write(run, judge, scores, cut_points)
    sentence = f"{actor} created {judge} from {run} in round {run.round}: {amount(number, 'grade')}"
    audit.record("battle_grades.to_grades", sentence, actor=actor, collection=run.round.collection, target=judge)
    return judge


def judges_of(run: BattleRun) -> list[Judge]:
    """Return the judges that are based on these comparisons, newest first."""
    rows = run.round.collection.judges.filter(kind=KIND, parameters__run=str(run.uuid))
    return list(rows.order_by("-pk"))


def _anchors(run: BattleRun, scores: dict[Key, Any], share: float, actor: User) -> dict[Key, int]:
    """Return a share of the human grades outside the audit slice, which is reserved for calibration."""
    values, hidden = set(run.round.scale.values()), grade_visibility.hidden_keys_of_round(actor, run.round)
    audited = audit_sample.of_battles(run)
    people = {
        key: grade
        for key, grade in calibration.labels_of(run.round).items()
        if key in scores and grade in values and key not in hidden and not audited.holds(*key)
    }
    return {key: int(grade) for key, grade in sorted(people.items()) if drawn(run.seed + 1, *key) < share}


def _learn(run: BattleRun, scores: dict[Key, tuple[float, float | None]], anchors: dict[Key, int]) -> CutPoints:
    if len(anchors) < LEAST or len(set(anchors.values())) < 2:
        problem = (
            f"There are {amount(len(anchors), 'anchor')} with "
            f"{amount(len(set(anchors.values())), 'different grade')}, but {LEAST} anchors with two different "
            "grades are needed. Have people grade more of these documents, or choose a larger share. Pairs in the "
            "audit slice and pairs that you may still grade cannot be anchors."
        )
        raise NotValid(problem, "share")
    return learn([scores[key][0] for key in anchors], list(anchors.values()))


def _judge(run: BattleRun, anchors: dict[Key, int], cut_points: CutPoints, share: float) -> Judge:
    asker = {name: run.inputs[name] for name in ("guidelines_version", "seed")}
    parameters: dict[str, Any] = {
        "run": str(run.uuid),
        "models": [f"{one['name']}: {one['model']}" for one in run.ensemble] or _names(run),
        "template": run.inputs["template"][0],
        "template_version": run.inputs["template"][1],
        **asker,
        "temperature": 0.0,
        "cycles": run.cycles,
        "answers": Battle.objects.filter(run=run, score__isnull=False).count(),
        "anchors": len(anchors),
        "anchor_share": share,
        "anchors_right": cut_points.right,
        "values": list(cut_points.values),
        "cuts": list(cut_points.cuts),
        "steepness": cut_points.steepness,
    }
    models = ", ".join(dict.fromkeys(one["model"] for one in run.ensemble) or _names(run))
    return Judge(
        collection=run.round.collection,
        name=f"pairwise {models[:60]} {model_judges.digest(parameters)[:8]}",
        kind=KIND,
        model=models[:200],
        parameters=parameters,
        # Calibration leaves out anchors, like the examples in a prompt.
        inputs={"kind": KIND, "example_pairs": [list(key) for key in anchors]},
    )


def _names(run: BattleRun) -> list[str]:
    """Return the models that answered, for comparisons from a file."""
    rows = Battle.objects.filter(run=run).order_by("requested_model")
    return list(rows.values_list("requested_model", flat=True).distinct())


def _write(run: BattleRun, judge: Judge, scores: dict[Key, tuple[float, float | None]], cut_points: CutPoints) -> int:
    keys = list(scores)
    values = [scores[key][0] for key in keys]
    graded = dict(zip(keys, cut_points.grades(values).tolist(), strict=True))
    likely = dict(zip(keys, cut_points.probabilities(values).tolist(), strict=True))
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
                probabilities={str(value): share for value, share in zip(cut_points.values, likely[key], strict=True)},
                # Scores of a query sum to zero, so a reader who knows all but one also knows the last. They are
                # computed for each reader and not stored here.
                rationale="From its score in pairwise comparisons and the thresholds",
                document_sha256=pair.document.content_sha256,
            )
        )
    MachineJudgment.objects.bulk_create(rows, batch_size=500)
    return len(rows)


# Below one half, the more likely outcome stands.
FROM = 0.5


def doubts(round_: Round, viewer: Any) -> dict[int, list[Doubt]]:
    """Return for each pair the share of comparisons that the order decided, and the probability of another grade."""
    result: dict[int, list[Doubt]] = {}
    for run in round_.battle_runs.defer("drawn"):
        names, rows = comparison_rows(run, viewer)
        keys = {name: pk for pk, name in names.items()}
        for key, share in turned(rows).items():
            if share >= FROM:
                result.setdefault(keys[key], []).append(Doubt(TURNED, share))
        judges = judges_of(run)
        if not judges or "cuts" not in (learnt := visible_parameters(judges[0], round_, viewer)):
            continue
        cuts = learnt["cuts"]
        fitted = fit_queries([(row.query_id, row.a, row.b, row.score) for row in rows])
        for query_id, doc_id, score, error in fitted.scores:
            chance = other_grade(score, error, cuts) if error is not None else 0.0
            if chance >= FROM:
                result.setdefault(keys[query_id, doc_id], []).append(Doubt(ERROR, chance))
    return result
