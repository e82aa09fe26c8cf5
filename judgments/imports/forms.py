"""Forms for imports: which file and how to read it, and what to confirm before it is stored."""

from __future__ import annotations

import re
from typing import Any

from django import forms

from assay.core.errors import AssayError, Conflict, NotValid
from judgments.hooks import IMPORT_KINDS
from judgments.imports.kinds import ImportKind
from judgments.models import Upload
from judgments.web.forms import AssayForm

# The columns that may have other names in a file, by kind of row.
MAPPED = {
    "documents": ("doc_id", "title", "text", "url", "image"),
    "queries": ("query_id", "query", "narrative", "group", "frequency"),
    "query-log": ("query", "count", "timestamp", "client_id", "clicks"),
    "click-log": ("query", "query_id", "doc_id", "position", "clicked", "impressions", "clicks", "client_id"),
    "qrels": ("query_id", "doc_id", "grade"),
    "ratings": ("query_id", "query", "doc_id", "grade", "rater_id"),
    "run": ("query_id", "doc_id", "score", "rank"),
}
# The options of readers that have a field, the grade scale first.
READER_FIELDS = ("grades", "conflicts", "repeated", "snapshot", "sheet", "encoding")
TWICE = [("first", "use the first"), ("last", "use the last"), ("min", "use the lowest"), ("max", "use the highest")]
REPEATED = [("sum", "add the counts"), ("max", "use the highest"), ("first", "use the first")]
SCALE = re.compile(r"\s*(\d{1,3})\s*(?:[:–-]\s*(\d{1,3})\s*)?")


class FilesInput(forms.ClearableFileInput):
    """A field for one or several files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """A field for several files, each validated as a single one."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(file, initial) for file in files or [None]]


class FileForm(AssayForm):
    """Form for a file and its reader options, limited to the options of the kind's formats."""

    # An empty file goes to the reader, whose error names the file.
    file = forms.FileField(
        allow_empty_file=True,
        error_messages={"required": "Choose a file."},
    )
    format = forms.ChoiceField(required=False)
    grades = forms.CharField(
        label="Grade scale (optional)",
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={"placeholder": "0:3"}),
        help_text="Lowest and highest grade, for example 0:3. Grades outside the scale are errors.",
    )
    conflicts = forms.ChoiceField(
        label="Rows with the same id and different content", required=False, choices=[("", "report an error"), *TWICE]
    )
    repeated = forms.ChoiceField(
        label="Counts of repeated queries", required=False, choices=[("", "report an error"), *REPEATED]
    )
    snapshot = forms.CharField(
        label="Snapshot or search configuration",
        required=False,
        max_length=200,
        help_text="Only if the file contains the results of several.",
    )
    sheet = forms.CharField(
        label="Sheet of the workbook",
        required=False,
        max_length=31,
        help_text="If empty, the first sheet with the columns is read.",
    )
    encoding = forms.ChoiceField(required=False, choices=[("", "UTF-8"), ("latin-1", "Latin-1 (older files)")])

    def __init__(self, kind: ImportKind, *args: Any, **kwargs: Any) -> None:
        from assay.formats import FORMATS

        super().__init__(*args, **kwargs)
        self.kind = kind
        self.fields["file"].help_text = kind.file_help
        if kind.names is not None:
            help_text = "One or more plain or gzipped files."
            self.fields["file"] = FilesField(
                allow_empty_file=True, error_messages={"required": "Choose a file."}, help_text=help_text
            )
        self.formats = [FORMATS[name] for name in FORMATS if FORMATS[name].kind == kind.format_kind]
        taken = {option for format_ in self.formats for option in format_.options}
        for name in READER_FIELDS:
            if name not in taken:
                del self.fields[name]
        self.fields["format"].choices = [
            ("", "Detect automatically"),
            *((one.name, one.title) for one in self.formats),
        ]
        self.mapped = MAPPED.get(kind.format_kind, ()) if "columns" in taken else ()
        for column in self.mapped:
            label = f"{column} (optional)"
            self.fields[f"column_{column}"] = forms.CharField(label=label, required=False, max_length=120)

    def clean_grades(self) -> list[int]:
        """Return the list of grades of the scale; empty for any grade."""
        text = self.cleaned_data["grades"]
        match = SCALE.fullmatch(text) if text else None
        if text and (match is None or match[2] is None or int(match[1]) >= int(match[2])):
            raise forms.ValidationError("Enter the lowest and the highest grade, for example 0:3.")
        return list(range(int(match[1]), int(match[2]) + 1)) if match else []

    def options(self) -> dict[str, Any]:
        """Return the options for the reader."""
        given = {name: self.cleaned_data.get(name) for name in READER_FIELDS}
        columns = {column: self.cleaned_data[f"column_{column}"].strip() for column in self.mapped}
        given["columns"] = {column: name for column, name in columns.items() if name}
        return {name: value for name, value in given.items() if value}

    @property
    def uploaded_files(self) -> list[Any]:
        """Return the uploaded files of a valid form."""
        files = self.cleaned_data["file"]
        return files if isinstance(files, list) else [files]

    @property
    def more(self) -> list[forms.BoundField]:
        """Return the fields that few files need, shown in a collapsed box."""
        return [self[name] for name in READER_FIELDS[1:] if name in self.fields]

    @property
    def columns(self) -> list[forms.BoundField]:
        return [self[f"column_{column}"] for column in self.mapped]

    @property
    def shows_columns(self) -> bool:
        """Return whether a column is mapped or missing, so that the box of columns is open."""
        return "format" in self.errors or any(column.value() for column in self.columns)

    def tell(self, error: AssayError) -> None:
        if isinstance(error, NotValid) and "columns" in error.fields:
            error.fields = {"format": error.fields["columns"]}
        super().tell(error)


