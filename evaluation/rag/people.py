"""Human grades of answers: rounds over the answers of several systems, and the mean grade of each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from django.core.cache import cache
from django.db import transaction

from assay.core.errors import NotValid
from assay.rag.fields import output_of, sample_of
from assay.rag.human_grades import PeopleComparison, compare_values
from assay.scoring.intervals import mean_intervals
from evaluation.models import RagGrading, RagOutput, RagSampleSet, RagScorecard, RagSystem
from evaluation.rag import sample_sets
from judgments.jobs.single_flight import hashed_key
from judgments.labels import grade_visibility
from judgments.labels.round_labels import label, read_rounds
from judgments.models import Round, User
from judgments.rounds.answer_dimensions import DIMENSIONS
from judgments.rounds.answer_rounds import LONGEST_QUERY, MOST_PASSAGES, GivenAnswer, Passage, create_answer_rounds

RULE = "median"
# The targets of the metrics that are compared with grades of each dimension.
ANSWER = ("generation_correctness", "generation_relevance")
TARGETS = {"faithful": ("generation_faithfulness",), "correct": ANSWER, "complete": ANSWER}
CACHED_SECONDS = 600


@transaction.atomic
def start(
    sample_set: RagSampleSet,
    *,
    name: str,
    systems: Sequence[RagSystem],
    dimensions: Sequence[str] = tuple(DIMENSIONS),
    samples: int | None = None,
    ratings_per_pair: int = 2,
    raters: Sequence[User] = (),
    seed: int = 1,
    actor: User,
) -> list[Round]:
    """Create one draft round per dimension over the answers of the systems."""
    if not systems:
        raise NotValid("Choose at least one system.", "systems")
    index = list(sample_set.samples.all())
    chosen = index if samples is None or samples >= len(index) else Random(seed).sample(index, samples)  # noqa: S311
    questions = {
        one.pk: sample_of(record, 1)
        for one, record in zip(chosen, sample_sets.objects(sample_set, chosen), strict=True)
    }
    answers: dict[str, dict[str, GivenAnswer]] = {}
    for system in systems:
        places = list(RagOutput.objects.filter(system=system, sample__in=questions).order_by("start"))
        by_sample = answers[str(system.uuid)] = {}
        for place, record in zip(places, sample_sets.objects(system, places), strict=True):
            output, question = output_of(record, 1), questions[place.sample_id]
            if output.response is None or not output.response.text.strip():
                continue  # people cannot grade an empty answer
            by_sample[question.sample_id] = GivenAnswer(
                question.sample_id,
                question.query[:LONGEST_QUERY],
                output.response.text,
                tuple(Passage(doc.doc.doc_id, doc.doc.text) for doc in output.retrieved[:MOST_PASSAGES]),
                next(iter(question.references), ""),
            )
    made = create_answer_rounds(
        sample_set.collection,
        name=name,
        answers=[one for by_sample in answers.values() for one in by_sample.values()],
        dimensions=dimensions,
        ratings_per_pair=ratings_per_pair,
        raters=raters,
        seed=seed,
        actor=actor,
    )
    ids = {system: {key: one.doc_id for key, one in by_sample.items()} for system, by_sample in answers.items()}
    RagGrading.objects.bulk_create(RagGrading(sample_set=sample_set, round=round_, answers=ids) for round_ in made)
    return made


@dataclass(frozen=True)
class MeanGrade:
    """The mean human label of the answers of one system."""

    value: float | None
    low: float | None
    high: float | None
    number: int


@dataclass(frozen=True)
class Graded:
    """A round over the answers of a set, with its mean grades or the reason why they are hidden."""

    round: Round
    top: int
    means: Mapping[str, MeanGrade]
    hidden: str = ""


def graded(sample_set: RagSampleSet, reader: Any) -> list[Graded]:
    """Return the rounds over the answers of a set, with mean grades if the reader may see them."""
    rows = sample_set.gradings.filter(round__archived_at__isnull=True)
    gradings = []
    for row in rows.select_related("round__scale", "round__collection"):
        hidden = ""
        if row.round.state != Round.State.CLOSED:
            hidden = "shown after the round is closed"
        elif not grade_visibility.means_visible(reader, row.round):
            hidden = "hidden while you may still grade these answers"
        top = max(row.round.scale.grades.values_list("value", flat=True), default=0)
        gradings.append(Graded(row.round, top, {} if hidden else _means(row), hidden))
    return gradings


def _means(row: RagGrading) -> dict[str, MeanGrade]:

    def compute() -> dict[str, MeanGrade]:
        labels = _labels(row)
        return {system: _mean(ids, labels) for system, ids in row.answers.items()}

    means: dict[str, MeanGrade] = cache.get_or_set(f"rag:grades:{_closed(row)}", compute, CACHED_SECONDS)
    return means


def _closed(row: RagGrading) -> str:
    return f"{row.pk}:{row.round.closed_at.timestamp() if row.round.closed_at else 0}"


def _labels(row: RagGrading) -> Mapping[tuple[str, str], int]:
    (rated,) = read_rounds([row.round])
    return label(rated, RULE).labels


def _mean(ids: Mapping[str, str], labels: Mapping[Any, int]) -> MeanGrade:
    values = [labels[pair] for pair in ids.items() if pair in labels]
    if not values:
        return MeanGrade(None, None, None, 0)
    (interval,) = mean_intervals(np.array(values, dtype=float)[:, None], bounded=[False])
    return MeanGrade(sum(values) / len(values), interval.low, interval.high, len(values))


@dataclass(frozen=True)
class Compared:
    """A metric compared with the labels of a closed round, over the answers that have both."""

    round: Round
    metric: str
    title: str
    result: PeopleComparison

    def as_json(self) -> dict[str, Any]:
        """Return the comparison as a dict."""
        named = {"round": str(self.round.uuid), "name": self.round.name, "dimension": self.round.dimension}
        return named | self.result.to_dict()


def comparisons(sample_set: RagSampleSet, cards: Sequence[RagScorecard], reader: Any) -> list[Compared]:
    """Compare the metrics of scorecards with the labels of closed rounds about the same dimension."""
    rows = sample_set.gradings.filter(round__archived_at__isnull=True, round__state=Round.State.CLOSED)
    abouts = {label: about for card in reversed(cards) for label, about in card.about.items()}
    results = []
    for row in rows.select_related("round__scale", "round__collection"):
        if not grade_visibility.means_visible(reader, row.round):
            continue
        for metric, about in abouts.items():
            if about["target"] in TARGETS.get(row.round.dimension or "", ()):
                result = _compared(row, cards, metric)
                if result is not None:
                    results.append(Compared(row.round, metric, about["title"], result))
    return results


def _compared(row: RagGrading, cards: Sequence[RagScorecard], metric: str) -> PeopleComparison | None:
    names = {str(card.system.uuid): card.system.name for card in cards}
    stamp = sorted(f"{card.pk} {card.computed_at.isoformat()}" for card in cards)

    def compute() -> list[PeopleComparison]:
        labels = _labels(row)
        grades = {
            (sample_id, names[system]): labels[sample_id, doc_id]
            for system, ids in row.answers.items()
            for sample_id, doc_id in ids.items()
            if system in names and (sample_id, doc_id) in labels
        }
        known = {
            (sample_id, card.system.name): value
            for card in cards
            for sample_id, value in card.per_sample.get(metric, {}).items()
            if value is not None
        }
        # Metrics without a value per sample, such as quantiles, are not compared.
        if not (grades and known and all(0 <= value <= 1 for value in known.values())):
            return []
        return [compare_values(metric, list(names.values()), known, grades, sorted(row.round.scale.values()))]

    key = hashed_key("rag:compared", _closed(row), metric, stamp)
    comparisons: list[PeopleComparison] = cache.get_or_set(key, compute, CACHED_SECONDS)
    return comparisons[0] if comparisons else None
