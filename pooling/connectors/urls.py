"""Page and API routes of connectors."""

from django.urls import path

from pooling.connectors import api, views

urlpatterns = [
    path("c/<slug:slug>/connectors/", views.connector_list, name="connectors"),
    path("c/<slug:slug>/connectors/new/", views.connector_new, name="connector_new"),
    path("c/<slug:slug>/connectors/<uuid:uuid>/", views.connector, name="connector"),
    path("c/<slug:slug>/connectors/<uuid:uuid>/change/", views.connector_change, name="connector_change"),
    path("c/<slug:slug>/connectors/<uuid:uuid>/remove/", views.connector_remove, name="connector_remove"),
    path("c/<slug:slug>/connectors/<uuid:uuid>/try/", views.connector_try, name="connector_try"),
    path("c/<slug:slug>/connectors/<uuid:uuid>/go-on/", views.fetch_go_on, name="fetch_go_on"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/connectors/", api.Connectors.as_view()),
    path("collections/<slug:slug>/connectors/<uuid:uuid>/", api.OneConnector.as_view()),
    path("collections/<slug:slug>/connectors/<uuid:uuid>/try/", api.TryConnector.as_view()),
    path("collections/<slug:slug>/connectors/<uuid:uuid>/fetches/", api.Fetches.as_view()),
    path("collections/<slug:slug>/connectors/<uuid:uuid>/fetches/<uuid:fetch>/go-on/", api.GoOnWithFetch.as_view()),
]
