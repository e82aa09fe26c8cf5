"""Forms for imports: which file and how to read it, and what to confirm before it is stored."""

from __future__ import annotations

import re
from typing import Any

from django import forms

from judgments.core.errors import AssayError, Conflict, NotValid
from judgments.forms import AssayForm
from judgments.import_kinds import KINDS, ImportKind
from judgments.models import Upload

# The columns that a file may call something else, by what its rows are.
MAPPED = {
    "documents": ("doc_id", "title", "text", "url", "image"),
    "queries": ("query_id", "query", "narrative", "group", "frequency"),
    "query-log": ("query", "count", "timestamp", "client_id", "clicks"),
    "click-log": ("query", "query_id", "doc_id", "position", "clicked", "impressions", "clicks", "client_id"),
    "qrels": ("query_id", "doc_id", "grade"),
    "ratings": ("query_id", "query", "doc_id", "grade", "rater_id"),
    "run": ("query_id", "doc_id", "score", "rank"),
}
TWICE = [("first", "the first counts"), ("last", "the last counts"), ("min", "the lowest"), ("max", "the highest")]
REPEATED = [("sum", "add the counts"), ("max", "take the highest"), ("first", "take the first")]
SCALE = re.compile(r"\s*(\d{1,3})\s*(?:[:–-]\s*(\d{1,3})\s*)?")


class FilesInput(forms.ClearableFileInput):
    """One file or several."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """Several files, each as a field of one would take it."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(file, initial) for file in files or [None]]


class FileForm(AssayForm):
    """Which file, and how it is to be read. What a kind's formats take is asked, nothing else."""

    # An empty file goes on to the reader: it says so with the file's name.
    file = forms.FileField(
        allow_empty_file=True,
        error_messages={"required": "Choose a file."},
        help_text="Also compressed with gzip. Nothing is stored before you have seen the report.",
    )
    format = forms.ChoiceField(required=False)
    grades = forms.CharField(
        label="Scale of the labels (optional)",
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={"placeholder": "0:3"}),
        help_text="Lowest and highest grade, as in 0:3. Labels off the scale are then errors.",
    )
    conflicts = forms.ChoiceField(
        label="The same key twice, with different content", required=False, choices=[("", "is an error"), *TWICE]
    )
    repeated = forms.ChoiceField(
        label="A counted query that stands twice", required=False, choices=[("", "is an error"), *REPEATED]
    )
    encoding = forms.ChoiceField(required=False, choices=[("", "UTF-8"), ("latin-1", "Latin-1 (old files)")])

    def __init__(self, kind: ImportKind, *args: Any, **kwargs: Any) -> None:
        from judgments.formats import FORMATS

        super().__init__(*args, **kwargs)
        self.kind = kind
        if kind.names is not None:
            told = (
                "Choose one or several. Also compressed with gzip. Nothing is stored before you have seen the report."
            )
            self.fields["file"] = FilesField(
                allow_empty_file=True, error_messages={"required": "Choose a file."}, help_text=told
            )
        self.formats = [FORMATS[name] for name in FORMATS if FORMATS[name].kind == kind.format_kind]
        taken = {option for format_ in self.formats for option in format_.options}
        for name in ("grades", "conflicts", "repeated", "encoding"):
            if name not in taken:
                del self.fields[name]
        self.fields["format"].choices = [
            ("", "told from the content"),
            *((one.name, one.title) for one in self.formats),
        ]
        self.mapped = MAPPED.get(kind.format_kind, ()) if "columns" in taken else ()
        for column in self.mapped:
            label = f"{column} (optional)"
            self.fields[f"column_{column}"] = forms.CharField(label=label, required=False, max_length=120)

    def clean_grades(self) -> list[int]:
        """The scale as the list of its grades; empty for any grade."""
        text = self.cleaned_data["grades"]
        found = SCALE.fullmatch(text) if text else None
        if text and (found is None or found[2] is None or int(found[1]) >= int(found[2])):
            raise forms.ValidationError("Write the lowest and the highest grade, as in 0:3.")
        return list(range(int(found[1]), int(found[2]) + 1)) if found else []

    def options(self) -> dict[str, Any]:
        """What is handed to the reader."""
        given = {name: self.cleaned_data.get(name) for name in ("grades", "conflicts", "repeated", "encoding")}
        columns = {column: self.cleaned_data[f"column_{column}"].strip() for column in self.mapped}
        given["columns"] = {column: name for column, name in columns.items() if name}
        return {name: value for name, value in given.items() if value}

    @property
    def files_sent(self) -> list[Any]:
        """The files of a valid form."""
        sent = self.cleaned_data["file"]
        return sent if isinstance(sent, list) else [sent]

    @property
    def more(self) -> list[forms.BoundField]:
        """What few files need: it stands in a box that opens."""
        return [self[name] for name in ("conflicts", "repeated", "encoding") if name in self.fields]

    @property
    def columns(self) -> list[forms.BoundField]:
        return [self[f"column_{column}"] for column in self.mapped]

    @property
    def columns_asked(self) -> bool:
        """Did someone name a column, or did the reader miss one? Then their box stands open."""
        return "format" in self.errors or any(column.value() for column in self.columns)

    def tell(self, error: AssayError) -> None:
        if isinstance(error, NotValid) and "columns" in error.fields:
            error.fields = {"format": error.fields["columns"]}
        super().tell(error)


class ReadForm(FileForm):
    """How a file that is here already is read in another way."""

    def __init__(self, upload: Upload, *args: Any, **kwargs: Any) -> None:
        options = upload.options
        columns = {f"column_{column}": name for column, name in options.get("columns", {}).items()}
        grades = options.get("grades")
        scale = {"grades": f"{min(grades)}:{max(grades)}"} if grades else {}
        kwargs.setdefault("initial", {**options, **columns, **scale, "format": upload.format})
        super().__init__(KINDS[upload.kind], *args, **kwargs)
        del self.fields["file"]

    @property
    def columns_asked(self) -> bool:
        return True


class StoreForm(AssayForm):
    """What is asked before a file that was read is stored."""

    name = forms.CharField(max_length=120)
    description = forms.CharField(
        label="What is new in it (optional)",
        required=False,
        max_length=300,
        help_text="For those who compare it later.",
    )
    accept_errors = forms.BooleanField(error_messages={"required": "Read the errors first, then tick this."})

    def __init__(self, upload: Upload, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("initial", {"name": re.split(r"[/\\]", upload.filename)[-1].split(".")[0]})
        super().__init__(*args, **kwargs)
        member = KINDS[upload.kind]
        for name in {"name", "description"} - set(member.asks):
            del self.fields[name]
        questions = member.questions(upload)
        self.more = list(questions)
        accept = self.fields.pop("accept_errors")
        self.fields.update({**questions, "accept_errors": accept})
        errors = upload.report["error_count"]
        if errors:
            lines = "error; its line stays out" if errors == 1 else "errors; their lines stay out"
            self.fields["accept_errors"].label = f"I have read the {errors:,} {lines}"
        else:
            del self.fields["accept_errors"]

    @property
    def questions(self) -> list[forms.BoundField]:
        """What this kind of file alone is asked."""
        return [self[name] for name in self.more]

    def tell(self, error: AssayError) -> None:
        """A name that is taken is said at the name."""
        if isinstance(error, Conflict) and "name" in self.fields:
            self.conflict = True
            self.add_error("name", str(error))
        else:
            super().tell(error)
