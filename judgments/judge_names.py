"""Agreement by model name, when a provider answers under a new name in the middle of a run.

A name that changes may mean a model that changes, and then one judge is two. Agreement with people is reported by the
name that came with the answers, never over all of them alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Min, Q

from judgments import battle_scores, judged, untold
from judgments.judge_kinds import BATTLES
from judgments.models import Battle, BattleRun, Judge, Round
from judgments.round_labels import Key

if TYPE_CHECKING:
    from judgments.agreement.coefficient import Agreement
    from judgments.agreement.machine import Share


@dataclass(frozen=True)
class Named:
    """What came under one name, beside people.

    Parameters
    ----------
    asked, name : str
        The model that was asked for, and the name that came with the answers.
    answers : int
        With a grade, or of battles with a score.
    kappa : Agreement or None
        With people, quadratic; None for battles.
    same : Share
        Of the pairs that people graded too, those with people's grade; of the battles between two that people grade
        apart, those that the better one won.
    """

    asked: str
    name: str
    answers: int
    kappa: Agreement | None
    same: Share


def by_name(
    judge: Judge, round_: Round, viewer: Any, *, spent: judged.Money, over: judged.Over = "slice"
) -> list[Named]:
    """The names of those of a judge's models that answered under several, in the order in which they came.

    Parameters
    ----------
    judge, round_ : Judge, Round
        Whose answers, and where.
    viewer : User
        Who reads it: pairs that they may still grade tell nothing.
    spent : Money
        Of the judge in the round, which knows the names.
    over : {"slice", "all"}
        On which pairs it is held against people.
    """
    if judge.kind == BATTLES:
        run = round_.battle_runs.defer("drawn").filter(uuid=judge.parameters.get("run")).first()
        return [] if run is None else by_name_of(run, viewer)
    renamed = {model for model, _ in spent.renamed}
    if not renamed or not judged.has_grades(judge):
        return []
    people = judged.people_of(judge, round_, viewer, over)
    rows = judge.judgments.filter(pair__round=round_, grade__isnull=False, call__model_asked__in=renamed)
    rows = rows.exclude(pair__in=untold.untold_pairs(viewer, round_).values("pk"))
    rows = rows.exclude(call__model_answered="").order_by("call")
    columns = ("call__model_asked", "call__model_answered", "pair__query__query_id", "pair__document__doc_id", "grade")
    shown = {tuple(key) for key in judge.told.get("example_pairs", ())}
    found: dict[tuple[str, str], dict[Key, float]] = {}
    for asked, name, *key, grade in rows.values_list(*columns).iterator(chunk_size=5_000):
        if tuple(key) not in shown:
            found.setdefault((asked, name), {})[key[0], key[1]] = float(grade)
    return [_held(*names, grades, people, round_) for names, grades in found.items()]


def _held(asked: str, name: str, grades: Mapping[Key, float], people: Mapping[Key, float], round_: Round) -> Named:
    from judgments.agreement.machine import against_people

    both = {key: grade for key, grade in people.items() if key in grades}
    told = against_people(both, grades, round_.scale.values(), seed=round_.seed)
    same = sum(told.confusion[at][at] for at in range(len(told.values)))
    return Named(asked, name, len(grades), told.kappa["quadratic"], judged.share_of(same, told.pairs))


def by_name_of(run: BattleRun, viewer: Any) -> list[Named]:
    """The same of battles; those with a document that the reader may still grade tell nothing."""
    rows = battle_scores.visible(run, viewer).exclude(model_answered="").order_by()
    counted = rows.values("model_asked", "model_answered").annotate(
        answers=Count("pk", filter=Q(score__isnull=False)), first=Min("pk")
    )
    names: dict[str, list[dict[str, Any]]] = {}
    for row in counted.order_by("model_asked", "first"):
        names.setdefault(row["model_asked"], []).append(row)
    several = [row for found in names.values() if len(found) > 1 for row in found]
    right = _right(run, viewer) if several else {}
    return [
        Named(row["model_asked"], row["model_answered"], row["answers"], None, judged.share_of(*right.get(key, (0, 0))))
        for row in several
        for key in [(row["model_asked"], row["model_answered"])]
    ]


def _right(run: BattleRun, viewer: Any) -> dict[tuple[str, str], tuple[int, int]]:
    """Of the battles between two that people grade apart, by name: how many the better one won, of how many."""
    people = judged.labels_of(run.round)
    pairs = run.round.pairs.values_list("pk", "query__query_id", "document__doc_id")
    graded = {pk: people[query_id, doc_id] for pk, query_id, doc_id in pairs if (query_id, doc_id) in people}
    found: dict[tuple[str, str], tuple[int, int]] = {}
    rows = battle_scores.visible(run, viewer, Battle).filter(score__isnull=False)
    for a, b, score, asked, name in rows.values_list("a", "b", "score", "model_asked", "model_answered"):
        if a not in graded or b not in graded or graded[a] == graded[b]:
            continue
        right, of = found.get((asked, name), (0, 0))
        # Below 0 the first of the two won; a tie tells nobody apart.
        won = score != 0 and (score < 0) == (graded[a] > graded[b])
        found[asked, name] = (right + won, of + 1)
    return found


def as_json(one: Named) -> dict[str, Any]:
    """As the API tells it."""
    kappa = None if one.kappa is None else one.kappa.as_json()
    return {"model": one.asked, "name": one.name, "answers": one.answers, "same": asdict(one.same), "kappa": kappa}


def warning(found: list[Named]) -> str:
    """What is to be read before any number over all names; empty where each model has one."""
    if not found:
        return ""
    told = [f"{asked} answered as {_listed([one for one in found if one.asked == asked])}" for asked in _asked(found)]
    return f"{'; '.join(told)}. These may be different models: other numbers are over all of them."


def _asked(found: list[Named]) -> list[str]:
    return list(dict.fromkeys(one.asked for one in found))


def _listed(found: list[Named]) -> str:
    shown = [f"{one.name} ({one.answers:,})" for one in found]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
