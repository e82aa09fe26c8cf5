"""Human labels and a judge's grades for the same pairs, loading only the data that a comparison needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set

from judgments.labels.round_labels import Key, label, read_rounds
from judgments.machines.calibration import audit_sample
from judgments.models import Judge, Round

QUERIES_AT_ONCE = 1_000


def labels_of(round_: Round) -> dict[Key, float]:
    """Return people's labels of the round's pairs: the resolution, otherwise the median."""
    grades: dict[Key, float] = {}
    elsewhere: set[Key] = set()
    for rated in read_rounds(alike(round_)):
        labels = label(rated, "median").labels
        grades |= {key: float(grade) for key, grade in labels.items()}
        elsewhere = elsewhere - labels.keys() if rated.round.pk == round_.pk else elsewhere | labels.keys()
    here = _pairs_of(round_, {query_id for query_id, _ in elsewhere}) if elsewhere else set()
    return {key: grade for key, grade in grades.items() if key not in elsewhere or key in here}


def alike(round_: Round) -> list[Round]:
    """Return the opened rounds of the collection with the same guidelines and scale, including this one."""
    same = round_.collection.rounds.filter(guidelines=round_.guidelines_id).exclude(state=Round.State.DRAFT)
    values = round_.scale.values()
    return [row for row in same.select_related("scale") if row.scale.values() == values]


def _pairs_of(round_: Round, query_ids: Set[str]) -> set[Key]:
    """Return the pairs of the round for these queries."""
    keys: set[Key] = set()
    for some in _portions(query_ids):
        rows = round_.pairs.filter(query__query_id__in=some)
        keys.update(rows.values_list("query__query_id", "document__doc_id"))
    return keys


def _portions(query_ids: Set[str]) -> Iterator[list[str]]:
    ordered = sorted(query_ids)
    for begin in range(0, len(ordered), QUERIES_AT_ONCE):
        yield ordered[begin : begin + QUERIES_AT_ONCE]


def grades_of(
    judge: Judge, round_: Round, *, among: Collection[Key] | None = None, examples: bool = False
) -> dict[Key, float]:
    """Return the judge's grades by pair, of the given pairs only if there are any."""
    rows = judge.judgments.filter(pair__round=round_, grade__isnull=False)
    shown = set() if examples else {tuple(key) for key in judge.inputs.get("example_pairs", ())}
    columns = ("pair__query__query_id", "pair__document__doc_id", "grade")
    if among is None:
        grades: Iterable[tuple[str, str, int]] = rows.values_list(*columns)
    else:
        queries = {query_id for query_id, _ in among}
        read = (rows.filter(pair__query__query_id__in=some).values_list(*columns) for some in _portions(queries))
        grades = (row for some in read for row in some if row[:2] in among)
    return {(query_id, doc_id): float(grade) for query_id, doc_id, grade in grades if (query_id, doc_id) not in shown}


def slice_keys(judge: Judge, round_: Round) -> set[Key]:
    """Return the audit slice of the judge in the round; all pairs for a judge without one."""
    rows = round_.pairs.values_list("query__query_id", "document__doc_id")
    drawn = audit_sample.of_judge(judge, round_)
    return set(rows) if drawn is None else {key for key in rows if drawn.holds(*key)}
