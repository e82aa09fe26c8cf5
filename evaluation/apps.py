"""How does Django find the app ``evaluation``?"""

from __future__ import annotations

from django.apps import AppConfig


class Config(AppConfig):
    name = "evaluation"
