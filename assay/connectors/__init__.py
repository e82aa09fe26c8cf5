"""Connectors to live search engines.

A connector turns a query into one request to a live engine, and the engine's response into hits: ids, scores and the
documents' fields. `CONNECTORS` is the table of connectors; `fetch.fetch` sends many queries to one of them.
"""

from __future__ import annotations

from assay.connectors.connector import ConnectorKind, Engine, Hit, Setting
from assay.core.registry import Family
from assay.network.allowed_addresses import Allowed
from assay.network.faults import EngineFault

CONNECTORS: Family[ConnectorKind] = Family(
    "connector",
    {
        "elasticsearch": "assay.connectors.elasticsearch:ELASTICSEARCH",
        "opensearch": "assay.connectors.opensearch:OPENSEARCH",
        "solr": "assay.connectors.solr:SOLR",
        "vespa": "assay.connectors.vespa:VESPA",
        "algolia": "assay.connectors.algolia:ALGOLIA",
        "typesense": "assay.connectors.typesense:TYPESENSE",
        "json-http": "assay.connectors.json_http:JSON_HTTP",
        "postgresql": "assay.connectors.postgresql:POSTGRESQL",
        "sqlite-fts5": "assay.connectors.sqlite_fts5:SQLITE_FTS5",
        "static-file": "assay.connectors.static_file:STATIC_FILE",
    },
    group="assay.connectors",
)

__all__ = ["CONNECTORS", "Allowed", "ConnectorKind", "Engine", "EngineFault", "Hit", "Setting"]
