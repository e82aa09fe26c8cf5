"""Forms for the caps and auto-acceptance of machine judges."""

from __future__ import annotations

from django import forms

from judgments.machines import caps_form, kinds
from judgments.machines.judge_runs import model_judges
from judgments.models import JudgeRun
from judgments.web.forms import AssayForm


class GoOnForm(caps_form.GoOnForm):
    """New caps and number of probes when a judge resumes."""

    canaries = caps_form.planted_in_all(
        "Total prompt-injection probes", "Tests whether injected text changes the grade. Each probe takes two calls."
    )


def go_on_form(run: JudgeRun | None) -> GoOnForm | None:
    """Return the form for a run; caps and probes are for judges that call a model."""
    if run is None:
        return None
    form = GoOnForm.of(run)
    if not model_judges.asks_a_model(run.judge):
        form.fields.clear()
    elif not kinds.says_grades(run.judge.kind):
        del form.fields["canaries"]
    return form


class AcceptForm(AssayForm):
    """Form to accept a judge's lowest grade automatically."""

    bound = forms.FloatField(
        label="Minimum precision, in percent",
        min_value=50,
        max_value=99.9,
        initial=95,
        help_text="The minimum share of accepted pairs that are not relevant, estimated from the audit slice with 95% "
        "confidence over all judges and requests.",
    )
