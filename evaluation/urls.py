"""Routes of the evaluation app: pages and API of its features."""

from __future__ import annotations

from evaluation.comparison import urls as comparison
from evaluation.decisions import urls as decisions
from evaluation.effects import urls as effects
from evaluation.freshness import urls as freshness
from evaluation.gates import urls as gates
from evaluation.judges import urls as judges
from evaluation.overview import urls as overview
from evaluation.rag import urls as rag
from evaluation.reuse import urls as reuse
from evaluation.scoring import urls as scoring

urlpatterns = [
    *overview.urlpatterns,
    *freshness.urlpatterns,
    *scoring.urlpatterns,
    *comparison.urlpatterns,
    *decisions.urlpatterns,
    *gates.urlpatterns,
    *reuse.urlpatterns,
    *rag.urlpatterns,
    *effects.urlpatterns,
    *judges.urlpatterns,
]
api_urlpatterns = [
    *freshness.api_urlpatterns,
    *scoring.api_urlpatterns,
    *comparison.api_urlpatterns,
    *decisions.api_urlpatterns,
    *gates.api_urlpatterns,
    *reuse.api_urlpatterns,
    *rag.api_urlpatterns,
    *effects.api_urlpatterns,
    *judges.api_urlpatterns,
]
