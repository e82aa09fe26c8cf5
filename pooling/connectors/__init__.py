"""Which search engines can be asked, and what do they answer to a query?

A connector turns a query into one request to a live engine, and the engine's reply into hits: ids, scores and the
documents' fields. The family's table is `CONNECTORS`; `fetch.fetch` asks one of them many queries.
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
