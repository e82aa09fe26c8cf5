"""How does Django find the app ``pooling``, and what does it add to the rooms below?"""

from __future__ import annotations

from django.apps import AppConfig


class Config(AppConfig):
    name = "pooling"

    def ready(self) -> None:
        from judgments.ingestion import KINDS
        from pooling.query_logs import QUERY_LOGS
        from pooling.runs import RUNS

        KINDS.register(RUNS.name, RUNS)
        KINDS.register(QUERY_LOGS.name, QUERY_LOGS)
