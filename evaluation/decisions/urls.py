"""Page and API routes of decisions."""

from django.urls import path

from evaluation.decisions import api, views

urlpatterns = [
    path("compare/", views.compare, name="compare_systems"),
    path("c/<slug:slug>/decisions/", views.decision_list, name="decisions"),
    path("c/<slug:slug>/decisions/new/", views.systems_page, name="decision_new"),
    path("c/<slug:slug>/decisions/new/fetching/", views.fetching_page, name="decision_fetching"),
    path("c/<slug:slug>/decisions/new/plan/", views.plan_page, name="decision_plan"),
    path("c/<slug:slug>/decisions/<uuid:uuid>/", views.decision, name="decision"),
    path("c/<slug:slug>/decisions/<uuid:uuid>/report/", views.report, name="decision_report"),
    path("c/<slug:slug>/decisions/<uuid:uuid>/close/", views.close, name="decision_close"),
    path("c/<slug:slug>/decisions/<uuid:uuid>/lists/", views.lists_page, name="decision_lists"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/decisions/", api.Decisions.as_view()),
    path("collections/<slug:slug>/decisions/<uuid:uuid>/", api.OneDecision.as_view()),
    path("collections/<slug:slug>/decisions/<uuid:uuid>/trace/", api.Trace.as_view()),
    path("collections/<slug:slug>/decisions/<uuid:uuid>/lists/next/", api.NextLists.as_view()),
    path("collections/<slug:slug>/decisions/<uuid:uuid>/preferences/", api.Preferences.as_view()),
]
