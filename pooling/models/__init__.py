"""Database models of the pooling app."""

from pooling.models.connector import Connector, Fetch
from pooling.models.pool import Pool, PoolEntry
from pooling.models.query_log import ClickCount, QueryLog
from pooling.models.refill import Refill, RefillStep
from pooling.models.run import Run

__all__ = ["ClickCount", "Connector", "Fetch", "Pool", "PoolEntry", "QueryLog", "Refill", "RefillStep", "Run"]
