"""The Django project: settings, URLs and the WSGI entry point. No other package imports it."""
