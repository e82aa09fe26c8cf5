"""API endpoints to read the progress of a background job and to cancel it."""

from __future__ import annotations

import uuid as uuid_module

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from judgments import access, jobs
from judgments.api.endpoint import Endpoint
from judgments.core.errors import Conflict
from judgments.models import Job


class Progress(serializers.Serializer):
    """Steps done, of how many; the total is null until it is known."""

    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True)


class JobBody(serializers.Serializer):
    """A job: `failed` is a mistake in what was sent, `crashed` one of ours."""

    id = serializers.UUIDField(source="uuid")
    kind = serializers.CharField()
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=Job.State.choices)
    progress = Progress(source="*")
    log = serializers.CharField()
    error = serializers.CharField()
    result = serializers.JSONField(
        source="told_result", allow_null=True, help_text="What was made, once the state is `done`."
    )
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class Started(serializers.Serializer):
    """The work goes on as a job."""

    job = serializers.UUIDField(help_text="Ask `/api/v1/jobs/<job>/` how far it is.")


class StartedWith(Started):
    """The work on something new goes on as a job."""

    id = serializers.UUIDField(help_text="Of what the job works on: a judge, a run of battles, a fetch.")


def started(job: Job, on: uuid_module.UUID | None = None) -> Response:
    """The 202 of work that was handed to the background, with the id of what was made for it."""
    body = {"job": str(job.uuid)}
    return Response(body if on is None else {**body, "id": str(on)}, status=202)


class OneJob(Endpoint):
    """One job."""

    serializer_class = JobBody
    tag = "jobs"

    @extend_schema(summary="How far is it?")
    def get(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """State, progress, log and error."""
        return self.told(JobBody, access.job_for(request.user, uuid, self.roles))


class CancelJob(Endpoint):
    """Stop a job."""

    serializer_class = JobBody
    writes = access.STAFF
    also = (409,)
    tag = "jobs"

    @extend_schema(summary="Cancel a job", request=None)
    def post(self, request: Request, uuid: uuid_module.UUID) -> Response:
        """At once when it waits, at its next step when it runs."""
        job = access.job_for(request.user, uuid, self.roles)
        if job.over:
            raise Conflict(f"This job is over: it is {job.state}.")
        jobs.cancel(job, actor=request.user)
        job.refresh_from_db()
        return self.told(JobBody, job)
