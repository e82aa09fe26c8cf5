"""Pages of the judgments app in the navigation, the tabs of a round, and the addresses of routes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from judgments import hooks
from judgments.hooks import PageEntry, RoundTab
from judgments.models import Collection, Role, Round

LEAD = (Role.LEAD,)
EVERYBODY = (Role.LEAD, Role.ENGINEER, Role.RATER)

# Groups of the collection's menu.
CONTENT, EVALUATION, MACHINES, COLLECTION = "Content", "Evaluation", "Machines", "Collection"

PAGES = {
    "home": PageEntry("My collections", help="index", roles=EVERYBODY),
    "login": PageEntry("Log in", help="index", roles=()),
    "invite": PageEntry("Invitation", help="rounds#inviting-people-without-an-account", roles=()),
    "tokens": PageEntry("Tokens", "home", "api#authentication", roles=EVERYBODY),
    "station_keys": PageEntry("Keyboard shortcuts", "home", "rating#keys", roles=EVERYBODY),
    "password": PageEntry("Password", "home", "operating#wrong-passwords", roles=EVERYBODY),
    "collection_new": PageEntry("Create collection", "home", "tutorials/lead#create-a-collection", roles=()),
    "find": PageEntry("Search", "home", "index#finding-your-way", roles=EVERYBODY),
    # Content of a collection.
    "documents": PageEntry("Documents", "collection", "api#documents-queries-runs-logs-and-labels", group=CONTENT),
    "documents_new": PageEntry("Add documents", "documents", "formats#each-format", roles=LEAD),
    "document": PageEntry("Document", "documents"),
    "guidelines": PageEntry("Guidelines", "collection", "rounds#guidelines", group=CONTENT),
    "guidelines_new": PageEntry("Write guidelines", "guidelines", roles=LEAD),
    "guidelines_version": PageEntry("Guidelines", "guidelines"),
    "qrels": PageEntry("Label sources", "collection", "clicks", group=CONTENT),
    "qrels_new": PageEntry("Import labels", "qrels", "formats#each-format", roles=LEAD),
    "queries": PageEntry("Queries", "collection", "queries"),
    "queries_new": PageEntry("Add queries", "queries", "formats#each-format", roles=LEAD),
    "query": PageEntry("Query", "queries"),
    "upload": PageEntry("Import", "collection", "formats#strictness"),
    "upload_read": PageEntry("Import", "collection", "formats#strictness", roles=LEAD),
    "uploads_together": PageEntry("Import files", "collection", "formats#strictness"),
    # Rounds.
    "rounds": PageEntry("Rounds", "collection", "rounds"),
    "judgments_new": PageEntry("Import judgments", "rounds", "formats#each-format", roles=LEAD),
    "round_progress": PageEntry(
        "Progress", "rounds", "rounds#hours-left", tabs=True, name=lambda page: page["round"].name
    ),
    "round_settings": PageEntry("Settings", "round_progress", "rounds#settings", roles=LEAD, tabs=True),
    "round_agreement": PageEntry("Agreement", "round_progress", "agreement#on-pages", tabs=True),
    "conflicts": PageEntry(
        "Conflicts",
        "round_progress",
        "rounds#conflicts",
        roles=LEAD,
        tabs=True,
        query=lambda page: "sort=-effect" if page.get("by") else "",
    ),
    "conflict": PageEntry("Conflict", "conflicts", roles=LEAD),
    "conflicts_keyboard": PageEntry("Resolve by keyboard", "conflicts", roles=LEAD),
    "conflicts_by_rule": PageEntry(
        "Resolve by rule", "conflicts", "agreement#resolving-many-conflicts", roles=LEAD, tabs=True
    ),
    "unrateable": PageEntry("Pairs without grades", "conflicts", roles=LEAD, tabs=True),
    "round_quality": PageEntry("Raters", "round_progress", "quality#checks", roles=LEAD, tabs=True),
    "round_rater": PageEntry(
        "Rater", "round_quality", roles=LEAD, tabs=True, name=lambda page: str(page["round_rater"].user)
    ),
    "rater_answers": PageEntry("Answers", "round_rater", roles=LEAD, tabs=True),
    "rater_requeue": PageEntry("Return to queue", "round_rater", "quality#pausing-raters-and-regrading", roles=LEAD),
    "calibration": PageEntry("Gold pairs", "round_progress", "quality#gold-pairs", roles=LEAD, tabs=True),
    "judges": PageEntry("Machine judges", "round_progress", "machine-judges", roles=LEAD, tabs=True),
    "judge_new": PageEntry("Add judge", "judges", "machine-judges#which-judges", roles=LEAD, tabs=True),
    "routing": PageEntry("Pairs for people", "judges", "machine-judges#workflow", roles=LEAD, tabs=True),
    "judge_answers": PageEntry("Answers", "machine_judge", roles=LEAD),
    "judge_ledger": PageEntry("Call log", "machine_judge", "machine-judges#what-is-recorded", roles=LEAD),
    "judge_labels": PageEntry("Labels", "machine_judge", "machine-judges#labels", roles=LEAD),
    "battles": PageEntry(
        "Pairwise comparisons", "judges", "machine-judges#pairwise-comparisons", roles=LEAD, tabs=True
    ),
    "battle_new": PageEntry("Start comparisons", "battles", roles=LEAD, tabs=True),
    "battle_import": PageEntry("Import comparisons", "battles", roles=LEAD, tabs=True),
    "battle_run": PageEntry("Pairwise comparison", "battles", roles=LEAD, name=lambda page: str(page["run"])),
    "battle_canaries": PageEntry("Prompt-injection probes", "battle_run", roles=LEAD),
    "battle_query": PageEntry("Query", "battle_run", roles=LEAD),
    # Pages of raters.
    "rate": PageEntry("Rate", "round_progress", "rating", roles=EVERYBODY),
    "rate_last": PageEntry("Last answers", "round_progress", "rating#your-last-10-answers", roles=EVERYBODY),
    "calibrate": PageEntry("Calibration", "round_progress", "quality#qualification", roles=EVERYBODY),
    "settled": PageEntry("Resolutions", "round_progress", "rounds#conflicts", roles=EVERYBODY),
    # Snapshots.
    "snapshots": PageEntry("Snapshots", "collection", "snapshots"),
    "snapshot_new": PageEntry("Freeze labels", "snapshots", "snapshots#several-rounds", roles=LEAD),
    "snapshot_changes": PageEntry("Changed labels", "snapshot_new", "snapshots#several-rounds", roles=LEAD),
    "snapshot_stale": PageEntry("Stale labels", "snapshot_new", "freshness#signals", roles=LEAD),
    "snapshot": PageEntry("Snapshot", "snapshots"),
    "bundles_new": PageEntry("Import bundle", "snapshots", "snapshots#bundles", roles=LEAD),
    # Machines and the collection itself.
    "prompts": PageEntry("Prompts", "collection", "machine-judges#which-judges", group=MACHINES),
    "prompt_new": PageEntry("Write prompt", "prompts", roles=LEAD),
    "prompt": PageEntry("Prompt", "prompts"),
    "providers": PageEntry("Model providers", "collection", "operating#models", group=MACHINES, roles=LEAD),
    "provider_new": PageEntry("Add provider", "providers", roles=LEAD),
    "provider_change": PageEntry("Model provider", "providers", roles=LEAD),
    "members": PageEntry("Members", "collection", "operating#who-may-create-what", group=COLLECTION),
    "members_new": PageEntry("Members", "collection", "operating#who-may-create-what", roles=()),
    "invite_links": PageEntry("Invitation links", "members", "rounds#inviting-people-without-an-account", roles=LEAD),
    "jobs": PageEntry("Jobs", "collection", "operating#jobs", group=COLLECTION),
    "job": PageEntry("Job", "jobs"),
    "activity": PageEntry("Activity", "collection", "operating#audit-trail", group=COLLECTION),
    "archive": PageEntry("Archive", "collection", "rounds#closing-reopening-archiving", group=COLLECTION, roles=LEAD),
    "archive_one": PageEntry("Archive or delete", "archive", roles=LEAD),
    "collection_settings": PageEntry("Settings", "collection", "rounds#result-templates", group=COLLECTION, roles=LEAD),
    "webhooks": PageEntry("Webhooks", "collection", "webhooks", group=COLLECTION, roles=LEAD),
    "webhook_new": PageEntry("Add webhook", "webhooks", "webhooks#allowed-addresses", roles=LEAD),
    "webhook": PageEntry(
        "Webhook", "webhooks", "webhooks#delivery", roles=LEAD, name=lambda page: str(page["webhook"])
    ),
    "webhook_change": PageEntry("Edit webhook", "webhook", "webhooks#allowed-addresses", roles=LEAD),
    "webhook_remove": PageEntry("Delete webhook", "webhook", roles=LEAD),
    "webhook_rotate": PageEntry("Secret", "webhook", "webhooks#verify-the-signature", roles=LEAD),
    "notices": PageEntry("Notices", "home", "notices", roles=EVERYBODY),
    "notice_preferences": PageEntry("Preferences", "notices", "notices#preferences", roles=EVERYBODY),
    "notice_address_confirm": PageEntry("Confirm address", "notices", "notices#e-mail", roles=()),
    "notice_unsubscribe": PageEntry("Unsubscribe", "notices", "notices#e-mail", roles=()),
    "help": PageEntry("Help", help="index", roles=()),
    "help_page": PageEntry("Help", "help", roles=()),
}


def has_started(round_: Round) -> bool:
    return round_.state != Round.State.DRAFT


ROUND_TABS = [
    RoundTab("progress", "Progress", "round_progress", main=True),
    RoundTab("agreement", "Agreement", "round_agreement", main=True),
    RoundTab("conflicts", "Conflicts", "conflicts", main=True, roles=LEAD),
    RoundTab("quality", "Raters", "round_quality", main=True, roles=LEAD, shown=has_started),
    RoundTab("calibration", "Gold pairs", "calibration", roles=LEAD),
    RoundTab("judges", "Machine judges", "judges", roles=LEAD),
    RoundTab("settings", "Settings", "round_settings", roles=LEAD),
]


@cache
def arguments(route: str) -> tuple[str, ...] | None:
    """Return the names of the route's arguments; None if there is no such route."""
    return _all_arguments().get(route)


@cache
def _all_arguments() -> dict[str, tuple[str, ...]]:
    return {
        pattern.name: tuple(pattern.pattern.converters)
        for pattern in _patterns(get_resolver().url_patterns)
        if pattern.name
    }


def _patterns(patterns: Sequence[Any]) -> Iterator[URLPattern]:
    for pattern in patterns:
        if not isinstance(pattern, URLResolver):
            yield pattern
        elif pattern.app_name != "admin":
            yield from _patterns(pattern.url_patterns)


def address(route: str, known: Mapping[str, Any]) -> str:
    """Return the address of the route, filled in from the known values; empty if one is missing."""
    names = arguments(route)
    if names is None or not set(names) <= set(known):
        return ""
    return reverse(route, kwargs={name: known[name] for name in names})


def pages_of(collection: Collection | None, role: str) -> list[tuple[str, str, str]]:
    """Return group, title and address of the pages that the role may open and that take no arguments of their own."""
    known = {"slug": collection.slug} if collection else {}
    routes = []
    for route, page in hooks.PAGES.items():
        own = arguments(route) == (("slug",) if collection else ())
        url = address(route, known) if own and role in page.roles else ""
        if url:
            routes.append((page.group, page.title, url))
    return routes
