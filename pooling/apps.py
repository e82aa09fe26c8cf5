"""How does Django find the app ``pooling``?"""

from __future__ import annotations

from django.apps import AppConfig


class Config(AppConfig):
    name = "pooling"
