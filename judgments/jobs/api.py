"""API endpoints to read the progress of a background job and cancel it."""

from __future__ import annotations

import uuid as uuid_module
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from assay.core.errors import Conflict
from judgments.jobs import jobs
from judgments.models import Job
from judgments.web import access
from judgments.web.endpoints import Endpoint, call


class Progress(serializers.Serializer):
    """Completed steps and their total; the total is null until it is known."""

    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True)


class JobBody(serializers.Serializer):
    """A job. `failed` means invalid input; `crashed` means a server error."""

    id = serializers.UUIDField(source="uuid")
    kind = serializers.CharField()
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=Job.State.choices)
    progress = Progress(source="*")
    log = serializers.CharField()
    error = serializers.CharField()
    result = serializers.JSONField(
        source="visible_result", allow_null=True, help_text="The result, if the state is `done`."
    )
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class Started(serializers.Serializer):
    """A job that was started."""

    job = serializers.UUIDField(help_text="Read its progress at `/api/v1/jobs/<job>/`.")


class StartedWith(Started):
    """A job that was started, and the new object it works on."""

    id = serializers.UUIDField(
        help_text="Id of the new object, which is a judge, a run of pairwise comparisons, or a fetch."
    )


def started(job: Job, on: uuid_module.UUID | None = None) -> Response:
    """Return status 202 with a queued job and the id of the object created for it."""
    body = {"job": str(job.uuid)}
    return Response(body if on is None else {**body, "id": str(on)}, status=202)


class OneJob(Endpoint):
    tag = "jobs"

    @call("Get the progress of a job", JobBody)
    def get(self) -> Job:
        """Return state, progress, log and error."""
        return access.job_for(self.user, self.kwargs["uuid"], self.roles)


class CancelJob(Endpoint):
    writes = access.STAFF
    also = (409,)
    tag = "jobs"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.job = access.job_for(self.user, kwargs["uuid"], self.roles)

    @call("Cancel a job", JobBody)
    def post(self) -> Job:
        """A queued job is canceled immediately. A running job is canceled at its next step."""
        job = self.job
        if job.over:
            raise Conflict(f"This job has already ended, so it cannot be canceled. Its state is {job.state}.")
        jobs.cancel(job, actor=self.user)
        job.refresh_from_db()
        return job
