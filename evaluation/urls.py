"""Routes of the evaluation app: pages and API of its features."""

from importlib import import_module

FEATURES = (
    "overview", "freshness", "scoring", "comparison", "decisions", "gates", "reuse", "rag", "effects", "judges",
)  # fmt: skip
_routes = [import_module(f"evaluation.{feature}.urls") for feature in FEATURES]
urlpatterns = [pattern for routes in _routes for pattern in routes.urlpatterns]
api_urlpatterns = [pattern for routes in _routes for pattern in getattr(routes, "api_urlpatterns", ())]
