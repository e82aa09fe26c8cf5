"""Pages of the evaluation app in the navigation, and its search in the command palette."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.urls import reverse

from judgments.hooks import PageEntry, Search
from judgments.navigation.pages import EVALUATION, EVERYBODY, LEAD
from judgments.navigation.search import Hit, Scope, named


def snapshot_of(page: Mapping[str, Any]) -> Any:
    return page.get("snapshot") or getattr(page.get("scoring"), "snapshot", None)


def scores_name(page: Mapping[str, Any]) -> str:
    return f"Scores on {snapshot}" if (snapshot := snapshot_of(page)) else "Scores"


def of_snapshot(page: Mapping[str, Any]) -> str:
    """Return the query string that opens the scores on the snapshot of the page."""
    return f"snapshot={snapshot.uuid}" if (snapshot := snapshot_of(page)) else ""


def comparison_name(page: Mapping[str, Any]) -> str:
    choice = page.get("choice")
    return f"{choice.b.run} vs. {choice.a.run}" if choice else "Comparison"


def of_comparison(page: Mapping[str, Any]) -> str:
    return str(page.get("compare_url", "")).partition("?")[2]


PAGES = {
    "collection": PageEntry("Overview", "home", "tutorials/lead"),
    "scores": PageEntry("Scores", "collection", "metrics", name=scores_name, query=of_snapshot),
    "scores_new": PageEntry("Score runs", "scores"),
    "scores_history": PageEntry("Scores over time", "scores"),
    "scoring": PageEntry("Scoring", "scores"),
    "scores_query": PageEntry("Query", "scores", roles=()),
    "scores_compare": PageEntry(
        "Comparison", "scores", "significance#how-to-read-a-comparison", name=comparison_name, query=of_comparison
    ),
    "scores_turning": PageEntry(
        "Decision-critical pairs", "scores_compare", "decisions#decision-critical-pairs", roles=()
    ),
    "scores_reuse": PageEntry("Reusability", "scores", "reuse"),
    "compare_systems": PageEntry("Compare two systems", "home", "stopping", roles=()),
    "decisions": PageEntry("Decisions", "scores", "stopping", group=EVALUATION),
    "decision_new": PageEntry("Compare two systems", "decisions", roles=LEAD),
    "decision_fetching": PageEntry("Results", "decision_new", roles=()),
    "decision_plan": PageEntry("Plan", "decision_new", roles=()),
    "decision": PageEntry("Decision", "decisions", name=lambda page: str(page["decision"])),
    "decision_report": PageEntry("Report", "decision"),
    "decision_lists": PageEntry("Whole lists", "decision", roles=EVERYBODY),
    "gates": PageEntry("Gates", "scores", "gates#with-a-server", group=EVALUATION),
    "gate": PageEntry("Gate", "gates", "gates#rules"),
    "rag": PageEntry("RAG", "collection", "rag-server", group=EVALUATION),
    "rag_new": PageEntry("Create sample set", "rag", "rag-server#samples"),
    "samples_new": PageEntry("Import samples", "rag", "rag-server#samples"),
    "outputs_new": PageEntry("Import outputs", "rag", "rag-server#systems"),
    "rag_set": PageEntry("Sample set", "rag", "rag-server#scorecards", name=lambda page: str(page["sample_set"])),
    "rag_grade": PageEntry("Grade answers", "rag_set", "rag-server#human-grades", roles=LEAD),
    "rag_critic": PageEntry("Critic", "rag_set", "rag-server#critic", roles=LEAD),
    "rag_score": PageEntry("Settings", "rag_set"),
    "rag_compare": PageEntry("Comparison", "rag_set", "rag-server#comparing-answers"),
    "rag_samples": PageEntry("Samples", "rag_set", "rag-server#samples"),
    "rag_sample": PageEntry("Sample", "rag_samples"),
    "freshness": PageEntry("Freshness", "collection", "freshness"),
    "freshness_feed": PageEntry("Upload engine response", "freshness", "freshness#on-the-server"),
    "freshness_fields": PageEntry("Fields", "freshness", "freshness#signals", roles=LEAD),
    "freshness_history": PageEntry("Checks", "freshness"),
    "freshness_declare": PageEntry("Record change", "freshness", "freshness#the-baseline", roles=LEAD),
    "snapshots_compare": PageEntry("Compare snapshots", "snapshots", "snapshots#comparing-two-snapshots"),
    "round_raters": PageEntry(
        "Effect of each rater", "round_agreement", "snapshots#effect-of-each-rater-and-each-conflict", tabs=True
    ),
    "machine_judge": PageEntry(
        "Machine judge", "judges", "machine-judges#workflow", roles=LEAD, name=lambda page: page["judge"].name
    ),
    "judge_estimates": PageEntry("Estimates", "judges", "machine-judges#estimates", roles=LEAD),
}


def find_decisions(scope: Scope, words: str, limit: int) -> Iterator[Hit]:
    for row in named(scope.collection.decisions.all(), words, "name")[:limit]:
        yield Hit(str(row), "", reverse("decision", args=[scope.collection.slug, row.uuid]))


SEARCH = Search("Decisions", find_decisions)
