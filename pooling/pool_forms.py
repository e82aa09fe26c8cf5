"""Form of a pool: runs, strategy, budget and duplicates."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from django import forms

from judgments.core.errors import NotValid
from judgments.forms import AssayForm
from judgments.models import Collection, Role
from judgments.upload_reading import read_at_once
from pooling.effort import Pace, pace
from pooling.forms import seed_field
from pooling.pair_lists import PairList, read_pairs
from pooling.pool_fields import ORDER_WORDS, limits_fields, parameter_field, raters_fields
from pooling.strategies.budget import Budget
from pooling.strategies.pair import EXACT, OFF, SIMILARITY
from pooling.strategies.strategy import Strategy

# What an adaptive strategy is asked for at once, where nobody says.
FIRST_BATCH = 10
RATINGS_PER_PAIR = 2
MOST_PAIRS_BYTES = 16 * 1024 * 1024
REST = "What else"


class PoolForm(AssayForm):
    """Which runs, which strategy with which parameters; the strategy's fields come from its declaration."""

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
            help_text="Each pair then shows at which rank they return it." if given else "",
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
            label="Where a run’s scores are equal", choices=ORDER_WORDS, required=not given
        )
        self.fields["seed"] = seed_field()
        self.fields.update(raters_fields())
        for name, field in self.fields.items():
            if name != "runs":
                field.error_messages["required"] = "Fill this in."

    def _add_pairs(self) -> None:
        self.fields["pairs"] = forms.CharField(
            required=False,
            strip=False,
            widget=forms.Textarea(attrs={"rows": 8, "class": "mono", "spellcheck": "false"}),
            help_text="CSV with a header: query_id,doc_id. One pair a line.",
        )
        self.fields["file"] = forms.FileField(label="Or a file (optional)", required=False)

    @staticmethod
    def defaults(collection: Collection, strategy: Strategy) -> dict[str, Any]:
        """All runs, the strategy's own defaults, and no limits but a batch for who learns; no run for a given list.

        Equal documents are judged once: nobody can grade them differently by what they see, and each is shown with the
        one that is judged in its stead before anything is drawn.
        """
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
        """The visible fields under their headings, and whether they stand folded: nobody has asked for them yet."""
        own = [parameter.name for parameter in self.strategy.parameters]
        parts = {
            "": ["runs", *own],
            "How much people can judge": ["budget", "total", "hours", "raters", "ratings_per_pair"],
            "Documents that say the same": ["duplicates", "similarity"],
            REST: ["residual", "leave_out_judged", "relevant_from", "by", "seed"],
        }
        found = {title: [self[name] for name in names if name in self.fields] for title, names in parts.items()}
        return [(title, bounds, title == REST and not self._asked(bounds)) for title, bounds in found.items()]

    @staticmethod
    def _asked(bounds: list[forms.BoundField]) -> bool:
        """Whether one of the fields is not as it was, or not as it may be."""
        return any(bound.errors or _plain(bound.value()) != _plain(bound.initial) for bound in bounds)

    @property
    def pace(self) -> Pace:
        """What a rating lasts here."""
        if not hasattr(self, "_pace"):
            self._pace = pace(self.collection)
        return self._pace

    def clean(self) -> dict[str, Any]:
        """The pairs as the reader of pairs-csv gives them, and hours as pairs."""
        cleaned = super().clean() or {}
        for said in self.errors.get("apart", ()):
            self.add_error(None, said)  # the field is hidden, and so would be what is wrong with it
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
            self.add_error("file", "A list of pairs takes at most 16 MB here. Push a longer one through the API.")
            return
        # A text box always sends CRLF; that is no oddity of the list.
        content = upload.read() if upload else (cleaned.get("pairs") or "").replace("\r\n", "\n").encode()
        try:
            name = upload.name if upload else "pairs"
            self.pair_list = read_at_once(read_pairs, content, name, most=MOST_PAIRS_BYTES)
        except NotValid as error:
            self.add_error("file" if upload else "pairs", str(error))
            return
        cleaned["pairs"] = self.pair_list.pairs

    @property
    def sent(self) -> list[tuple[str, Any]]:
        """The valid form as names and values, to be sent again as it was previewed."""
        cleaned = self.cleaned_data
        several = ("runs", "pairs", "file", "apart")
        single = [(name, cleaned[name]) for name in self.fields if name not in several]
        pairs = [("pairs", self.pair_list.text)] if self.pair_list else []
        runs = [("runs", run.uuid) for run in cleaned["runs"]]
        apart = [("apart", json.dumps(pair, ensure_ascii=False)) for pair in cleaned.get("apart", ())]
        # By identity: a residual of 0 equals False, and must be told.
        told = [(name, "on" if value is True else value) for name, value in single if value not in (None, "")]
        told = [(name, value) for name, value in told if value is not False]
        return [("strategy", self.strategy.name), *runs, *told, *apart, *pairs]

    def query(self, *more: tuple[str, Any]) -> str:
        """The valid form as the query string that shows it again."""
        return urlencode([*self.sent, *more])

    def query_with(self, name: str, value: Any) -> str:
        """The same with another value."""
        return urlencode([(one, value if one == name else told) for one, told in self.sent])

    def without_apart(self, pair: tuple[str, str]) -> str:
        """The same, with this document judged as the other one again."""
        left = ("apart", json.dumps(pair, ensure_ascii=False))
        return urlencode([one for one in self.sent if one != left])

    @property
    def choice(self) -> dict[str, Any]:
        """What :func:`pooling.pools.choose` takes."""
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
        """How many people are planned with."""
        return self.cleaned_data.get("raters") or 1

    @property
    def ratings_per_pair(self) -> int:
        """How many of them grade a pair."""
        return self.cleaned_data.get("ratings_per_pair") or RATINGS_PER_PAIR


def _plain(value: Any) -> str:
    """A value as it is compared with another one: 1 is "1.0", and what is not ticked is nothing."""
    if value is None or value is False:
        return ""
    try:
        return str(float(value))
    except (TypeError, ValueError):
        return str(value)
