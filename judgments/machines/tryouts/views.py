"""Tryout pages: write and try a prompt, and send a provider a test question."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from assay.core.errors import NotFound, NotValid
from judgments.machines.judge_runs import expected_answers
from judgments.machines.prompts import prompts
from judgments.machines.providers.forms import APART, models_of
from judgments.machines.providers.views import reached
from judgments.machines.tryouts import tryouts
from judgments.models import Collection
from judgments.web import access
from judgments.web.forms import AssayForm
from judgments.web.pages import errors_as_messages, finish, form_page, post_action


class PromptForm(AssayForm):
    """Form for a prompt."""

    name = forms.CharField(
        max_length=80, help_text="If a prompt has this name already, the text becomes its next version."
    )
    system = forms.CharField(
        label="System prompt (optional)",
        required=False,
        max_length=prompts.LONGEST,
        widget=forms.Textarea(attrs={"rows": 4}),
    )
    prompt = forms.CharField(
        max_length=prompts.LONGEST,
        widget=forms.Textarea(attrs={"rows": 22, "class": "mono"}),
        help_text="Required placeholders: {query}, {scale} and {document}. Comparisons require {query}, {first} and "
        "{second} instead. Expected answers require {query}, {expected} and {document}.",
    )
    asks = forms.ChoiceField(
        label="Kind of answer",
        required=False,
        choices=[
            ("", "Detect from placeholders"),
            *((name, what.capitalize()) for name, what in prompts.ASKS.items()),
        ],
        help_text="“An answer from the document” can’t be detected, because its prompt needs only {query} and "
        "{document}.",
    )
    note = forms.CharField(label="Changes (optional)", required=False, max_length=500)


class TryForm(AssayForm):
    """Form to try a prompt on some pairs with a model."""

    round = forms.ChoiceField(label="Pairs of the round")
    model = forms.ChoiceField()
    pairs = forms.IntegerField(min_value=1, max_value=10, initial=3, help_text="Each pair is one paid call.")
    expected = forms.CharField(
        label="Expected answers (for prompts that compare with them)",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 2, "class": "mono", "spellcheck": "false"}),
        help_text='JSON such as {"q1": ["an answer"]}, or CSV with the header query_id,expected.',
    )

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._providers = list(collection.providers.all())
        self._rounds = list(collection.rounds.all())
        for name, choices in (
            ("round", [(str(one.uuid), one.name) for one in self._rounds]),
            ("model", list(models_of(self._providers))),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101 (they are declared above)
            field.choices = choices

    @property
    def options(self) -> dict[str, Any]:
        """Return the arguments of the action."""
        provider, _, model = self.cleaned_data["model"].partition(APART)
        return {
            "round_": next(one for one in self._rounds if str(one.uuid) == self.cleaned_data["round"]),
            "provider": next(one for one in self._providers if str(one.uuid) == provider),
            "model": model,
            "number": self.cleaned_data["pairs"],
            "expected": self.cleaned_data["expected"],
        }

    def clean_expected(self) -> expected_answers.Expected:
        """Return the expected answers by query id; empty if none were entered."""
        typed = self.cleaned_data["expected"].replace("\r\n", "\n")
        try:
            return expected_answers.read(typed) if typed.strip() else {}
        except NotValid as error:
            raise forms.ValidationError(error.fields.get("expected", str(error))) from error


# Messages for a trial without a valid answer.
FAILED = {
    "unparseable": "The model's answer could not be parsed.",
    "out_of_scale": "The model's answer is not on the scale.",
    "refused": "The model refused to answer.",
    "truncated": "The answer was cut off before it gave a result.",
    "blocked": "The provider withheld the answer.",
    "transport_error": "The provider did not answer.",
}


@form_page.of_collection(access.LEADS)
def prompt_new(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Write a prompt, try it on real pairs, and store it as a version."""
    trial = request.method == "POST" and request.POST.get("act") == "try"
    form = PromptForm(request.POST or None, initial=_start(collection, request.GET.get("from", "")))
    # Only a stored prompt needs a name.
    form.fields["name"].required = not trial
    trial_form = TryForm(request.POST if trial else None, collection=collection)
    tried: list[tryouts.Tryout] | None = None
    if request.method == "POST" and form.is_valid() and (not trial or trial_form.is_valid()):
        words = {name: form.cleaned_data[name] for name in ("name", "system", "prompt")}
        words["asking"] = form.cleaned_data["asks"]
        if trial:
            with form.telling():
                tried = tryouts.try_prompt(prompts.check(**words), viewer=request.user, **trial_form.options)
        else:
            with form.telling():
                made = prompts.add_version(collection, actor=request.user, note=form.cleaned_data["note"], **words)
                of_battles = prompts.asks(prompts.template_of(made)) == prompts.BATTLE
                who = "New pairwise comparisons" if of_battles else "New judges"
                return finish(request, f"{made} created. {who} can use it.", "prompt", made.uuid)
    context: dict[str, Any] = {
        "collection": collection,
        "step": "round",
        "form": form,
        "trial": trial_form,
        "tried": None if tried is None else [(one, FAILED.get(one.outcome.name, "")) for one in tried],
        "places": prompts.FILLED_WITH,
        "can_try": collection.providers.exists() and collection.rounds.exists(),
    }
    return render(
        request, "judgments/machines/tryouts/prompt_new.html", context, status=max(form.status, trial_form.status)
    )


def _start(collection: Collection, named: str) -> dict[str, str]:
    """Return the initial text: that of a stored version or of a built-in prompt."""
    if named and named not in prompts.BUILT_IN:
        try:
            prompt = prompts.find(collection, named, None)
        except NotValid as error:
            raise NotFound("The prompt to start from does not exist.") from error
        words = {"name": prompt.template.name, "system": prompt.template.system, "prompt": prompt.template.prompt}
        return words | {"asks": prompt.asks}
    template = prompts.BUILT_IN[named or "graded"]
    return {"system": template.system, "prompt": template.prompt, "asks": prompts.asks(template) if named else ""}


@post_action
def provider_try(request: HttpRequest, slug: str, uuid: str) -> HttpResponse:
    collection, row = reached(request, slug, uuid)
    named = request.POST.get("model", "")
    with errors_as_messages(request):
        reply = tryouts.provider(
            row, named if row.offered(named) else row.models_offered[0]["name"], actor=request.user
        )
        message = f"{reply.model or row} answered in {reply.seconds:.1f} s: “{reply.text[:80].strip() or 'nothing'}”."
        if reply.left_out:
            message += f" Not sent because the model does not support it: {', '.join(reply.left_out)}."
        messages.success(request, message)
    return redirect("provider_change", collection.slug, row.uuid)
