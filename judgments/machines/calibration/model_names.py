"""Agreement by model name, when a provider answers under a new name in the middle of a run.

A changed name may mean a changed model, so that one judge is really two. Agreement with people is therefore reported
separately for each name in the responses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Min, Q

from judgments.labels import grade_visibility
from judgments.labels.round_labels import Key
from judgments.machines.calibration import calibration, cost, pairwise_judges
from judgments.machines.kinds import BATTLES
from judgments.models import Battle, BattleRun, Judge, Round

if TYPE_CHECKING:
    from assay.coefficients.coefficient import Agreement
    from assay.coefficients.human_machine import Share


@dataclass(frozen=True)
class Named:
    """The answers under one model name, compared with people's grades."""

    requested: str
    name: str
    answers: int
    kappa: Agreement | None
    same: Share


def by_name(
    judge: Judge, round_: Round, viewer: Any, *, spent: cost.Money, over: calibration.Over = "slice"
) -> list[Named]:
    """Return the names of models that answered under several names, in the order in which they occurred."""
    if judge.kind == BATTLES:
        run = pairwise_judges.run_of(judge, round_)
        return [] if run is None else by_name_of(run, viewer)
    renamed = {model for model, _ in spent.renamed}
    if not renamed or not calibration.has_grades(judge):
        return []
    people = calibration.people_of(judge, round_, viewer, over)
    rows = judge.judgments.filter(pair__round=round_, grade__isnull=False, call__requested_model__in=renamed)
    rows = grade_visibility.without_hidden(rows, viewer, round_).exclude(call__model_answered="").order_by("call")
    columns = (
        "call__requested_model",
        "call__model_answered",
        "pair__query__query_id",
        "pair__document__doc_id",
        "grade",
    )
    shown = {tuple(key) for key in judge.inputs.get("example_pairs", ())}
    by_names: dict[tuple[str, str], dict[Key, float]] = {}
    for requested, name, *key, grade in rows.values_list(*columns).iterator(chunk_size=5_000):
        if tuple(key) not in shown:
            by_names.setdefault((requested, name), {})[key[0], key[1]] = float(grade)
    return [_compare(*names, grades, people, round_) for names, grades in by_names.items()]


def _compare(
    requested: str, name: str, grades: Mapping[Key, float], people: Mapping[Key, float], round_: Round
) -> Named:
    from assay.coefficients.human_machine import against_people

    both = {key: grade for key, grade in people.items() if key in grades}
    agreement = against_people(both, grades, round_.scale.values(), seed=round_.seed)
    same = sum(agreement.confusion[at][at] for at in range(len(agreement.values)))
    return Named(
        requested, name, len(grades), agreement.kappa["quadratic"], calibration.share_of(same, agreement.pairs)
    )


def by_name_of(run: BattleRun, viewer: Any) -> list[Named]:
    """Return the names in comparisons, without comparisons of documents that the reader may still grade."""
    rows = pairwise_judges.visible_battles(run, viewer).exclude(model_answered="").order_by()
    counted = rows.values("requested_model", "model_answered").annotate(
        answers=Count("pk", filter=Q(score__isnull=False)), first=Min("pk")
    )
    names: dict[str, list[dict[str, Any]]] = {}
    for row in counted.order_by("requested_model", "first"):
        names.setdefault(row["requested_model"], []).append(row)
    several = [row for listed in names.values() if len(listed) > 1 for row in listed]
    right = _right(run, viewer) if several else {}
    return [
        Named(
            row["requested_model"],
            row["model_answered"],
            row["answers"],
            None,
            calibration.share_of(*right.get(key, (0, 0))),
        )
        for row in several
        for key in [(row["requested_model"], row["model_answered"])]
    ]


def _right(run: BattleRun, viewer: Any) -> dict[tuple[str, str], tuple[int, int]]:
    """Return by name how often the document with the higher human grade won, and the number of these comparisons."""
    people = calibration.labels_of(run.round)
    pairs = run.round.pairs.values_list("pk", "query__query_id", "document__doc_id")
    graded = {pk: people[query_id, doc_id] for pk, query_id, doc_id in pairs if (query_id, doc_id) in people}
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    rows = pairwise_judges.visible_battles(run, viewer, Battle).filter(score__isnull=False)
    for a, b, score, requested, name in rows.values_list("a", "b", "score", "requested_model", "model_answered"):
        if a not in graded or b not in graded or graded[a] == graded[b]:
            continue
        right, of = counts.get((requested, name), (0, 0))
        # A score below 0 means that the first document won; ties are left out.
        won = score != 0 and (score < 0) == (graded[a] > graded[b])
        counts[requested, name] = (right + won, of + 1)
    return counts


def as_json(one: Named) -> dict[str, Any]:
    """Return the API representation."""
    kappa = None if one.kappa is None else one.kappa.as_json()
    return {"model": one.requested, "name": one.name, "answers": one.answers, "same": asdict(one.same), "kappa": kappa}


def warning(names: list[Named]) -> str:
    """Return a warning to show before numbers over all names; empty if each model has one name."""
    if not names:
        return ""
    sentences = [
        f"{model} answered as {_listed([one for one in names if one.requested == model])}"
        for model in list(dict.fromkeys(one.requested for one in names))
    ]
    return f"{'; '.join(sentences)}. These may be different models. All other numbers combine them."


def _listed(names: list[Named]) -> str:
    shown = [f"{one.name} ({one.answers:,})" for one in names]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
