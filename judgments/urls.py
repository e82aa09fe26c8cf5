"""Routes of the judgments app: pages and API of its features."""

from judgments.agreement import urls as agreement
from judgments.archive import urls as archive
from judgments.documents import urls as documents
from judgments.guidelines import urls as guidelines
from judgments.home import urls as home
from judgments.imports import urls as imports
from judgments.jobs import urls as jobs
from judgments.machines.judge_runs import urls as judge_runs
from judgments.machines.pairwise import urls as pairwise
from judgments.machines.prompts import urls as prompts
from judgments.machines.providers import urls as providers
from judgments.machines.tryouts import urls as tryouts
from judgments.members import urls as members
from judgments.navigation import urls as navigation
from judgments.notices import urls as notices
from judgments.progress import urls as progress
from judgments.quality import urls as quality
from judgments.queries import urls as queries
from judgments.rating import urls as rating
from judgments.rounds import urls as rounds
from judgments.snapshots import urls as snapshots
from judgments.webhooks import urls as webhooks

urlpatterns = [
    *home.urlpatterns,
    *navigation.urlpatterns,
    *rating.urlpatterns,
    *members.urlpatterns,
    *archive.urlpatterns,
    *jobs.urlpatterns,
    *queries.urlpatterns,
    *documents.urlpatterns,
    *imports.urlpatterns,
    *rounds.urlpatterns,
    *progress.urlpatterns,
    *agreement.urlpatterns,
    *quality.urlpatterns,
    *judge_runs.urlpatterns,
    *pairwise.urlpatterns,
    *providers.urlpatterns,
    *prompts.urlpatterns,
    *tryouts.urlpatterns,
    *snapshots.urlpatterns,
    *guidelines.urlpatterns,
    *webhooks.urlpatterns,
    *notices.urlpatterns,
]
api_urlpatterns = [
    *rating.api_urlpatterns,
    *members.api_urlpatterns,
    *archive.api_urlpatterns,
    *jobs.api_urlpatterns,
    *queries.api_urlpatterns,
    *imports.api_urlpatterns,
    *rounds.api_urlpatterns,
    *progress.api_urlpatterns,
    *agreement.api_urlpatterns,
    *quality.api_urlpatterns,
    *judge_runs.api_urlpatterns,
    *pairwise.api_urlpatterns,
    *providers.api_urlpatterns,
    *snapshots.api_urlpatterns,
    *guidelines.api_urlpatterns,
    *tryouts.api_urlpatterns,
    *webhooks.api_urlpatterns,
    *notices.api_urlpatterns,
]
