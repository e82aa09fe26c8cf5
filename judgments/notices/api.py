"""API of notices: list your notices and mark them as read."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from judgments.models import Notice
from judgments.notices import notices
from judgments.web.endpoints import Endpoint, Listed, call, listed


class NoticeBody(serializers.Serializer):
    """A notice."""

    id = serializers.UUIDField(source="uuid")
    kind = serializers.CharField(source="event.kind")
    collection = serializers.CharField(source="event.collection.slug")
    text = serializers.CharField()
    page = serializers.CharField(help_text="The path of the page to open.")
    read_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()


class Marked(serializers.Serializer):
    """The number of notices that were unread."""

    marked = serializers.IntegerField()


@listed(
    "List your notices",
    "Return your notices of the last 90 days, newest first.",
    OpenApiParameter("unread", enum=["true", "false"], description="If `true`, only unread notices."),
)
class Notices(Listed, Endpoint):
    queryset = Notice.objects.none()
    serializer_class = NoticeBody
    ordering = {"created_at": "created_at", "read_at": "read_at"}
    tag = "notices"

    def rows(self) -> Any:
        rows = notices.shown(self.user)
        return rows.filter(read_at=None) if self.request.query_params.get("unread") == "true" else rows


class ReadNotices(Endpoint):
    tag = "notices"

    @call("Mark all notices as read", Marked, operation_id="notices_read_all")
    def post(self) -> dict[str, int]:
        """Return how many were unread."""
        return {"marked": notices.mark_read(self.user)}


class ReadNotice(Endpoint):
    tag = "notices"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        self.notice = notices.get(self.user, kwargs["uuid"])

    @call("Mark a notice as read", NoticeBody)
    def post(self) -> Notice:
        """A notice that was already read stays read."""
        notices.mark_read(self.user, self.notice)
        return notices.get(self.user, self.kwargs["uuid"])
