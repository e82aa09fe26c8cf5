"""Django configuration of the evaluation app, and what it registers with the apps it builds on."""

from __future__ import annotations

from dataclasses import replace

from django.apps import AppConfig


class Config(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from evaluation import baseline, conflict_effects, freshness_job, refreshing, round_effects
        from evaluation.advice import paired
        from evaluation.leverage import leverage
        from evaluation.models import RagSampleSet, RagSystem
        from evaluation.rag import critics, from_collection, scorecards
        from evaluation.rag.sample_sets import SAMPLES
        from evaluation.rag.systems import OUTPUTS
        from evaluation.scoring import cutoff_of
        from evaluation.scoring_job import score_frozen, score_new, work_on_scores
        from judgments import archive, judging_waking
        from judgments.baselines import PROVIDERS
        from judgments.conflict_effects import APPRAISERS, Appraiser
        from judgments.freezing import FROZEN
        from judgments.import_kinds import KINDS as IMPORTS
        from judgments.jobs import KINDS, TICKS, UNFINISHED
        from judgments.machine_runs import OTHERS_ASK
        from judgments.routing import WEIGHERS
        from pooling.cutoffs import FINDERS
        from pooling.runs import STORED
        from pooling.sampling.advice import ADVISERS

        KINDS.register("score", work_on_scores)
        STORED.append(score_new)
        FROZEN.append(score_frozen)
        FINDERS.append(cutoff_of)
        WEIGHERS.register("leverage", leverage)
        KINDS.register(freshness_job.KIND, freshness_job.work_on_check)
        KINDS.register(refreshing.KIND, refreshing.work_on_refresh)
        KINDS.register(round_effects.KIND, round_effects.work_on)
        IMPORTS.register(SAMPLES.name, SAMPLES)
        IMPORTS.register(OUTPUTS.name, OUTPUTS)
        KINDS.register(scorecards.KIND, scorecards.work_on)
        UNFINISHED.register(scorecards.KIND, scorecards.unfinished)
        KINDS.register(from_collection.KIND, from_collection.work_on)
        KINDS.register(critics.KIND, critics.work_on)
        OTHERS_ASK.append(critics.asks)
        judging_waking.KINDS.append(critics.WAITING)
        rounds = archive.KINDS["round"]
        archive.KINDS["round"] = replace(rounds, goes=rounds.goes | {"RagGrading"})
        archive.KINDS["rag-samples"] = archive.Kind(
            RagSampleSet,
            "rag",
            frozenset({"RagSample", "RagGrading", "RagCriticRun"}),
            needed=lambda row: "Systems belong to it. Delete them first." if row.systems.exists() else "",
            file=lambda row: row.path,
        )
        archive.KINDS["rag-system"] = archive.Kind(
            RagSystem, "rag", frozenset({"RagOutput", "RagScorecard"}), file=lambda row: row.path
        )
        PROVIDERS.register("runs", baseline.runs)
        TICKS.register("freshness", freshness_job.start_due)
        ADVISERS.register("paired", paired)
        APPRAISERS.register(
            "runs", Appraiser(conflict_effects.effects, conflict_effects.detail, conflict_effects.why_not)
        )
