"""Scorecards of RAG systems: computed by a job with `assay.rag`, stored, and read by pages and endpoints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from assay.core.errors import NotFound, NotValid
from assay.rag.metric import Metric
from assay.rag.metric_names import asking, parse_metrics
from evaluation.models import RagCriticRun, RagSampleSet, RagScorecard, RagSystem
from evaluation.rag import sample_sets
from evaluation.rag.critic_ledger import critic_in_ledger, provenance
from judgments.jobs import jobs
from judgments.labels import grade_visibility
from judgments.members import grants
from judgments.models import Collection, Job, User, audit

KIND = "rag-score"
MOST_METRICS, MOST_SLICES = 40, 5
# Metrics in addition to `assay.rag.evaluation.DEFAULT`; none of them needs a model.
MORE_METRICS = (
    "EvidenceOverlapFaithfulness(evidence_source=relevant)",
    "NoiseRobustness(TokenF1)",
    "NoiseRobustness(RecallAtK(k=10))",
    "QuantileLatency(quantile=0.5)",
    "IntraListDiversity",
)
# The parts of a scorecard in the order of the page, with the targets of the metrics in each part.
PARTS = {
    "Retrieval": ("retrieval_relevance", "retrieval_accuracy"),
    "Answer": ("generation_correctness", "generation_relevance"),
    "Faithfulness": ("generation_faithfulness",),
    "Robustness": ("noise_robustness", "negative_rejection", "counterfactual_robustness"),
    "Latency": ("latency",),
    "Diversity": ("diversity",),
}


def default_metrics() -> list[str]:
    """Return the labels of the default metrics of a scorecard."""
    from assay.rag.evaluation import DEFAULT

    return [metric.label for metric in parse_metrics([*DEFAULT, *MORE_METRICS])]


def metric_labels(names: Iterable[str], collection: Collection) -> list[str]:
    """Check metrics and return their labels without duplicates."""
    by_label = {metric.label: metric for metric in parse_metrics(names)}
    message = ""
    if not by_label:
        message = "Enter at least one metric, for example TokenF1."
    elif len(by_label) > MOST_METRICS:
        message = f"A scorecard has at most {MOST_METRICS} metrics, but you entered {len(by_label)}."
    for metric in by_label.values():
        if asking(metric) is not None:
            message = (
                f"{metric.label} uses a critic. A lead can start it with a model and a cap on the critic page of the "
                "sample set."
            )
        else:
            message = message or _model_fault(metric, collection)
    if message:
        raise NotValid(message, "metrics")
    return list(by_label)


def _model_fault(metric: Metric, collection: Collection) -> str:
    """Return why the embedding model of a metric cannot be loaded here, or an empty string."""
    inner = getattr(metric, "metric", None)
    if isinstance(inner, Metric):
        return _model_fault(inner, collection)
    model = getattr(metric, "model", None) or getattr(metric, "model_type", None)
    if not model:
        return ""
    name = type(metric).__name__
    package = "bert_score" if hasattr(metric, "model_type") else "sentence_transformers"
    if find_spec(package) is None:
        return f"{name} requires the extra `semantic` on the server: pip install 'assay[semantic]'."
    allowed = grants.local_models(collection)
    if model not in allowed:
        return (
            f"{name} cannot load {model!r} here. Allowed models: {', '.join(allowed) or 'none'}. The server's "
            "operator can add a model to LOCAL_MODELS and grant it to the collection."
        )
    return ""


@dataclass(frozen=True)
class Settings:
    """Metrics and slices of the scorecards of a set."""

    metrics: list[str]
    slices: list[str]
    critic: RagCriticRun | None = None
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0


def settings_of(sample_set: RagSampleSet) -> Settings:
    """Return the settings of a set, with defaults for those that were not chosen."""
    chosen = sample_set.settings
    slices = [
        label for label in chosen.get("slices", list(sample_set.labels)[:MOST_SLICES]) if label in sample_set.labels
    ]
    metrics = chosen.get("metrics") or default_metrics()
    return Settings(metrics, slices, sample_set.critics.first(), seed=int(chosen.get("seed", 0)))


@transaction.atomic
def change(sample_set: RagSampleSet, *, metrics: Sequence[str], slices: Sequence[str], actor: User) -> Job:
    """Choose the metrics and slices of a set's scorecards, and queue them."""
    labels = metric_labels(metrics, sample_set.collection) if metrics else default_metrics()
    if unknown := [label for label in slices if label not in sample_set.labels]:
        known = ", ".join(sample_set.labels) or "none"
        message = f"The samples have no label {unknown[0]!r} that can form slices. Available labels: {known}."
        raise NotValid(message, "slices")
    if len(slices) > MOST_SLICES:
        raise NotValid(f"A scorecard has at most {MOST_SLICES} slices.", "slices")
    sample_set.settings = {**sample_set.settings, "metrics": labels, "slices": list(slices)}
    sample_set.save(update_fields=["settings"])
    sentence = f"{actor} started scoring the RAG systems of {sample_set}"
    audit.record("rag.score", sentence, actor=actor, target=sample_set)
    return queue(sample_set, actor=actor)


