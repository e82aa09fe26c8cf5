"""Connectors to live search engines.

A connector turns a query into one request to a live engine, and the engine's response into hits: ids, scores and the
documents' fields. `CONNECTORS` is the table of connectors; `fetch.fetch` sends many queries to one of them.
"""

from __future__ import annotations

from judgments.core.family import Family
from judgments.network.addresses import Allowed
from judgments.network.faults import EngineFault
from pooling.connectors.contract import ConnectorKind, Engine, Hit, Setting

CONNECTORS: Family[ConnectorKind] = Family(
    "connector",
    {
        "elasticsearch": "pooling.connectors.elasticsearch:ELASTICSEARCH",
        "opensearch": "pooling.connectors.opensearch:OPENSEARCH",
        "solr": "pooling.connectors.solr:SOLR",
        "vespa": "pooling.connectors.vespa:VESPA",
        "algolia": "pooling.connectors.algolia:ALGOLIA",
        "typesense": "pooling.connectors.typesense:TYPESENSE",
        "json-http": "pooling.connectors.json_http:JSON_HTTP",
        "postgresql": "pooling.connectors.postgresql:POSTGRESQL",
        "sqlite-fts5": "pooling.connectors.sqlite_fts5:SQLITE_FTS5",
        "static-file": "pooling.connectors.static_file:STATIC_FILE",
    },
    group="assay.connectors",
)

__all__ = ["CONNECTORS", "Allowed", "ConnectorKind", "Engine", "EngineFault", "Hit", "Setting"]
