"""WSGI application of the server."""

from __future__ import annotations

import os
from importlib import import_module

from django.core.wsgi import get_wsgi_application
from django.urls import resolve

from judgments.jobs import limited_process

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

# What the first reader of scores would wait for is imported before anyone asks: polars alone takes half a second.
for module in ("polars", "scipy.special", "assay.significance.compare", "assay.scoring.evaluate"):
    import_module(module)

# Import every page and endpoint now, so that the first request does not wait for it.
resolve("/")

# So does whoever sends the first file: the helper that has it read takes a second to start.
limited_process.warm()
