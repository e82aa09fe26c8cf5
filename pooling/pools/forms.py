"""Form of a pool: runs, strategy, budget and duplicates."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms

from assay.core.errors import NotValid
from assay.core.read_report import Report
from assay.strategies.pooled_pair import EXACT, OFF, SIMILARITY
from assay.strategies.rating_budget import Budget
from assay.strategies.strategy import Strategy
from judgments.jobs.limited_process import read_at_once
from judgments.models import Collection, Role
from judgments.web.forms import AssayForm
from pooling.logs.forms import seed_field
from pooling.pools.effort import Pace, pace
from pooling.pools.strategy_fields import ORDER_WORDS, limits_fields, parameter_field, raters_fields

Pair = tuple[str, str]


@dataclass(frozen=True)
class PairList:
    """The distinct pairs in file order, and the issues of the reader."""

    pairs: tuple[Pair, ...]
    report: Report

    @property
    def text(self) -> str:
        """Return the pairs as CSV that can be read again without changes."""
        from assay.formats.pairs_csv import write
        from assay.formats.row_types import PairRow

        stream = io.BytesIO()
        write((PairRow(*pair) for pair in self.pairs), stream)
        return stream.getvalue().decode()


def read_pairs(content: bytes, path: str = "pairs") -> PairList:
    """Read pairs as ``pairs-csv``; every odd line is an error, so that no pair is lost.

    Examples
    --------
    >>> read_pairs(b"query_id,doc_id\\nq1,d1\\nq1,d2\\nq1,d1\\n").pairs
    (('q1', 'd1'), ('q1', 'd2'))
    """
    from assay.formats import FORMATS

    if not content.strip():
        raise NotValid(
            "The list has no pairs. Paste the header query_id,doc_id and one pair per line, or choose a file."
        )
    read = FORMATS["pairs-csv"].read(content, path=path)
    read.report.raise_if_errors()
    pairs: Sequence[Pair] = [(row.query_id, row.doc_id) for row in read.rows]
    if not pairs:
        raise NotValid(f"{path} has a header but no pairs. Write one pair per line: query_id,doc_id")
    return PairList(tuple(pairs), read.report)


# The default batch of an adaptive strategy.
FIRST_BATCH = 10
RATINGS_PER_PAIR = 2
MOST_PAIRS_BYTES = 16 * 1024 * 1024
REST = "More options"


class PoolForm(AssayForm):
    """Runs, strategy and its parameters; the fields of a strategy come from its declaration."""

    def __init__(self, *args: Any, collection: Collection, strategy: Strategy, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.collection, self.strategy = collection, strategy
        self.pair_list: PairList | None = None
        self.planned: Budget | None = None
        given = strategy.name == "list"
        self.fields["runs"] = forms.ModelMultipleChoiceField(
            collection.runs.active(),
            to_field_name="uuid",
            required=not given,
            widget=forms.CheckboxSelectMultiple,
            help_text="Each pair records its rank in these runs." if given else "",
            error_messages={"required": "Choose at least one run."},
        )
        for parameter in strategy.parameters:
            if not parameter.is_list:
                self.fields[parameter.name] = parameter_field(parameter)
        if given:
            self._add_pairs()
        else:
            self.fields.update(limits_fields(strategy))
        self.fields["by"] = forms.ChoiceField(
            label="Order of equal scores in a run", choices=ORDER_WORDS, required=not given
        )
        self.fields["seed"] = seed_field()
        self.fields.update(raters_fields())
        for name, field in self.fields.items():
            if name != "runs":
                field.error_messages["required"] = "Enter a value."

    def _add_pairs(self) -> None:
        self.fields["pairs"] = forms.CharField(
            required=False,
            strip=False,
            widget=forms.Textarea(attrs={"rows": 8, "class": "mono", "spellcheck": "false"}),
            help_text="CSV with a header: query_id,doc_id. Write one pair per line.",
        )
        self.fields["file"] = forms.FileField(label="Or a file (optional)", required=False)

    @staticmethod
    def defaults(collection: Collection, strategy: Strategy) -> dict[str, Any]:
        """Return the defaults: all runs, the strategy's defaults and no limits, except a batch for an adaptive
        strategy."""
        given = strategy.name == "list"
        return {
            "runs": [] if given else [str(run.uuid) for run in collection.runs.active()],
            **{parameter.name: parameter.default for parameter in strategy.parameters if not parameter.is_list},
            **({"budget": FIRST_BATCH, "relevant_from": 1} if strategy.adaptive else {}),
            **({} if given else {"duplicates": EXACT, "similarity": SIMILARITY}),
            "residual": 0,
            "by": "score",
            "seed": 1,
            "raters": max(1, collection.memberships.filter(role=Role.RATER).count()),
            "ratings_per_pair": RATINGS_PER_PAIR,
        }

    @property
    def parts(self) -> list[tuple[str, list[forms.BoundField], bool]]:
        """Return the visible fields under their headings, and whether each group is collapsed."""
        own = [parameter.name for parameter in self.strategy.parameters]
        parts = {
            "": ["runs", *own],
            "Rating capacity": ["budget", "total", "hours", "raters", "ratings_per_pair"],
            "Duplicates": ["duplicates", "similarity"],
            REST: ["residual", "leave_out_judged", "relevant_from", "by", "seed"],
        }
        headings = {title: [self[name] for name in names if name in self.fields] for title, names in parts.items()}
        return [(title, bounds, title == REST and not self._is_open(bounds)) for title, bounds in headings.items()]

    @staticmethod
    def _is_open(bounds: list[forms.BoundField]) -> bool:
        """Return whether one of the fields has an error or a value other than its default."""
        return any(bound.errors or _plain(bound.value()) != _plain(bound.initial) for bound in bounds)

    @property
    def pace(self) -> Pace:
        """Return the seconds per rating of the collection."""
        if not hasattr(self, "_pace"):
            self._pace = pace(self.collection)
        return self._pace

    def clean(self) -> dict[str, Any]:
        """Return the cleaned form, with parsed pairs and hours converted to pairs."""
        cleaned = super().clean() or {}
        for fault in self.errors.get("apart", ()):
            self.add_error(None, fault)  # the field is hidden, so its errors would be hidden too
        if self.strategy.name == "list":
            self._read_pairs(cleaned)
        if cleaned.get("hours"):
            people = (cleaned.get("raters") or 1, cleaned.get("ratings_per_pair") or RATINGS_PER_PAIR)
            try:
                self.planned = Budget(cleaned["hours"], *people, self.pace.seconds)
            except NotValid as error:
                self.add_error("hours", str(error))
        return cleaned

    def _read_pairs(self, cleaned: dict[str, Any]) -> None:
        upload = cleaned.get("file")
        if upload and upload.size > MOST_PAIRS_BYTES:
            self.add_error("file", "The list of pairs is larger than 16 MB. Use the API for longer lists.")
            return
        # A text box always submits CRLF, which is not an issue of the list.
        content = upload.read() if upload else (cleaned.get("pairs") or "").replace("\r\n", "\n").encode()
        try:
            name = upload.name if upload else "pairs"
            self.pair_list = read_at_once(read_pairs, content, name, most=MOST_PAIRS_BYTES)
        except NotValid as error:
            self.add_error("file" if upload else "pairs", str(error))
            return
        cleaned["pairs"] = self.pair_list.pairs

    @property
    def form_values(self) -> list[tuple[str, Any]]:
        """Return the valid form as names and values, so that exactly the previewed pool is submitted."""
        cleaned = self.cleaned_data
        several = ("runs", "pairs", "file", "apart")
        single = [(name, cleaned[name]) for name in self.fields if name not in several]
        pairs = [("pairs", self.pair_list.text)] if self.pair_list else []
        runs = [("runs", run.uuid) for run in cleaned["runs"]]
        apart = [("apart", json.dumps(pair, ensure_ascii=False)) for pair in cleaned.get("apart", ())]
        # Compared by identity, because a residual of 0 equals False but must be included.
        named = [(name, "on" if value is True else value) for name, value in single if value not in (None, "")]
        named = [(name, value) for name, value in named if value is not False]
        return [("strategy", self.strategy.name), *runs, *named, *apart, *pairs]

    def query(self, *more: tuple[str, Any]) -> str:
        """Return the query string that shows the valid form again."""
        return urlencode([*self.form_values, *more])

    def query_with(self, name: str, value: Any) -> str:
        """Return the query string of the form with one value changed."""
        return urlencode([(one, value if one == name else current) for one, current in self.form_values])

    def without_apart(self, pair: tuple[str, str]) -> str:
        """Return the query string of the form without the separation of this document."""
        left = ("apart", json.dumps(pair, ensure_ascii=False))
        return urlencode([one for one in self.form_values if one != left])

    @property
    def choice(self) -> dict[str, Any]:
        """Return the arguments of :func:`pooling.pools.pools.choose`."""
        cleaned = self.cleaned_data
        names = [parameter.name for parameter in self.strategy.parameters]
        totals = [cleaned.get("total"), self.planned.pairs if self.planned else None]
        return {
            "strategy": self.strategy.name,
            "runs": list(cleaned["runs"]),
            "parameters": {name: cleaned[name] for name in names if name in cleaned},
            "seed": cleaned["seed"],
            "by": cleaned.get("by") or "score",
            "budget": cleaned.get("budget"),
            "total": min((total for total in totals if total), default=None),
            "residual": cleaned.get("residual") or 0,
            "leave_out_judged": cleaned.get("leave_out_judged", False),
            "relevant_from": 1.0 if (grade := cleaned.get("relevant_from")) is None else grade,
            "duplicates": cleaned.get("duplicates") or OFF,
            "similarity": cleaned.get("similarity") or SIMILARITY,
            "apart": cleaned.get("apart", []),
        }

    @property
    def raters(self) -> int:
        """Return the number of planned raters."""
        return self.cleaned_data.get("raters") or 1

    @property
    def ratings_per_pair(self) -> int:
        """Return the planned ratings per pair."""
        return self.cleaned_data.get("ratings_per_pair") or RATINGS_PER_PAIR


def _plain(value: Any) -> str:
    """Return a value as text for comparison: 1 becomes "1.0", an unticked box is empty."""
    if value is None or value is False:
        return ""
    try:
        return str(float(value))
    except (TypeError, ValueError):
        return str(value)