class ReadForm(FileForm):
    """Form to read an uploaded file again with other options."""

    def __init__(self, upload: Upload, *args: Any, **kwargs: Any) -> None:
        options = upload.options
        columns = {f"column_{column}": name for column, name in options.get("columns", {}).items()}
        grades = options.get("grades")
        scale = {"grades": f"{min(grades)}:{max(grades)}"} if grades else {}
        kwargs.setdefault("initial", {**options, **columns, **scale, "format": upload.format})
        super().__init__(IMPORT_KINDS[upload.kind], *args, **kwargs)
        del self.fields["file"]

    @property
    def shows_columns(self) -> bool:
        return True


class StoreForm(AssayForm):
    """Form to confirm before a file is stored."""

    name = forms.CharField(max_length=120)
    description = forms.CharField(
        label="Description (optional)",
        required=False,
        max_length=300,
        help_text="For example, what changed in this version.",
    )
    accept_errors = forms.BooleanField(error_messages={"required": "Read the errors, then select this checkbox."})

    def __init__(self, upload: Upload, *args: Any, **kwargs: Any) -> None:
        of_file = re.split(r"[/\\]", upload.filename)[-1].split(".")[0]
        kwargs.setdefault("initial", {"name": upload.preview.get("name") or of_file})
        super().__init__(*args, **kwargs)
        member = IMPORT_KINDS[upload.kind]
        for name in {"name", "description"} - set(member.asks):
            del self.fields[name]
        questions = member.questions(upload)
        self.more = list(questions)
        accept = self.fields.pop("accept_errors")
        self.fields.update({**questions, "accept_errors": accept})
        errors = upload.report["error_count"]
        if errors:
            label = "I have read the error. Leave out its line."
            if errors > 1:
                label = f"I have read the {errors:,} errors. Leave out their lines."
            self.fields["accept_errors"].label = label
        else:
            del self.fields["accept_errors"]

    @property
    def questions(self) -> list[forms.BoundField]:
        """Return the fields of this kind of file."""
        return [self[name] for name in self.more]

    def tell(self, error: AssayError) -> None:
        """Show the error about a taken name at the field."""
        if isinstance(error, Conflict) and "name" in self.fields:
            self.conflict = True
            self.add_error("name", str(error))
        else:
            super().tell(error)
