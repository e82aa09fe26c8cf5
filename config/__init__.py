"""The Django project: settings, addresses and the WSGI entry. Nobody imports it."""
