"""Read-only admin pages for scorings."""

from django.contrib import admin

from evaluation.models import Scoring
from judgments.admin import ReadOnlyAdmin


@admin.register(Scoring)
class Scorings(ReadOnlyAdmin):
    list_display = ("run", "snapshot", "collection", "created_by", "created_at")
    list_select_related = ("run", "snapshot", "collection", "created_by")
