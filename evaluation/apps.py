"""How does Django find the app ``evaluation``, and what does it add to the rooms below?"""

from __future__ import annotations

from django.apps import AppConfig


class Config(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from evaluation.scoring_job import work_on_scores
        from judgments.jobs import KINDS

        KINDS.register("score", work_on_scores)
