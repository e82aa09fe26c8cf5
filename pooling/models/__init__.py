"""Which rows hold logs, runs and pools?"""

from pooling.models.pool import Pool, PoolEntry
from pooling.models.query_log import QueryLog
from pooling.models.run import Run

__all__ = ["Pool", "PoolEntry", "QueryLog", "Run"]
