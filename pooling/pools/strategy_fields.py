"""Fields of the pool form."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from assay.core.parameters import Parameter
from assay.strategies.pooled_pair import EXACT, NEAR, OFF
from assay.strategies.strategy import Strategy

ORDER_WORDS = [("score", "by document id, as in metrics"), ("rank", "by rank, as shown to users")]
DUPLICATE_WORDS = [
    (OFF, "Judge each document separately"),
    (EXACT, "Judge exact duplicates once: same title, text, fields and image"),
    (NEAR, "Also judge near duplicates once: almost the same words, same numbers and image"),
]


class PairsField(forms.Field):
    """Pairs in hidden fields of the page, each as ``["query", "document"]``."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: Any) -> list[tuple[str, str]]:
        try:
            pairs = [json.loads(text) for text in value or ()]
        except (TypeError, ValueError, RecursionError) as error:
            raise forms.ValidationError("These pairs are not valid JSON.") from error
        if not all(
            isinstance(pair, list) and len(pair) == 2 and all(isinstance(x, str) for x in pair) for pair in pairs
        ):
            raise forms.ValidationError("A pair must be a query id and a document id.")
        return sorted({(query_id, doc_id) for query_id, doc_id in pairs})


def limits_fields(strategy: Strategy) -> dict[str, forms.Field]:
    """Return the limits of every strategy except a list of pairs."""
    learns = (
        "Maximum pairs per query. This strategy learns from grades: create a small pool, have it judged, then create "
        "another. Pairs that are judged or waiting in a round are left out."
    )
    fields: dict[str, forms.Field] = {
        "budget": forms.IntegerField(
            label="Pairs per query (optional)",
            required=False,
            min_value=1,
            help_text=learns if strategy.adaptive else "A maximum. The best-ranked pairs are chosen first.",
        ),
        "total": forms.IntegerField(
            label="Pairs in total (optional)",
            required=False,
            min_value=1,
            help_text="A maximum. Every query gets the same number of pairs.",
        ),
        "hours": forms.FloatField(
            label="Hours per rater (optional)",
            required=False,
            min_value=0.01,
            max_value=10_000,
            help_text="Instead of a total: the pool gets the pairs that the raters below can judge in this time.",
        ),
        "duplicates": forms.ChoiceField(
            label="Duplicates", choices=DUPLICATE_WORDS, required=False, widget=forms.RadioSelect
        ),
        "similarity": forms.FloatField(
            label="Similarity of near-duplicates (optional)",
            required=False,
            min_value=0.51,
            max_value=1,
            help_text="The smallest share of three-word sequences that both documents have in common.",
        ),
        "apart": PairsField(required=False),
        "residual": forms.IntegerField(
            label="Residual",
            min_value=0,
            max_value=1_000,
            help_text="Random pairs per query from below the pool, to estimate how many relevant documents the pool "
            "misses. 5 to 10 pairs are enough.",
        ),
    }
    if strategy.adaptive:
        fields["relevant_from"] = forms.FloatField(
            label="Lowest relevant grade",
            required=False,
            min_value=0,
            max_value=100,
            help_text="The lowest grade that the strategy counts as relevant.",
        )
    else:
        fields["leave_out_judged"] = forms.BooleanField(label="Leave out pairs with a human grade", required=False)
    return fields


def raters_fields() -> dict[str, forms.Field]:
    """Return the fields of the planned raters."""
    return {
        "raters": forms.IntegerField(label="Raters", required=False, min_value=1, max_value=1_000),
        "ratings_per_pair": forms.IntegerField(label="Ratings per pair", required=False, min_value=1, max_value=20),
    }


def parameter_field(parameter: Parameter) -> forms.Field:
    kind = forms.IntegerField if parameter.type is int else forms.FloatField
    return kind(
        label=parameter.title,
        min_value=parameter.minimum,
        max_value=parameter.maximum,
        help_text=parameter.description,
    )
