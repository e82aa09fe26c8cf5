"""Stale labels: judged documents whose content changed after they were judged."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Exists, F, OuterRef, QuerySet

from judgments.models import Judgment, Pair, Round


def stale_pairs(rounds: Sequence[Round]) -> QuerySet[Pair]:
    """The pairs of the rounds with a grade that was given to another content than the document has now."""
    given = Judgment.objects.counted().filter(pair=OuterRef("pk")).exclude(document_sha256="")
    other = given.exclude(document_sha256=OuterRef("document__content_sha256"))
    return Pair.objects.filter(Exists(other), round__in=list(rounds))


def count(rounds: Sequence[Round]) -> int:
    """How many pairs that is; asked from the judgments, which are few where documents do not change."""
    given = Judgment.objects.counted().filter(pair__round__in=list(rounds)).exclude(document_sha256="")
    return given.exclude(document_sha256=F("pair__document__content_sha256")).values("pair").distinct().count()
