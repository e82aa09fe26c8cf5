"""Django configuration of the evaluation app and its registrations with lower apps."""

from __future__ import annotations

from dataclasses import replace

from django.apps import AppConfig

# By family in `judgments.hooks`; each member is imported on first use.
MEMBERS = {
    "JOBS": {
        "score": "evaluation.scoring.scoring:work_on_scores",
        "freshness": "evaluation.freshness.job:work_on_check",
        "refresh": "evaluation.freshness.refresh:work_on_refresh",
        "effects": "evaluation.effects.job:work_on",
        "rag-score": "evaluation.rag.scorecards:work_on",
        "rag-samples": "evaluation.rag.from_collection:work_on",
        "rag-critic": "evaluation.rag.critics:work_on",
        "decision": "evaluation.decisions.watching:work_on_look",
    },
    "UNFINISHED_JOBS": {"rag-score": "evaluation.rag.scorecards:unfinished"},
    "PERIODIC_WORK": {
        "freshness": "evaluation.freshness.job:start_due",
        "decisions": "evaluation.decisions.watching:look_at_open",
    },
    "LEVERAGE": {"leverage": "evaluation.effects.pair_effects:leverage"},
}


class Config(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from evaluation.decisions import decisions, findings, list_preferences, watching
        from evaluation.effects import pair_effects
        from evaluation.freshness import facts
        from evaluation.gates import verdicts
        from evaluation.models import RagSampleSet, RagSystem
        from evaluation.navigation import pages
        from evaluation.rag import critics, sample_sets, systems
        from evaluation.scoring import scoring
        from judgments import hooks
        from judgments.events.events import VISIBILITY
        from judgments.hooks import ARCHIVE_KINDS, ArchiveKind
        from judgments.machines.judge_runs import retry
        from pooling.hooks import CUTOFFS, RUN_LISTENERS

        for family, members in MEMBERS.items():
            for name, where in members.items():
                getattr(hooks, family).register(name, where)
        for kind in (sample_sets.SAMPLES, systems.OUTPUTS):
            hooks.IMPORT_KINDS.register(kind.name, kind)
        RUN_LISTENERS.append(scoring.score_new)
        hooks.SNAPSHOT_LISTENERS.append(scoring.score_frozen)
        CUTOFFS.append(scoring.cutoff_of)
        hooks.PROVIDER_USERS.append(critics.asks)
        retry.KINDS.append(critics.WAITING)
        runs, rounds = ARCHIVE_KINDS["run"], ARCHIVE_KINDS["round"]
        ARCHIVE_KINDS["run"] = replace(runs, needed=lambda run: runs.needed(run) or decisions.needed_by(run))
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
        hooks.BASELINES.register("runs", facts.runs)
        VISIBILITY.register("verdict.reached", findings.event_visible)
        VISIBILITY.register("gate.failed", verdicts.event_visible)
        hooks.LISTS_SEEN.append(list_preferences.seen_by)
        hooks.CHOOSERS.register("decisions", hooks.Chooser(watching.queue_look, lambda round_: None))
        hooks.PAGES.update(pages.PAGES)
        hooks.SEARCHES.append(pages.SEARCH)
        hooks.CONFLICT_APPRAISERS.register(
            "runs", hooks.ConflictAppraiser(pair_effects.effects, pair_effects.detail, pair_effects.why_not)
        )