def queue(sample_set: RagSampleSet, *, actor: Any) -> Job:
    """Queue the scoring job of a set; a finished job is queued again."""
    parameters = {"sample_set": str(sample_set.uuid)}
    job = jobs.find_recent(KIND, sample_set.collection, parameters)
    if job is None:
        title = f"Score RAG systems on {sample_set}"
        return jobs.start(KIND, title=title, parameters=parameters, collection=sample_set.collection, actor=actor)
    if not jobs.again(job):
        # The running job may end before this transaction, and then it has not seen the new rows.
        transaction.on_commit(lambda: jobs.again(job))
    job.refresh_from_db()
    return job


def unfinished(job: Job) -> bool:
    """Return whether the set of a scoring job has a system without scores for the current settings."""
    sample_set = RagSampleSet.objects.filter(uuid=job.parameters["sample_set"]).first()
    if sample_set is None:
        return False
    current = _settings_record(settings_of(sample_set))
    scored = {card.system_id: card.settings for card in cards_of(sample_set)}
    return any(
        {name: scored.get(pk, {}).get(name) for name in current} != current
        for pk in sample_set.systems.active().values_list("pk", flat=True)
    )


def _settings_record(settings: Settings) -> dict[str, Any]:
    """Return the part of the settings that a stored scorecard records."""
    run = settings.critic
    critic = "" if run is None else f"{run.uuid} {run.ended_at}"
    return {"metrics": settings.metrics, "slices": settings.slices, "critic": critic}


def job_of(sample_set: RagSampleSet) -> Job | None:
    """Job that scores the systems of a set."""
    return jobs.find_recent(KIND, sample_set.collection, {"sample_set": str(sample_set.uuid)})


def work_on(work: jobs.Work) -> dict[str, Any]:
    """Score the systems; rows added during the run make the job `unfinished`, so that it is queued again."""
    sample_set = (
        RagSampleSet.objects.select_related("collection").filter(uuid=work.job.parameters["sample_set"]).first()
    )
    if sample_set is None:
        raise NotFound("The sample set was deleted before its systems were scored.")
    systems = list(sample_set.systems.active())
    _score(work, sample_set, systems)
    page = reverse("rag_set", args=[sample_set.collection.slug, sample_set.uuid])
    return {"systems": len(systems), "page": page}


def _score(work: jobs.Work, sample_set: RagSampleSet, systems: Sequence[RagSystem]) -> None:
    from assay.rag import compare, evaluate, read_outputs, read_samples
    from assay.rag.evaluation import RagEvaluation

    if not systems:
        return
    settings = settings_of(sample_set)
    run = settings.critic
    metric_labels(settings.metrics, sample_set.collection)  # models and grants may have changed
    with sample_sets.checked(sample_set) as path:
        samples = read_samples(path)
    evaluations: list[RagEvaluation] = []
    for done, system in enumerate(systems):
        work.progress(done, len(systems) + 1)
        with sample_sets.checked(system) as path:
            outputs = read_outputs(path)
        evaluations.append(
            evaluate(
                samples,
                {system.name: outputs},
                [*settings.metrics, *(run.metrics if run else ())],
                critic=critic_in_ledger(run) if run else None,
                missing=system.missing,  # type: ignore[arg-type]
                slices=settings.slices,
                level=settings.level,
                resamples=settings.resamples,
                seed=settings.seed,
            )
        )
        work.say(f"scored {system}")
    work.progress(len(systems), len(systems) + 1)
    together = replace(evaluations[0], systems=tuple(one.systems[0] for one in evaluations))
    rows = [row.to_dict() for row in compare(together)] if len(systems) > 1 else []
    work.progress(len(systems) + 1, len(systems) + 1)
    with transaction.atomic():
        for system, evaluation in zip(systems, evaluations, strict=True):
            _store(system, evaluation, settings)
        gone = sample_set.systems.exclude(pk__in=[system.pk for system in systems])
        RagScorecard.objects.filter(system__in=gone).delete()
        uuids = {system.name: str(system.uuid) for system in systems}
        RagSampleSet.objects.filter(pk=sample_set.pk).update(
            comparisons=[{**row, "a": uuids[row["a"]], "b": uuids[row["b"]]} for row in rows]
        )


