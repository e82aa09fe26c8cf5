"""Django configuration of the pooling app and its registrations with lower apps."""

from __future__ import annotations

from django.apps import AppConfig


class Config(AppConfig):
    name = "pooling"

    def ready(self) -> None:
        from judgments.hooks import (
            ARCHIVE_KINDS,
            BASELINES,
            CHOOSERS,
            IMPORT_KINDS,
            JOBS,
            PAGES,
            PERIODIC_WORK,
            ROUND_TABS,
            SEARCHES,
            SYSTEM_LISTS,
            ArchiveKind,
            Chooser,
        )
        from pooling.clicks.click_logs import CLICKS
        from pooling.connectors.fetching import work_on_fetch
        from pooling.logs import traffic
        from pooling.logs.query_logs import QUERY_LOGS, work_on_draw
        from pooling.models import Pool, Run
        from pooling.navigation import pages, search
        from pooling.pools import discovery, refill, refill_job
        from pooling.pools.pools import work_on_pool
        from pooling.pools.previews import work_on_preview
        from pooling.runs import runs
        from pooling.runs import runs as model_families
        from pooling.runs.runs import RUNS
        from pooling.strata.strata import work_on_stratum

        ARCHIVE_KINDS["run"] = ArchiveKind(
            Run,
            "runs",
            frozenset({"Scoring", "Score"}),
            in_use=refill.archive_obstacle,
            needed=runs.needed_by,
            file=lambda run: run.path,
        )
        ARCHIVE_KINDS["pool"] = ArchiveKind(
            Pool,
            "pools",
            frozenset({"PoolEntry", "Pool_runs"}),
            needed=lambda pool: "A round uses this pool." if discovery.made_from(pool).exists() else "",
        )
        IMPORT_KINDS.register(RUNS.name, RUNS)
        BASELINES.register("traffic", traffic.baseline)
        IMPORT_KINDS.register(QUERY_LOGS.name, QUERY_LOGS)
        IMPORT_KINDS.register(CLICKS.name, CLICKS)
        JOBS.register("draw", work_on_draw)
        JOBS.register("fetch", work_on_fetch)
        JOBS.register("pool", work_on_pool)
        JOBS.register("pool-preview", work_on_preview)
        JOBS.register("stratum", work_on_stratum)
        JOBS.register("refill", refill_job.work_on_refill)
        PERIODIC_WORK.register("refill", refill_job.queue_all)
        SYSTEM_LISTS.register("runs", model_families.systems)
        PAGES.update(pages.PAGES)
        ROUND_TABS.extend(pages.ROUND_TABS)
        SEARCHES.extend(search.SEARCHES)
        CHOOSERS.register("refill", Chooser(refill_job.queue_if_needed, refill.status))
