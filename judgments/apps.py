"""Django configuration of the ``judgments`` app."""

from __future__ import annotations

from django.apps import AppConfig


class Config(AppConfig):
    name = "judgments"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in

        from judgments import recent_login

        # Every way to log in ends there, the admin's too.
        user_logged_in.connect(recent_login.on_login, dispatch_uid="recent_login")