def _store(system: RagSystem, evaluation: Any, settings: Settings) -> None:
    report = evaluation.to_dict(per_sample=False)
    scored, run = evaluation.systems[0], settings.critic
    critics = {label: provenance(run, label) for label in run.metrics} if run else {}
    RagScorecard.objects.update_or_create(
        system=system,
        defaults={
            "about": {
                metric.label: {
                    **report["metrics"][metric.label],
                    "higher_is_better": metric.higher_is_better,
                    "critic": critics.get(metric.label),
                }
                for metric in evaluation.metrics
            },
            "metrics": report["systems"][0]["metrics"],
            "slices": report["systems"][0]["slices"],
            "per_sample": {label: scored.per_sample_of(label) for label in scored.scores},
            "settings": report["settings"] | _settings_record(settings),
            "notes": list(evaluation.notes),
            "computed_at": timezone.now(),
        },
    )


def cards_of(sample_set: RagSampleSet, reader: Any = None, *, per_sample: bool = False) -> list[RagScorecard]:
    """Return the scorecards of the active systems of a set, baseline first."""
    rows = RagScorecard.objects.filter(system__sample_set=sample_set, system__archived_at__isnull=True)
    rows = rows.select_related("system").order_by("-system__baseline", "system__name")
    cards = list(rows if per_sample else rows.defer("per_sample"))
    hidden = reader is not None and hides_critics(sample_set, reader)
    for card in cards:
        labels = [label for label, about in card.about.items() if not (hidden and about.get("critic"))]
        # PostgreSQL does not preserve the order of JSON keys.
        order = {label: place for place, label in enumerate(card.settings["metrics"])}
        _show_only(card, sorted(labels, key=lambda label: (order.get(label, len(order)), label)), per_sample)
    return cards


def hides_critics(sample_set: RagSampleSet, reader: Any) -> bool:
    """Return whether critics' scores are hidden because the reader may still grade answers of the set."""
    gradings = sample_set.gradings.select_related("round__collection")
    return any(not grade_visibility.means_visible(reader, grading.round) for grading in gradings)


def _show_only(card: RagScorecard, labels: Sequence[str], per_sample: bool) -> None:
    """Reduce a scorecard to these metrics, in this order."""

    def only(values: Mapping[str, Any]) -> dict[str, Any]:
        return {label: values[label] for label in labels if label in values}

    card.about, card.metrics = only(card.about), only(card.metrics)
    card.slices = {name: {value: only(of) for value, of in values.items()} for name, values in card.slices.items()}
    if per_sample:
        card.per_sample = only(card.per_sample)


def parts_of(cards: Sequence[RagScorecard]) -> dict[str, list[str]]:
    """Return the labels of the metrics of these scorecards, by part of the page."""
    about: dict[str, Mapping[str, Any]] = {}
    for card in cards:
        about |= {label: of for label, of in card.about.items() if label not in about}
    return {
        part: [label for label, of in about.items() if of["target"] in targets]
        for part, targets in PARTS.items()
        if any(of["target"] in targets for of in about.values())
    }


def comparison(sample_set: RagSampleSet, a: RagSystem, b: RagSystem, metric: str) -> dict[str, Any] | None:
    """Return the stored comparison of two systems, read as b against a; None if there is none."""
    first, second = str(a.uuid), str(b.uuid)
    for row in sample_set.comparisons:
        if row["metric"] == metric and (row["a"], row["b"]) == (first, second):
            return dict(row)
        if row["metric"] == metric and (row["a"], row["b"]) == (second, first):
            return _turned(row)
    return None


