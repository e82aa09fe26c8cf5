"""Labels from people and grades from a judge for the same pairs, loading only what a comparison needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set

from judgments import audit_slice
from judgments.models import Judge, Round
from judgments.round_labels import Key, label, read_rounds

QUERIES_AT_ONCE = 1_000


def labels_of(round_: Round) -> dict[Key, float]:
    """What people said of the round's pairs: settled, else the median.

    Pairs that were left to people in a round of their own are among them: of the rounds under the same guidelines and
    scale the newest that has a grade of the pair counts.
    """
    found: dict[Key, float] = {}
    elsewhere: set[Key] = set()
    for rated in read_rounds(alike(round_)):
        labels = label(rated, "median").labels
        found |= {key: float(grade) for key, grade in labels.items()}
        elsewhere = elsewhere - labels.keys() if rated.round.pk == round_.pk else elsewhere | labels.keys()
    here = _pairs_of(round_, {query_id for query_id, _ in elsewhere}) if elsewhere else set()
    return {key: grade for key, grade in found.items() if key not in elsewhere or key in here}


def alike(round_: Round) -> list[Round]:
    """The rounds of the collection that were opened under the same guidelines and scale, this one among them."""
    same = round_.collection.rounds.filter(guidelines=round_.guidelines_id).exclude(state=Round.State.DRAFT)
    values = round_.scale.values()
    return [row for row in same.select_related("scale") if row.scale.values() == values]


def _pairs_of(round_: Round, query_ids: Set[str]) -> set[Key]:
    """The pairs of the round for these queries."""
    found: set[Key] = set()
    for some in _portions(query_ids):
        rows = round_.pairs.filter(query__query_id__in=some)
        found.update(rows.values_list("query__query_id", "document__doc_id"))
    return found


def _portions(query_ids: Set[str]) -> Iterator[list[str]]:
    ordered = sorted(query_ids)
    for begin in range(0, len(ordered), QUERIES_AT_ONCE):
        yield ordered[begin : begin + QUERIES_AT_ONCE]


def grades_of(
    judge: Judge, round_: Round, *, among: Collection[Key] | None = None, examples: bool = False
) -> dict[Key, float]:
    """The judge's grades by pair, of some pairs alone where they are named.

    A failure is no grade, nor is usefulness, and pairs that it was shown as examples are left out unless they are asked
    for: they are pairs of the round, and say nothing of the judge.
    """
    rows = judge.judgments.filter(pair__round=round_, grade__isnull=False)
    shown = set() if examples else {tuple(key) for key in judge.told.get("example_pairs", ())}
    columns = ("pair__query__query_id", "pair__document__doc_id", "grade")
    if among is None:
        found: Iterable[tuple[str, str, int]] = rows.values_list(*columns)
    else:
        queries = {query_id for query_id, _ in among}
        read = (rows.filter(pair__query__query_id__in=some).values_list(*columns) for some in _portions(queries))
        found = (row for some in read for row in some if row[:2] in among)
    return {(query_id, doc_id): float(grade) for query_id, doc_id, grade in found if (query_id, doc_id) not in shown}


def slice_keys(judge: Judge, round_: Round) -> set[Key]:
    """The audit slice of the judge in the round; all pairs for a judge that had none."""
    rows = round_.pairs.values_list("query__query_id", "document__doc_id")
    drawn = audit_slice.of_judge(judge, round_)
    return set(rows) if drawn is None else {key for key in rows if drawn.holds(*key)}
