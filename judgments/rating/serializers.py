"""Request and response bodies of rating: pairs, judgments and receipts.

These bodies contain only data that a rater may see: no rank, system, score or origin, and no other rater's grade. Each
field is therefore named explicitly.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from judgments.models import Judgment
from judgments.models.document import DocumentKind
from judgments.rating.submission import LONGEST_NOTE, STATES
from judgments.rounds.api import GradeBody
from judgments.web.endpoints import ErrorBody
from judgments.web.rich_text import document_html

CHOICES = {
    "by": ("key", "click", "touch"),
    "view": ("one", "list"),
    "text": ("excerpt", "whole", "short"),
    "width": ("narrow", "middle", "wide"),
}
FLAGS = ("marks",)
# The number of earlier undos, and the position of the judgment in the session.
NUMBERS = ("undos", "place")
LARGEST = 1_000_000


def clean_interactions(submitted: Any) -> dict[str, Any]:
    """Return the submitted details without unknown names and invalid values."""
    if not isinstance(submitted, dict):
        return {}
    events: dict[str, Any] = {name: submitted[name] for name, known in CHOICES.items() if submitted.get(name) in known}
    events |= {name: submitted[name] for name in FLAGS if isinstance(submitted.get(name), bool)}
    return events | {name: submitted[name] for name in NUMBERS if _count(submitted.get(name))}


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


class QueryShown(serializers.Serializer):
    """The query shown to the rater."""

    id = serializers.CharField(source="query_id")
    text = serializers.CharField()
    narrative = serializers.CharField()


class DocumentShown(serializers.Serializer):
    """The document shown to the rater."""

    id = serializers.CharField(source="doc_id")
    title = serializers.CharField()
    html = serializers.SerializerMethodField(help_text="Safe HTML: scripts and styles are removed.")
    url = serializers.CharField()
    image = serializers.CharField()
    fields = serializers.DictField()

    def get_html(self, document: Any) -> str:
        return str(document_html(document.text))


class PassageShown(serializers.Serializer):
    """A passage of evidence shown to the rater."""

    id = serializers.CharField()
    title = serializers.CharField()
    html = serializers.CharField(help_text="Safe HTML.")
    url = serializers.CharField()


class PairShown(serializers.Serializer):
    """One pair to grade."""

    id = serializers.UUIDField(source="uuid")
    kind = serializers.ChoiceField(
        choices=DocumentKind.choices, help_text="The kind; if it is `answer`, `document.html` is the answer."
    )
    query = QueryShown()
    document = DocumentShown()
    evidence = PassageShown(
        many=True, help_text="Evidence of an answer, in the order of its citations; empty for a document."
    )
    reference = serializers.CharField(help_text="The reference answer, if there is one and the round shows it.")

    def to_representation(self, pair: Any) -> dict[str, Any]:
        """Return the fields directly, because nested serializers would take as long as the lease itself."""
        query, document = pair.query, pair.document
        return {
            "id": str(pair.uuid),
            "kind": document.kind,
            "query": {"id": query.query_id, "text": query.text, "narrative": query.narrative},
            "document": {
                "id": document.doc_id,
                "title": document.title,
                "html": str(document_html(document.text)),
                "url": document.url,
                "image": document.image,
                "fields": document.fields,
            },
            "evidence": [_passage(one) for one in document.evidence],
            "reference": document.reference if document.reference and pair.round.shows_reference else "",
        }


def _passage(one: dict[str, str]) -> dict[str, str]:
    html = str(document_html(one["text"]))
    return {"id": one["doc_id"], "title": one["title"], "html": html, "url": one["url"]}


class BatchBody(serializers.Serializer):
    """Pairs leased to the caller."""

    lease = serializers.UUIDField()
    expires_at = serializers.DateTimeField()
    scale = GradeBody(many=True)
    guidelines_version = serializers.IntegerField()
    pairs = PairShown(many=True)
    remaining = serializers.IntegerField(help_text="Pairs that the caller can still grade, including these.")


class AnswerSent(serializers.Serializer):
    """One judgment: a grade, or a state without a grade."""

    client_id = serializers.UUIDField(
        help_text="A UUID that the client creates for each judgment; a repeated request counts once."
    )
    pair = serializers.UUIDField()
    grade = serializers.IntegerField(required=False, allow_null=True, default=None)
    state = serializers.ChoiceField(choices=STATES, default=Judgment.State.GRADED)
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=500)
    note = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=LONGEST_NOTE, trim_whitespace=False
    )
    seconds_active = serializers.FloatField(required=False, allow_null=True, default=None, min_value=0, max_value=1e7)
    seconds_away = serializers.FloatField(required=False, allow_null=True, default=None, min_value=0, max_value=1e7)
    if_open = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Record the judgment only if you have no current grade or `unrateable` for the pair; otherwise the "
        "existing one stays, with status 200.",
    )
    how = serializers.JSONField(
        required=False, default=dict, help_text="How the judgment was made, see docs/rating.md; omit unknown values."
    )

    def validate_how(self, value: Any) -> dict[str, Any]:
        return clean_interactions(value)


class ReceiptBody(serializers.Serializer):
    """The receipt of a judgment."""

    client_id = serializers.UUIDField()
    pair = serializers.UUIDField(source="pair.uuid")
    state = serializers.ChoiceField(choices=Judgment.State.choices)
    grade = serializers.IntegerField(allow_null=True)
    surplus = serializers.BooleanField(
        help_text="Whether the pair already had all its ratings, so that this judgment is stored but not counted."
    )


class ItemResult(serializers.Serializer):
    """The result for one judgment of a list."""

    client_id = serializers.CharField(allow_null=True)
    status = serializers.IntegerField(
        help_text="The status that the judgment would have if sent alone: 201, 200, 400, 404, 409 or 410."
    )
    surplus = serializers.BooleanField(required=False)
    error = ErrorBody(allow_null=True, help_text="The error; null if the judgment was recorded.")


class Results(serializers.Serializer):
    """One result per judgment, in the order they were sent."""

    results = ItemResult(many=True)


class QueryNamed(serializers.Serializer):
    """The query of a judgment."""

    id = serializers.CharField(source="query_id")
    text = serializers.CharField()


class DocumentNamed(serializers.Serializer):
    """The document of a judgment."""

    id = serializers.CharField(source="doc_id")
    title = serializers.CharField()


class LastAnswerBody(serializers.Serializer):
    """A current judgment of the caller."""

    client_id = serializers.UUIDField(source="answer.client_id")
    pair = serializers.UUIDField(source="pair.uuid")
    query = QueryNamed(source="pair.query")
    document = DocumentNamed(source="pair.document")
    state = serializers.ChoiceField(source="answer.state", choices=STATES)
    grade = serializers.IntegerField(source="answer.grade", allow_null=True)
    reason = serializers.CharField(source="answer.reason")
    note = serializers.CharField(source="answer.note")
    changeable = serializers.BooleanField(help_text="Whether the caller can still change it.")


class LastAnswers(serializers.Serializer):
    """The caller's recent judgments, newest first."""

    results = LastAnswerBody(many=True)


class Released(serializers.Serializer):
    """The number of released pairs."""

    released = serializers.IntegerField(help_text="Number of pairs that other raters can get now.")


class Joined(serializers.Serializer):
    """The caller's pseudonym."""

    pseudonym = serializers.CharField()
