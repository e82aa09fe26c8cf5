"""Pages of the pooling app in the navigation."""

from judgments.hooks import PageEntry, RoundTab
from judgments.navigation.pages import CONTENT, LEAD, has_started

PAGES = {
    "query_logs": PageEntry("Query logs", "queries", "sampling", group=CONTENT),
    "query_logs_new": PageEntry("Import query log", "query_logs", roles=LEAD),
    "query_log": PageEntry("Query log", "query_logs", "sampling#tiers"),
    "strata": PageEntry("Strata", "queries", "queries#adding-a-stratum-later"),
    "query_groups": PageEntry("Query groups", "queries", "queries#query-groups"),
    "query_group": PageEntry("Query group", "query_groups"),
    "queries_needs": PageEntry("Needs", "queries", "queries#needs"),
    "clicks": PageEntry("Click logs", "qrels", "clicks"),
    "clicks_new": PageEntry("Import click log", "clicks", "clicks#adding-a-click-log", roles=LEAD),
    "click_source": PageEntry("Click log", "clicks"),
    "runs": PageEntry("Runs", "collection", "runs"),
    "runs_new": PageEntry("Add run", "runs", "formats#each-format"),
    "run": PageEntry("Run", "runs", "runs#checks"),
    "connectors": PageEntry("Connectors", "runs", "connectors", group=CONTENT),
    "connector_new": PageEntry("Add connector", "connectors", "connectors#engines"),
    "connector": PageEntry("Connector", "connectors", "connectors#on-pages", name=lambda page: page["connector"].name),
    "connector_change": PageEntry("Edit connector", "connector", "connectors#settings-of-a-connector"),
    "connector_remove": PageEntry("Remove connector", "connector"),
    "pools": PageEntry("Pools", "collection", "pooling"),
    "pool_new": PageEntry("Create pool", "pools", "pooling#strategies", roles=LEAD),
    "pool": PageEntry("Pool", "pools", "pooling#preview"),
    "start": PageEntry("Start with ten queries", "collection", "tutorials/lead", roles=LEAD),
    "round_new": PageEntry("Create round", "rounds", "rounds#creating-a-round", roles=LEAD),
    "round_discovery": PageEntry("Discovery", "round_progress", "pooling#while-a-round-is-open", tabs=True),
}

ROUND_TABS = [
    RoundTab(
        "discovery",
        "Discovery",
        "round_discovery",
        shown=lambda round_: has_started(round_) and not round_.of_answers,
    )
]
