"""A sample set with two systems, imported as files."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from evaluation.models import RagSampleSet
from evaluation.rag import scorecards
from judgments.imports import ingestion
from judgments.jobs import jobs
from judgments.models import Job
from tests.cached_rows import cached_fixture

SAMPLES = [
    *(
        {
            "sample_id": f"s{n:02d}",
            "query": f"What does kit {n} contain?",
            "reference_answer": f"{n} rubber seals and a tube of glue",
            "relevant_docs": [
                {"doc_id": f"d{n}", "text": f"Kit {n}. It contains {n} rubber seals and a tube of glue."}
            ],
            "labels": {"topic": "repair" if n % 2 else "care"},
        }
        for n in range(12)
    ),
    {
        "sample_id": "t00",
        "query": "Wat does kit 0 contian?",
        "reference_answer": "0 rubber seals and a tube of glue",
        "relevant_docs": ["d0"],
        "labels": {"variant_of": "s00", "scenario": "typo", "topic": "care"},
    },
    {
        "sample_id": "u00",
        "query": "Who won the race?",
        "reference_answer": "I don't know",
        "labels": {"scenario": "unanswerable", "topic": "other"},
    },
]


def outputs(good: Callable[[int], bool], seconds: float) -> list[dict[str, Any]]:
    """A system that is right where ``good`` says so."""
    results = []
    for place, sample in enumerate(SAMPLES):
        right = good(place)
        number = sample["sample_id"][1:].lstrip("0") or "0"
        text = f"Kit {number}. It contains {number} rubber seals and a tube of glue."
        docs = [{"doc_id": f"d{number}", "text": text, "score": 2.0}, {"doc_id": "x", "text": "Socks.", "score": 1.0}]
        results.append(
            {
                "sample_id": sample["sample_id"],
                "retrieved": docs if right else docs[1:],
                "response": sample["reference_answer"] if right else "Socks.",
                "timings": {"end_to_end": seconds + place / 1000},
            }
        )
    return results


OLD = outputs(lambda place: place % 3 == 0, 0.5)
NEW = outputs(lambda place: place != 5, 0.2)


def lines(rows: Sequence[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


@pytest.fixture
def store(collection: Any, engineer: Any) -> Callable[..., dict[str, Any]]:
    """``store(kind, rows, filename, **options)``: import a file as an engineer would."""

    def stored(kind: str, rows: Any, filename: str, **options: Any) -> dict[str, Any]:
        content = rows if isinstance(rows, bytes) else lines(rows)
        upload = ingestion.receive(collection, kind=kind, file=io.BytesIO(content), filename=filename, actor=engineer)
        return ingestion.store(upload, actor=engineer, options=options)

    return stored


@pytest.fixture
def sample_set(store: Any) -> RagSampleSet:
    return RagSampleSet.objects.get(uuid=store("samples", SAMPLES, "kits.jsonl")["id"])


def work(sample_set: RagSampleSet) -> Job:
    """Do the scoring job of a set, as a worker does."""
    job = scorecards.job_of(sample_set)
    assert job is not None
    jobs.work_on_job.func(str(job.uuid))
    job.refresh_from_db()
    assert job.state == Job.State.DONE, (job.error, job.traceback)
    return job


@pytest.fixture
@cached_fixture
def scored(engineer: Any, store: Any) -> RagSampleSet:
    sample_set = RagSampleSet.objects.get(uuid=store("samples", SAMPLES, "kits.jsonl")["id"])
    store("outputs", OLD, "old.jsonl", samples=str(sample_set.uuid))
    store("outputs", NEW, "new.jsonl", samples=str(sample_set.uuid))
    work(sample_set)
    sample_set.refresh_from_db()
    return sample_set
