"""Read-only admin pages for query logs, runs, pools, connectors and fetches."""

from django.contrib import admin

from judgments.admin import ReadOnlyAdmin
from pooling.models import Connector, Fetch, Pool, QueryLog, Run


@admin.register(QueryLog)
class QueryLogs(ReadOnlyAdmin):
    list_display = ("name", "collection", "searches", "distinct", "created_by", "created_at")
    list_select_related = ("collection", "created_by")


@admin.register(Run)
class Runs(ReadOnlyAdmin):
    list_display = ("name", "collection", "rows", "queries", "depth", "created_by", "created_at")
    search_fields = ("name", "filename", "sha256")
    list_select_related = ("collection", "created_by")


@admin.register(Pool)
class Pools(ReadOnlyAdmin):
    list_display = ("__str__", "collection", "strategy", "seed", "created_by", "created_at")
    list_select_related = ("collection", "created_by")


@admin.register(Connector)
class Connectors(ReadOnlyAdmin):
    list_display = ("name", "collection", "kind", "created_by", "created_at")
    list_select_related = ("collection", "created_by")
    exclude = ("sealed",)


@admin.register(Fetch)
class Fetches(ReadOnlyAdmin):
    list_display = ("run_name", "connector", "answered", "created_by", "created_at")
    list_select_related = ("connector", "created_by")
