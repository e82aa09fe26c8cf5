"""WSGI application of the server."""

import os
from importlib import import_module

from django.core.wsgi import get_wsgi_application
from django.urls import resolve

from judgments.jobs import limited_process

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

# Import polars now, because it takes half a second and the first reader of scores would have to wait.
for module in ("polars", "scipy.special", "assay.significance.compare", "assay.scoring.evaluate"):
    import_module(module)

# Import every page and endpoint now, so that the first request does not wait for it.
resolve("/")

# Start the helper that reads uploads now; it takes a second, and the first upload would have to wait.
limited_process.warm()
