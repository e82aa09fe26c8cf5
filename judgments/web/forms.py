"""Base form of the pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from django import forms

from assay.core.errors import AssayError, Conflict, NotValid
from judgments.web.answer_words import Subject, worded


class PercentField(forms.FloatField):
    """A share that a user enters in percent."""

    def __init__(self, label: str, **more: Any) -> None:
        super().__init__(label=f"{label}, in percent", **more)

    def clean(self, value: Any) -> float | None:
        percent = super().clean(value)
        return None if percent is None else percent / 100


class AssayForm(forms.Form):
    """A form that shows the errors of an action and knows the HTTP status of its response."""

    required_css_class = "required"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
        self.use_required_attribute = True
        self.conflict = False
        for field in self.fields.values():
            if field.error_messages["required"] == forms.Field.default_error_messages["required"]:
                field.error_messages["required"] = _label_of(field)

    def worded_for(self, subject: Subject, *, choices: Sequence[str] = ()) -> Self:
        """Return the form with labels, help texts and choices in the words of what is graded."""
        for name, field in self.fields.items():
            field.label = worded(str(field.label or ""), subject) or None
            field.help_text = worded(str(field.help_text), subject)
            if name in choices:
                field.choices = [(value, worded(str(title), subject)) for value, title in field.choices]
        return self

    def tell(self, error: AssayError) -> None:
        """Add the errors of an action to the fields that they name, or above the form."""
        self.conflict = isinstance(error, Conflict)
        named = [(name, text) for name, text in getattr(error, "fields", {}).items() if name in self.fields]
        for name, text in named:
            self.add_error(name, text)
        if not named:
            self.add_error(None, str(error))

    @contextmanager
    def telling(self) -> Iterator[Self]:
        """Add the errors of an action to the form."""
        try:
            yield self
        except AssayError as error:
            self.tell(error)

    def checked_data(self) -> dict[str, Any]:
        """Return the values; raise the errors of all fields, for a page without a place for them."""
        if not self.is_valid():
            raise NotValid(" ".join(message for errors in self.errors.values() for message in errors))
        return self.cleaned_data

    @property
    def status(self) -> int:
        """The HTTP status: 200 for a new form, 422 with errors, 409 for a conflict."""
        if not self.is_bound or not self.errors:
            return 200
        return 409 if self.conflict else 422


def _label_of(field: forms.Field) -> str:
    """Return the error message for an empty field."""
    if isinstance(field, forms.MultipleChoiceField | forms.ModelMultipleChoiceField):
        return "Choose at least one."
    return "Choose one." if isinstance(field, forms.ChoiceField) else "Enter a value."
