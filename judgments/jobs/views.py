"""Job pages: background work, its progress, and the button to cancel it."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import patch_vary_headers

from judgments.jobs import jobs as verbs
from judgments.models import AuditRow, Collection, Job
from judgments.web import access
from judgments.web.columns import Column
from judgments.web.components import jobs_running
from judgments.web.figures import number, state
from judgments.web.lists import ChoiceFilter, Listing, answer
from judgments.web.pages import get_page, post_action

COLUMNS = (
    Column("at", "When", order="pk", style="nowrap"),
    Column("sentence", "Action", order="sentence", head=True),
    Column("actor", "User", order="actor__username", value=lambda row: str(row.actor or "the server")),
    Column("verb", "Code", order="verb", style="id"),
)


def listing(collection: Collection) -> Listing:
    """Return the list; the filter offers the users with actions in this collection."""
    names = collection.audit.exclude(actor=None).values_list("actor__username", flat=True).order_by().distinct()
    people = [(name, name) for name in sorted(filter(None, names))]
    return Listing(
        name="activity",
        noun=("act", "acts"),
        columns=COLUMNS,
        search=("sentence", "verb"),
        choices=(ChoiceFilter("who", "User", "actor__username", people),),
        order="-at",
    )


@get_page.of_collection(access.STAFF)
def activity(request: HttpRequest, collection: Collection) -> HttpResponse:
    rows = AuditRow.objects.filter(collection=collection).select_related("actor")
    return answer(request, listing(collection), rows, "judgments/jobs/activity.html", {"collection": collection})


# The shape of each state; its text is the name of the state.
SHAPES = {
    "queued": "todo",
    "running": "doing",
    "done": "done",
    "failed": "fail",
    "crashed": "fail",
    "cancelled": "todo",
}


def _progress(job: Job) -> str:
    if not job.total:
        return number(job.done) if job.done else ""
    return f"{job.done:,} of {job.total:,}"


JOBS = Listing(
    name="jobs",
    noun=("job", "jobs"),
    columns=(
        Column("title", "Job", order="title", head=True, url=("job", "uuid"), style="clip"),
        Column("state", "State", order="state", show=lambda job: state(SHAPES[job.state], job.get_state_display())),
        Column("done", "Progress", order="done", numeric=True, show=_progress),
        Column("created_by", "Started by", order="created_by__username", value=lambda job: str(job.created_by or "")),
        Column("created_at", "Created", order="created_at", style="nowrap"),
        Column("finished_at", "Finished", order="finished_at", style="nowrap"),
    ),
    search=("title", "kind"),
    choices=(ChoiceFilter("state", "State", "state", Job.State.choices),),
    order="-created_at",
)


@get_page.of_collection(access.STAFF)
def job_list(request: HttpRequest, collection: Collection) -> HttpResponse:
    if request.htmx and request.htmx.target == "jobs-running":  # type: ignore[attr-defined]
        context = {"collection": collection, "running": jobs_running(collection)}
        bar = render(request, "judgments/jobs/_jobs_running.html", context)
        patch_vary_headers(bar, ["HX-Request", "HX-Target"])
        return bar
    rows = Job.objects.filter(collection=collection).select_related("created_by").defer("log", "traceback")
    return answer(request, JOBS, rows, "judgments/jobs/jobs.html", {"collection": collection})


@get_page
def job(request: HttpRequest, uuid: str) -> HttpResponse:
    row = access.job_for(request.user, uuid)
    context = {
        "collection": row.collection,
        "job": row,
        "shape": SHAPES[row.state],
        "left": time_left(row),
        "seconds": row.started_at and round(((row.finished_at or timezone.now()) - row.started_at).total_seconds()),
    }
    polled = request.htmx and request.htmx.target == "job"  # type: ignore[attr-defined]
    response = render(request, "judgments/jobs/_job.html" if polled else "judgments/jobs/job.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


@post_action
def cancel(request: HttpRequest, uuid: str) -> HttpResponse:
    row = access.job_for(request.user, uuid)
    if row.over:
        messages.info(request, "This job has already finished.")
    else:
        verbs.cancel(row, actor=request.user)
        messages.success(request, "Cancellation requested. Completed work is kept.")
    return redirect("job", row.uuid)


def time_left(job: Job) -> timedelta | None:
    """Estimate the remaining time from the speed so far; None if that is not possible yet."""
    if job.over or not job.total or not job.done or not job.started_at:
        return None
    spent = timezone.now() - job.started_at
    return spent * ((job.total - job.done) / job.done)
