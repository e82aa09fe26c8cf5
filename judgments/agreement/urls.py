"""Page and API routes of agreement."""

from django.urls import path

from judgments.agreement import api
from judgments.agreement.views import agreement, by_rule, conflict, conflicts, keyboard
from judgments.agreement.views import conflict as resolutions

urlpatterns = [
    path("rounds/<uuid:uuid>/agreement/", agreement.agreement, name="round_agreement"),
    path("rounds/<uuid:uuid>/gate/", agreement.set_gate, name="round_gate"),
    path("rounds/<uuid:uuid>/rejudge/", agreement.rejudge, name="round_rejudge"),
    path("rounds/<uuid:uuid>/conflicts/", conflicts.conflict_list, name="conflicts"),
    path("rounds/<uuid:uuid>/conflicts/keyboard/", keyboard.keyboard, name="conflicts_keyboard"),
    path("rounds/<uuid:uuid>/conflicts/keyboard/next/", keyboard.next_conflicts, name="conflicts_keyboard_next"),
    path("rounds/<uuid:uuid>/conflicts/by-rule/", by_rule.by_rule, name="conflicts_by_rule"),
    path("rounds/<uuid:uuid>/conflicts/by-rule/<uuid:act>/undo/", by_rule.undo, name="conflicts_by_rule_undo"),
    path("rounds/<uuid:uuid>/conflicts/<uuid:pair>/", conflict.conflict, name="conflict"),
    path("rounds/<uuid:uuid>/conflicts/<uuid:pair>/example/", conflict.example, name="conflict_example"),
    path("rounds/<uuid:uuid>/settled/", resolutions.settled, name="settled"),
    path("rounds/<uuid:uuid>/unrateable/", conflicts.unrateable_list, name="unrateable"),
]

api_urlpatterns = [
    path("rounds/<uuid:uuid>/agreement/", api.Agreement.as_view()),
    path("rounds/<uuid:uuid>/rejudge/", api.Rejudge.as_view()),
    path("rounds/<uuid:uuid>/conflicts/", api.Conflicts.as_view()),
    path("rounds/<uuid:uuid>/conflicts/by-rule/", api.ByRule.as_view()),
    path("rounds/<uuid:uuid>/conflicts/by-rule/<uuid:act>/undo/", api.UndoByRule.as_view()),
    path("rounds/<uuid:uuid>/resolutions/", api.Resolutions.as_view()),
    path("rounds/<uuid:uuid>/resolutions/<uuid:client_id>/undo/", api.UndoResolution.as_view()),
    path("rounds/<uuid:uuid>/conflicts/<uuid:pair>/resolve/", api.Resolve.as_view()),
    path("rounds/<uuid:uuid>/conflicts/<uuid:pair>/settle/", api.Settle.as_view()),
    path("rounds/<uuid:uuid>/unrateable/", api.Unrateable.as_view()),
    path("rounds/<uuid:uuid>/settled/", api.ResolutionsForRater.as_view()),
]
