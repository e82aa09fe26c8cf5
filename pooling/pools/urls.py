"""Page and API routes of pools."""

from django.urls import path

from pooling.pools import api
from pooling.pools.views import discovery, pools
from pooling.pools.views import new as pool_new
from pooling.pools.views import pools as duplicates

urlpatterns = [
    path("c/<slug:slug>/pools/", pools.pool_list, name="pools"),
    path("c/<slug:slug>/pools/new/", pool_new.pool_new, name="pool_new"),
    path("c/<slug:slug>/pools/<uuid:uuid>/", pools.pool, name="pool"),
    path("c/<slug:slug>/pools/<uuid:uuid>/apart/", duplicates.pool_apart, name="pool_apart"),
    path("rounds/<uuid:uuid>/discovery/", discovery.round_discovery, name="round_discovery"),
    path("rounds/<uuid:uuid>/refill/", discovery.round_refill, name="round_refill"),
]

api_urlpatterns = [
    path("collections/<slug:slug>/pools/", api.Pools.as_view()),
    path("collections/<slug:slug>/pools/<uuid:uuid>/duplicates/", api.PoolDuplicates.as_view()),
]
