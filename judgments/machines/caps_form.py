"""Form fields for the audit slice and the caps of a machine run, when it starts and when it resumes."""

from __future__ import annotations

from typing import Self

from django import forms

from judgments.machines.machine_runs import MOST_CALLS, MOST_CANARIES, MOST_USD
from judgments.models import MachineRun
from judgments.web.forms import AssayForm, PercentField

LEAST_USD = 0.01


def audit_share() -> PercentField:
    """Return the field for the share of pairs that people always judge."""
    return PercentField(
        "Audit slice",
        min_value=0.1,
        max_value=100,
        initial=10,
        help_text="People always judge this share of all pairs, drawn at random. The machine is compared with their "
        "grades.",
    )


def in_dollars(scope: str) -> forms.FloatField:
    """Return the field for the cap in dollars of a new run; `scope` begins its help text."""
    return forms.FloatField(
        label="Cap in dollars (optional)",
        required=False,
        min_value=LEAST_USD,
        max_value=MOST_USD,
        help_text=f"{scope}. The maximum cost of a call is reserved before the call.",
    )


def in_calls() -> forms.IntegerField:
    """Return the field for the cap in calls of a new run."""
    return forms.IntegerField(
        label="Cap in calls (optional)",
        required=False,
        min_value=1,
        max_value=MOST_CALLS,
        help_text="At least one of the two caps is required.",
    )


def planted_in_all(help_text: str) -> forms.IntegerField:
    """Return the field for the total number of probes when a run resumes."""
    label = "Total prompt-injection probes"
    return forms.IntegerField(label=label, required=False, min_value=0, max_value=MOST_CANARIES, help_text=help_text)


class GoOnForm(AssayForm):
    """New caps of a run that resumes; an empty field leaves a cap unchanged."""

    cap_usd = forms.FloatField(label="Cap in dollars", required=False, min_value=LEAST_USD, max_value=MOST_USD)
    cap_calls = forms.IntegerField(label="Cap in calls", required=False, min_value=1, max_value=MOST_CALLS)

    @classmethod
    def of(cls, run: MachineRun) -> Self:
        """Return a form filled with the current caps."""
        return cls(initial={name: getattr(run, name) for name in cls.base_fields})
