"""Django configuration of the pooling app, and what it registers with the apps it builds on."""

from __future__ import annotations

from django.apps import AppConfig


class Config(AppConfig):
    name = "pooling"

    def ready(self) -> None:
        from judgments import archive
        from judgments.baselines import PROVIDERS
        from judgments.growing import CHOOSERS, Chooser
        from judgments.import_kinds import KINDS
        from judgments.jobs import KINDS as JOBS
        from judgments.jobs import TICKS
        from judgments.kinship import SYSTEMS
        from pooling import baseline, discovery, refill, refilling, run_families, runs
        from pooling.click_logs import CLICKS
        from pooling.fetching import work_on_fetch
        from pooling.models import Pool, Run
        from pooling.pools import work_on_pool
        from pooling.previews import work_on_preview
        from pooling.query_logs import QUERY_LOGS, work_on_draw
        from pooling.runs import RUNS
        from pooling.strata import work_on_stratum

        archive.KINDS["run"] = archive.Kind(
            Run,
            "runs",
            frozenset({"Scoring", "Score"}),
            in_use=refill.feeds,
            needed=runs.needed_by,
            file=lambda run: run.path,
        )
        archive.KINDS["pool"] = archive.Kind(
            Pool,
            "pools",
            frozenset({"PoolEntry", "Pool_runs"}),
            needed=lambda pool: "A round was made from it." if discovery.made_from(pool).exists() else "",
        )
        KINDS.register(RUNS.name, RUNS)
        PROVIDERS.register("traffic", baseline.traffic)
        KINDS.register(QUERY_LOGS.name, QUERY_LOGS)
        KINDS.register(CLICKS.name, CLICKS)
        JOBS.register("draw", work_on_draw)
        JOBS.register("fetch", work_on_fetch)
        JOBS.register("pool", work_on_pool)
        JOBS.register("pool-preview", work_on_preview)
        JOBS.register("stratum", work_on_stratum)
        JOBS.register("refill", refilling.work_on_refill)
        TICKS.register("refill", refilling.wake_all)
        SYSTEMS.register("runs", run_families.systems)
        CHOOSERS.register("refill", Chooser(refilling.wake, refill.told))
