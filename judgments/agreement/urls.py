"""Page and API routes of agreement."""

from __future__ import annotations

from django.urls import path

from judgments.agreement.api import agreement as agreement_api
from judgments.agreement.api import conflicts as conflicts_api
from judgments.agreement.api import resolutions as resolutions_api
from judgments.agreement.views import agreement, conflict, conflicts, resolutions

urlpatterns = [
    path("rounds/<uuid:uuid>/agreement/", agreement.agreement, name="round_agreement"),
    path("rounds/<uuid:uuid>/gate/", agreement.set_gate, name="round_gate"),
    path("rounds/<uuid:uuid>/rejudge/", agreement.rejudge, name="round_rejudge"),
    path("rounds/<uuid:uuid>/conflicts/", conflicts.conflict_list, name="conflicts"),
    path("rounds/<uuid:uuid>/conflicts/<uuid:pair>/", conflict.conflict, name="conflict"),
    path("rounds/<uuid:uuid>/conflicts/<uuid:pair>/example/", conflict.example, name="conflict_example"),
    path("rounds/<uuid:uuid>/settled/", resolutions.settled, name="settled"),
    path("rounds/<uuid:uuid>/unrateable/", conflicts.unrateable_list, name="unrateable"),
]

api_urlpatterns = [
    path("rounds/<uuid:uuid>/agreement/", agreement_api.Agreement.as_view()),
    path("rounds/<uuid:uuid>/rejudge/", agreement_api.Rejudge.as_view()),
    path("rounds/<uuid:uuid>/conflicts/", conflicts_api.Conflicts.as_view()),
    path("rounds/<uuid:uuid>/conflicts/<uuid:pair>/resolve/", conflicts_api.Resolve.as_view()),
    path("rounds/<uuid:uuid>/conflicts/<uuid:pair>/settle/", conflicts_api.Settle.as_view()),
    path("rounds/<uuid:uuid>/unrateable/", conflicts_api.Unrateable.as_view()),
    path("rounds/<uuid:uuid>/settled/", resolutions_api.Settled.as_view()),
]
