"""Base form of the pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from django import forms

from assay.core.errors import AssayError, Conflict
from judgments.web.answer_words import Subject, worded


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
        named = {
            name: errors_of_field
            for name, errors_of_field in getattr(error, "fields", {}).items()
            if name in self.fields
        }
        for name, errors_of_field in named.items():
            self.add_error(name, errors_of_field)
        if not named:
            self.add_error(None, str(error))

    def telling(self) -> Telling:
        """Return a context manager that adds the errors of an action to the form."""
        return Telling(self)

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


class Telling:
    """Context manager that adds the errors of an action to a form."""

    def __init__(self, form: AssayForm) -> None:
        self.form = form

    def __enter__(self) -> AssayForm:
        return self.form

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, AssayError):
            self.form.tell(error)
            return True
        return False
