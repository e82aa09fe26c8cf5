"""Django configuration of the evaluation app and its registrations with lower apps."""

from __future__ import annotations

from dataclasses import replace

from django.apps import AppConfig


class Config(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from evaluation.decisions import decisions, findings, list_preferences, watching
        from evaluation.effects import job as round_effects
        from evaluation.effects import pair_effects
        from evaluation.freshness import facts, refresh
        from evaluation.freshness import job as freshness_job
        from evaluation.gates import verdicts
        from evaluation.judges.leverage import leverage
        from evaluation.models import RagSampleSet, RagSystem
        from evaluation.navigation import pages, search
        from evaluation.rag import critics, from_collection, scorecards
        from evaluation.rag.sample_sets import SAMPLES
        from evaluation.rag.systems import OUTPUTS
        from evaluation.scoring.scoring import cutoff_of, score_frozen, score_new, work_on_scores
        from judgments.events.events import VISIBILITY
        from judgments.hooks import (
            ARCHIVE_KINDS,
            BASELINES,
            CHOOSERS,
            CONFLICT_APPRAISERS,
            JOBS,
            LEVERAGE,
            LISTS_SEEN,
            PAGES,
            PERIODIC_WORK,
            PROVIDER_USERS,
            SEARCHES,
            SNAPSHOT_LISTENERS,
            UNFINISHED_JOBS,
            ArchiveKind,
            Chooser,
            ConflictAppraiser,
        )
        from judgments.hooks import IMPORT_KINDS as IMPORTS
        from judgments.machines.judge_runs import retry
        from pooling.hooks import CUTOFFS, RUN_LISTENERS

        JOBS.register("score", work_on_scores)
        RUN_LISTENERS.append(score_new)
        RUN_LISTENERS.append(verdicts.link_runs)
        SNAPSHOT_LISTENERS.append(score_frozen)
        CUTOFFS.append(cutoff_of)
        LEVERAGE.register("leverage", leverage)
        JOBS.register(freshness_job.KIND, freshness_job.work_on_check)
        JOBS.register(refresh.KIND, refresh.work_on_refresh)
        JOBS.register(round_effects.KIND, round_effects.work_on)
        IMPORTS.register(SAMPLES.name, SAMPLES)
        IMPORTS.register(OUTPUTS.name, OUTPUTS)
        JOBS.register(scorecards.KIND, scorecards.work_on)
        UNFINISHED_JOBS.register(scorecards.KIND, scorecards.unfinished)
        JOBS.register(from_collection.KIND, from_collection.work_on)
        JOBS.register(critics.KIND, critics.work_on)
        PROVIDER_USERS.append(critics.asks)
        retry.KINDS.append(critics.WAITING)
        runs = ARCHIVE_KINDS["run"]
        ARCHIVE_KINDS["run"] = replace(runs, needed=lambda run: runs.needed(run) or decisions.needed_by(run))
        rounds = ARCHIVE_KINDS["round"]
        ARCHIVE_KINDS["round"] = replace(rounds, goes=rounds.goes | {"RagGrading"})
        ARCHIVE_KINDS["rag-samples"] = ArchiveKind(
            RagSampleSet,
            "rag",
            frozenset({"RagSample", "RagGrading", "RagCriticRun"}),
            needed=lambda row: "This sample set has systems. Delete them first." if row.systems.exists() else "",
            file=lambda row: row.path,
        )
        ARCHIVE_KINDS["rag-system"] = ArchiveKind(
            RagSystem, "rag", frozenset({"RagOutput", "RagScorecard"}), file=lambda row: row.path
        )
        BASELINES.register("runs", facts.runs)
        PERIODIC_WORK.register("freshness", freshness_job.start_due)
        PERIODIC_WORK.register("decisions", watching.look_at_open)
        VISIBILITY.register("verdict.reached", findings.event_visible)
        VISIBILITY.register("gate.failed", verdicts.event_visible)
        LISTS_SEEN.append(list_preferences.seen_by)
        JOBS.register(watching.KIND, watching.work_on_look)
        CHOOSERS.register("decisions", Chooser(watching.queue_look, lambda round_: None))
        PAGES.update(pages.PAGES)
        SEARCHES.extend(search.SEARCHES)
        CONFLICT_APPRAISERS.register(
            "runs", ConflictAppraiser(pair_effects.effects, pair_effects.detail, pair_effects.why_not)
        )
