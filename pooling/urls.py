"""Routes of the pooling app: pages and API of its features."""

from pooling.clicks import urls as clicks
from pooling.connectors import urls as connectors
from pooling.logs import urls as logs
from pooling.pools import urls as pools
from pooling.queries import urls as queries
from pooling.rounds import urls as rounds
from pooling.runs import urls as runs
from pooling.strata import urls as strata

urlpatterns = [
    *queries.urlpatterns,
    *strata.urlpatterns,
    *rounds.urlpatterns,
    *logs.urlpatterns,
    *clicks.urlpatterns,
    *runs.urlpatterns,
    *connectors.urlpatterns,
    *pools.urlpatterns,
]
api_urlpatterns = [
    *strata.api_urlpatterns,
    *rounds.api_urlpatterns,
    *logs.api_urlpatterns,
    *clicks.api_urlpatterns,
    *runs.api_urlpatterns,
    *connectors.api_urlpatterns,
    *pools.api_urlpatterns,
]
