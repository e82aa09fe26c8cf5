"""Page and API routes of strata."""

from django.urls import path

from pooling.strata.api import Drafts, Proposals, Strata
from pooling.strata.views import stratum_list

urlpatterns = [
    path("c/<slug:slug>/strata/", stratum_list, name="strata"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/strata/", Strata.as_view()),
    path("collections/<slug:slug>/query-groups/proposals/", Proposals.as_view()),
    path("collections/<slug:slug>/queries/drafts/", Drafts.as_view()),
]
