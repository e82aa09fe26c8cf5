"""Form fields for the caps of a machine run, when it starts and when it resumes."""

from __future__ import annotations

from typing import Self

from django import forms

from judgments.forms import AssayForm
from judgments.machine_runs import MOST_CALLS, MOST_CANARIES, MOST_USD
from judgments.models import MachineRun

LEAST_USD = 0.01


def in_dollars(said: str) -> forms.FloatField:
    """The cap in dollars of a run that is to begin; `said` begins the sentence below it."""
    return forms.FloatField(
        label="Cap in dollars (optional)",
        required=False,
        min_value=LEAST_USD,
        max_value=MOST_USD,
        help_text=f"{said}: what a question can cost at most is held back before it is asked.",
    )


def in_calls() -> forms.IntegerField:
    """The cap in calls of a run that is to begin."""
    return forms.IntegerField(
        label="Cap in calls (optional)",
        required=False,
        min_value=1,
        max_value=MOST_CALLS,
        help_text="One of the two caps is needed.",
    )


def planted_in_all(label: str, help_text: str) -> forms.IntegerField:
    """On how many planted text is tried in all, of a run that goes on."""
    return forms.IntegerField(label=label, required=False, min_value=0, max_value=MOST_CANARIES, help_text=help_text)


class GoOnForm(AssayForm):
    """Other caps for a run that goes on; left empty, each stays."""

    cap_usd = forms.FloatField(label="Cap in dollars", required=False, min_value=LEAST_USD, max_value=MOST_USD)
    cap_calls = forms.IntegerField(label="Cap in calls", required=False, min_value=1, max_value=MOST_CALLS)

    @classmethod
    def of(cls, run: MachineRun) -> Self:
        """With what it has."""
        return cls(initial={name: getattr(run, name) for name in cls.base_fields})
