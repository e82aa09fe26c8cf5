"""Pagination of long API lists."""

from __future__ import annotations

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """Pages of 100, up to 1,000 by ``?page_size=``; ``results``, ``next``, ``previous``, ``count``."""

    page_size = 100
    max_page_size = 1000
    page_size_query_param = "page_size"