def _turned(row: Mapping[str, Any]) -> dict[str, Any]:
    def minus(value: float | None) -> float | None:
        return None if value is None else 0.0 - value

    return {
        **row,
        "a": row["b"],
        "b": row["a"],
        "a_value": row["b_value"],
        "b_value": row["a_value"],
        "difference": minus(row["difference"]),
        "low": minus(row["high"]),
        "high": minus(row["low"]),
        "wins": row["losses"],
        "losses": row["wins"],
    }


def family_size(sample_set: RagSampleSet, metric: str) -> int:
    """Return the number of comparisons of a metric that were corrected together."""
    return sum(row["metric"] == metric and row["p"] is not None for row in sample_set.comparisons)


ALPHA = 0.05


def in_words(row: Mapping[str, Any] | None, higher_is_better: bool | None = True) -> str:
    """Describe the result of comparing b with a."""
    if row is None or row["p"] is None:
        return "not tested"
    p = row["p"] if row["p_corrected"] is None else row["p_corrected"]
    if p >= ALPHA:
        return "not significantly different"
    up = row["difference"] > 0
    if higher_is_better is None:
        return "higher" if up else "lower"
    return "better" if up == higher_is_better else "worse"


def as_json(sample_set: RagSampleSet, reader: Any = None, *, per_sample: bool = False) -> dict[str, Any]:
    """Return the scorecards of a set in the format of ``assay rag --format json``, with the comparisons."""
    cards = cards_of(sample_set, reader, per_sample=per_sample)
    names = {str(card.system.uuid): card.system.name for card in cards}
    settings = settings_of(sample_set)
    about: dict[str, Any] = {}
    for card in cards:
        about |= card.about
    return {
        "sample_set": {"id": str(sample_set.uuid), "name": sample_set.name, "sha256": sample_set.stored_sha256},
        "samples": sample_set.rows,
        "settings": {
            "level": settings.level,
            "resamples": settings.resamples,
            "seed": settings.seed,
            "slices": settings.slices,
        },
        "metrics": about,
        "systems": [
            {
                "id": str(card.system.uuid),
                "name": card.system.name,
                "baseline": card.system.baseline,
                "sha256": card.system.stored_sha256,
                "missing": card.system.missing,
                "computed_at": card.computed_at.isoformat(),
                "notes": card.notes,
                "metrics": card.metrics,
                "slices": card.slices,
                **({"per_sample": by_sample(card)} if per_sample else {}),
            }
            for card in cards
        ],
        "comparisons": [
            {**row, "a": names[row["a"]], "b": names[row["b"]]}
            for row in sample_set.comparisons
            if row["a"] in names and row["b"] in names and row["metric"] in about
        ],
    }


def critic_words(about: Mapping[str, Any]) -> str:
    """Return the model and the prompt behind a metric; empty if it uses no critic."""
    critic = about.get("critic")
    return "" if not critic else f"{critic['model']}, prompt {critic['prompt']['name']} v{critic['prompt']['version']}"


def by_sample(card: RagScorecard) -> dict[str, dict[str, float | None]]:
    """Return the values per sample, for metrics that have such values."""
    by_sample: dict[str, dict[str, float | None]] = {}
    for label, values in card.per_sample.items():
        for sample_id, value in values.items():
            by_sample.setdefault(sample_id, {})[label] = value
    return by_sample


def rows_of(sample_set: RagSampleSet, reader: Any = None) -> list[dict[str, Any]]:
    """Return one row per system, slice and metric for CSV; the slice of all samples is empty."""
    rows = []
    for card in cards_of(sample_set, reader):
        parts = [("", "", card.metrics)]
        parts += [(name, value, of) for name, values in card.slices.items() for value, of in values.items()]
        for name, value, metrics in parts:
            for label, score in metrics.items():
                details = score["details"]
                rows.append(
                    {
                        "system": card.system.name,
                        "slice": name,
                        "slice_value": value,
                        "metric": label,
                        "value": score["value"] if details["defined"] else None,
                        "low": score["low"],
                        "high": score["high"],
                        "num_samples": details["num_samples"],
                        "num_skipped": details["num_skipped"],
                        "reason": details["reason"],
                        "critic": critic_words(card.about[label]),
                    }
                )
    return rows
