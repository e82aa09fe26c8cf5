"""People's grades of answers: rounds over the answers of several systems, and the mean grade of each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from django.core.cache import cache
from django.db import transaction

from assay.rag.fields import output_of, sample_of
from evaluation.metrics.intervals import mean_intervals
from evaluation.models import RagGrading, RagOutput, RagSampleSet, RagSystem
from evaluation.rag import files
from judgments.answer_dimensions import DIMENSIONS
from judgments.answer_rounds import LONGEST_QUERY, MOST_PASSAGES, GivenAnswer, Passage, create_answer_rounds
from judgments.core.errors import NotValid
from judgments.models import Round, User
from judgments.round_labels import label, read_rounds

RULE = "median"
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
    """Make one draft round for each dimension over the answers of the systems.

    Parameters
    ----------
    sample_set : RagSampleSet
        Whose samples are asked about.
    name : str
        The beginning of the rounds' names.
    systems : sequence of RagSystem
        Whose answers people grade, all on the same samples.
    dimensions : sequence of str
        Members of `judgments.answer_dimensions.DIMENSIONS`.
    samples : int, optional
        How many samples are drawn at random, from the seed; all of them by default.
    ratings_per_pair, raters, seed, actor
        As `judgments.answer_rounds.create_answer_rounds` takes them.

    Raises
    ------
    NotValid
        No system is chosen, no system has an answer, or an answer cannot be graded.
    """
    if not systems:
        raise NotValid("Choose at least one system.", {"systems": "Choose at least one system."})
    index = list(sample_set.samples.all())
    chosen = index if samples is None or samples >= len(index) else Random(seed).sample(index, samples)  # noqa: S311
    questions = {
        one.pk: sample_of(record, 1) for one, record in zip(chosen, files.objects(sample_set, chosen), strict=True)
    }
    answers: dict[str, dict[str, GivenAnswer]] = {}
    for system in systems:
        places = list(RagOutput.objects.filter(system=system, sample__in=questions).order_by("start"))
        found = answers[str(system.uuid)] = {}
        for place, record in zip(places, files.objects(system, places), strict=True):
            output, question = output_of(record, 1), questions[place.sample_id]
            if output.response is None or not output.response.text.strip():
                continue  # people cannot grade an empty answer
            found[question.sample_id] = GivenAnswer(
                question.sample_id,
                question.query[:LONGEST_QUERY],
                output.response.text,
                tuple(Passage(doc.doc.doc_id, doc.doc.text) for doc in output.retrieved[:MOST_PASSAGES]),
                next(iter(question.references), ""),
            )
    made = create_answer_rounds(
        sample_set.collection,
        name=name,
        answers=[one for found in answers.values() for one in found.values()],
        dimensions=dimensions,
        ratings_per_pair=ratings_per_pair,
        raters=raters,
        seed=seed,
        actor=actor,
    )
    ids = {system: {key: one.doc_id for key, one in found.items()} for system, found in answers.items()}
    RagGrading.objects.bulk_create(RagGrading(sample_set=sample_set, round=round_, answers=ids) for round_ in made)
    return made


@dataclass(frozen=True)
class MeanGrade:
    """The mean of people's labels for the answers of one system."""

    value: float | None
    low: float | None
    high: float | None
    number: int


@dataclass(frozen=True)
class Graded:
    """A round over the answers of a set: the mean grade of each system, once the round is closed."""

    round: Round
    top: int
    means: Mapping[str, MeanGrade]


def graded(sample_set: RagSampleSet) -> list[Graded]:
    """The rounds over the answers of a set. Grades of a round that is not closed are hidden."""
    rows = sample_set.gradings.filter(round__archived_at__isnull=True).select_related("round__scale")
    found = []
    for row in rows:
        means = _means(row) if row.round.state == Round.State.CLOSED else {}
        found.append(Graded(row.round, max(row.round.scale.grades.values_list("value", flat=True), default=0), means))
    return found


def _means(row: RagGrading) -> dict[str, MeanGrade]:
    key = f"rag:grades:{row.pk}:{row.round.closed_at.timestamp() if row.round.closed_at else 0}"
    found: dict[str, MeanGrade] | None = cache.get(key)
    if found is None:
        (rated,) = read_rounds([row.round])
        labels = label(rated, RULE).labels
        found = {system: _mean(ids, labels) for system, ids in row.answers.items()}
        cache.set(key, found, CACHED_SECONDS)
    return found


def _mean(ids: Mapping[str, str], labels: Mapping[Any, int]) -> MeanGrade:
    values = [labels[pair] for pair in ids.items() if pair in labels]
    if not values:
        return MeanGrade(None, None, None, 0)
    (interval,) = mean_intervals(np.array(values, dtype=float)[:, None], bounded=[False])
    return MeanGrade(sum(values) / len(values), interval.low, interval.high, len(values))
