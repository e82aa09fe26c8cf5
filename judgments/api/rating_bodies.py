"""Request and response bodies of rating: pairs, answers and receipts.

These bodies hold all that a rater may know: no rank, system, score or origin, and no other rater's grade. For that
reason a batch is written field by field, never from a whole row.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from judgments.answers import LONGEST_NOTE, STATES
from judgments.api.rounds import GradeBody
from judgments.api.schema import ErrorBody
from judgments.how import sensible
from judgments.models import Judgment
from judgments.models.document import DocumentKind
from judgments.richtext import document_html


class QueryShown(serializers.Serializer):
    """The query as the rater sees it."""

    id = serializers.CharField(source="query_id")
    text = serializers.CharField()
    narrative = serializers.CharField()


class DocumentShown(serializers.Serializer):
    """The document as the rater sees it."""

    id = serializers.CharField(source="doc_id")
    title = serializers.CharField()
    html = serializers.SerializerMethodField(help_text="Safe to put into a page: scripts and styles are taken out.")
    url = serializers.CharField()
    image = serializers.CharField()
    fields = serializers.DictField()

    def get_html(self, document: Any) -> str:
        return str(document_html(document.text))


class PassageShown(serializers.Serializer):
    """A passage of an answer's evidence as the rater sees it."""

    id = serializers.CharField()
    title = serializers.CharField()
    html = serializers.CharField(help_text="Safe to put into a page.")
    url = serializers.CharField()


class PairShown(serializers.Serializer):
    """One pair to grade."""

    id = serializers.UUIDField(source="uuid")
    kind = serializers.ChoiceField(choices=DocumentKind.choices, help_text="`answer`: `document.html` is the answer.")
    query = QueryShown()
    document = DocumentShown()
    evidence = PassageShown(many=True, help_text="Of an answer, in the order that its citations count; else empty.")
    reference = serializers.CharField(help_text="The right answer, where one is known and the round shows it.")

    def to_representation(self, pair: Any) -> dict[str, Any]:
        """What the fields say, written down directly: a serializer within a serializer costs as much as the lease."""
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
    """Pairs that are the caller's until the lease runs out."""

    lease = serializers.UUIDField()
    expires_at = serializers.DateTimeField()
    scale = GradeBody(many=True)
    guidelines_version = serializers.IntegerField()
    pairs = PairShown(many=True)
    remaining = serializers.IntegerField(help_text="Pairs still open to the caller, these among them.")


class AnswerSent(serializers.Serializer):
    """One answer: a grade, or a state without one."""

    client_id = serializers.UUIDField(help_text="Made by the client, new for each answer: sent twice it counts once.")
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
        help_text="Record it only where no grade and no `unrateable` of yours stands; else that one is kept, with 200.",
    )
    how = serializers.JSONField(
        required=False, default=dict, help_text="How it was given, docs/rating.md; what is not known is left out."
    )

    def validate_how(self, sent: Any) -> dict[str, Any]:
        return sensible(sent)


class ReceiptBody(serializers.Serializer):
    """What became of an answer."""

    client_id = serializers.UUIDField()
    pair = serializers.UUIDField(source="pair.uuid")
    state = serializers.ChoiceField(choices=Judgment.State.choices)
    grade = serializers.IntegerField(allow_null=True)
    surplus = serializers.BooleanField(help_text="True when the pair was full: kept, and not counted.")


class ItemResult(serializers.Serializer):
    """What became of one answer of a list."""

    client_id = serializers.CharField(allow_null=True)
    status = serializers.IntegerField(
        help_text="The status that it would have had alone: 201, 200, 400, 404, 409, 410."
    )
    surplus = serializers.BooleanField(required=False)
    error = ErrorBody(allow_null=True, help_text="Null when it is recorded.")


class Results(serializers.Serializer):
    """One result for each answer, in the order in which they were sent."""

    results = ItemResult(many=True)


class QueryNamed(serializers.Serializer):
    """Which query."""

    id = serializers.CharField(source="query_id")
    text = serializers.CharField()


class DocumentNamed(serializers.Serializer):
    """Which document."""

    id = serializers.CharField(source="doc_id")
    title = serializers.CharField()


class LastAnswerBody(serializers.Serializer):
    """An answer of the caller's that stands."""

    client_id = serializers.UUIDField(source="answer.client_id")
    pair = serializers.UUIDField(source="pair.uuid")
    query = QueryNamed(source="pair.query")
    document = DocumentNamed(source="pair.document")
    state = serializers.ChoiceField(source="answer.state", choices=STATES)
    grade = serializers.IntegerField(source="answer.grade", allow_null=True)
    reason = serializers.CharField(source="answer.reason")
    note = serializers.CharField(source="answer.note")
    changeable = serializers.BooleanField(help_text="Whether another answer for the pair would be taken.")


class LastAnswers(serializers.Serializer):
    """The caller's last answers, the newest first."""

    results = LastAnswerBody(many=True)


class Released(serializers.Serializer):
    """How much was given back."""

    released = serializers.IntegerField(help_text="Pairs that the caller held and others can take now.")


class Joined(serializers.Serializer):
    """Under which name the caller rates."""

    pseudonym = serializers.CharField()
