"""Which endpoints does this room answer?"""

from __future__ import annotations

from django.urls import path

from judgments.api import (
    collections,
    conflicts,
    documents,
    guidelines,
    jobs,
    members,
    qrels,
    queries,
    query_groups,
    rating,
    reliability,
    rounds,
    snapshots,
    tokens,
)

urlpatterns = [
    path("tokens/", tokens.Tokens.as_view()),
    path("tokens/<uuid:uuid>/", tokens.OneToken.as_view()),
    path("jobs/<uuid:uuid>/", jobs.OneJob.as_view()),
    path("jobs/<uuid:uuid>/cancel/", jobs.CancelJob.as_view()),
    path("collections/", collections.Collections.as_view()),
    path("collections/<slug:slug>/", collections.OneCollection.as_view()),
    path("collections/<slug:slug>/members/", members.Members.as_view()),
    path("collections/<slug:slug>/documents/", documents.Documents.as_view()),
    path("collections/<slug:slug>/queries/", queries.Queries.as_view()),
    path("collections/<slug:slug>/queries/<uuid:uuid>/", queries.OneQuery.as_view()),
    path("collections/<slug:slug>/query-groups/", query_groups.QueryGroups.as_view()),
    path("collections/<slug:slug>/query-groups/<uuid:uuid>/", query_groups.OneQueryGroup.as_view()),
    path("collections/<slug:slug>/guidelines/", guidelines.Versions.as_view()),
    path("collections/<slug:slug>/guidelines/<int:number>/", guidelines.OneVersion.as_view()),
    path("collections/<slug:slug>/guidelines/examples/", guidelines.Examples.as_view()),
    path("collections/<slug:slug>/guidelines/examples/<uuid:uuid>/", guidelines.OneExample.as_view()),
    path("collections/<slug:slug>/qrels/", qrels.LabelSources.as_view()),
    path("collections/<slug:slug>/snapshots/", snapshots.Snapshots.as_view()),
    path("collections/<slug:slug>/snapshots/preview/", snapshots.Preview.as_view()),
    path("rounds/<uuid:uuid>/", rounds.OneRound.as_view()),
    path("rounds/<uuid:uuid>/open/", rounds.OpenRound.as_view()),
    path("rounds/<uuid:uuid>/close/", rounds.CloseRound.as_view()),
    path("rounds/<uuid:uuid>/agreement/", reliability.Agreement.as_view()),
    path("rounds/<uuid:uuid>/progress/", reliability.Progress.as_view()),
    path("rounds/<uuid:uuid>/conflicts/", conflicts.Conflicts.as_view()),
    path("rounds/<uuid:uuid>/conflicts/<uuid:pair>/settle/", conflicts.Settle.as_view()),
    path("rounds/<uuid:uuid>/unrateable/", conflicts.Unrateable.as_view()),
    path("rounds/<uuid:uuid>/batch/", rating.Batch.as_view()),
    path("rounds/<uuid:uuid>/judgments/", rating.Judgments.as_view()),
    path("rounds/<uuid:uuid>/judgments/<uuid:client_id>/undo/", rating.Undo.as_view()),
    path("snapshots/<uuid:uuid>/", snapshots.OneSnapshot.as_view()),
    path("snapshots/<uuid:uuid>/manifest/", snapshots.Manifest.as_view()),
    # Not called <format>: DRF would take that for the format of its own answer.
    path("snapshots/<uuid:uuid>/export/<str:name>/", snapshots.Export.as_view()),
]
