"""Django configuration of the ``judgments`` app, and registrations of its features."""

from __future__ import annotations

from django.apps import AppConfig


class Config(AppConfig):
    name = "judgments"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in

        from judgments.agreement.gate import KIND as AGREEMENT_JOB
        from judgments.agreement.gate import check_later, work_on
        from judgments.archive.archive import KINDS
        from judgments.events.events import LISTENERS, VISIBILITY
        from judgments.hooks import (
            ARCHIVE_KINDS,
            BASELINES,
            DOUBTS,
            IMPORT_KINDS,
            JOBS,
            PAGES,
            PERIODIC_WORK,
            ROUND_TABS,
            SEARCHES,
            UNFINISHED_JOBS,
        )
        from judgments.labels import grade_visibility
        from judgments.machines.judge_runs import retry
        from judgments.machines.pairwise.runs import RETRIED
        from judgments.members.tokens import on_login
        from judgments.navigation import pages, search
        from judgments.notices import mail, notices
        from judgments.quality import checks
        from judgments.webhooks import deliveries

        JOBS.register("import", "judgments.imports.ingestion:work_on_upload")
        JOBS.register("read", "judgments.imports.ingestion:work_on_reading")
        JOBS.register("agreement", "judgments.agreement.round_report:work_on")
        JOBS.register("battles", "judgments.machines.pairwise.job:work_on")
        JOBS.register("judge", "judgments.machines.judge_runs.job:work_on")
        JOBS.register("prejudge", "judgments.machines.judge_runs.offline_judging:work_on")
        JOBS.register("quality", "judgments.quality.checks:work_on")
        JOBS.register("requeue", "judgments.quality.pausing:work_on")
        PERIODIC_WORK.register("task-results", "judgments.jobs.jobs:forget_queue_rows")
        PERIODIC_WORK.register("idempotency-keys", "judgments.web.idempotency:forget_expired")
        PERIODIC_WORK.register("api-calls", "judgments.web.middleware:forget_old_calls")
        PERIODIC_WORK.register("judges", "judgments.machines.judge_runs.retry:retry_due")
        IMPORT_KINDS.register("documents", "judgments.imports.documents:DOCUMENTS")
        IMPORT_KINDS.register("queries", "judgments.imports.queries:QUERIES")
        IMPORT_KINDS.register("qrels", "judgments.imports.qrels:LABELS")
        IMPORT_KINDS.register("bundles", "judgments.snapshots.bundle_import:BUNDLES")
        IMPORT_KINDS.register("judgments", "judgments.imports.imported_rounds:JUDGMENTS")
        BASELINES.register("documents", "judgments.snapshots.baselines:documents")
        ARCHIVE_KINDS.update(KINDS)
        DOUBTS.register("battles", "judgments.machines.pairwise.grades:doubts")
        retry.KINDS.append(RETRIED)
        LISTENERS.append(check_later)
        JOBS.register(AGREEMENT_JOB, work_on)
        JOBS.register(checks.ALERT_JOB, checks.work_on_alerts)
        PERIODIC_WORK.register("quality-alerts", checks.queue_alert_checks)
        VISIBILITY.register("quality.alert", grade_visibility.event_visible)
        VISIBILITY.register("agreement.checked", grade_visibility.event_visible)
        LISTENERS.append(deliveries.store)
        LISTENERS.append(notices.store)
        JOBS.register(mail.KIND, mail.work_on)
        PERIODIC_WORK.register("notices", mail.queue_due)
        JOBS.register(deliveries.KIND, deliveries.work_on)
        UNFINISHED_JOBS.register(deliveries.KIND, deliveries.unfinished)
        PERIODIC_WORK.register("webhooks", deliveries.queue_due)
        PERIODIC_WORK.register("events", "judgments.events.events:delete_old")
        PAGES.update(pages.PAGES)
        ROUND_TABS.extend(pages.ROUND_TABS)
        SEARCHES.extend(search.OWN)
        # Every login sends this signal, including logins to the admin.
        user_logged_in.connect(on_login, dispatch_uid="recent_login")
