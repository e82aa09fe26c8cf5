"""Stale labels: judged documents whose content changed after they were judged."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Exists, F, OuterRef, QuerySet

from judgments.models import Judgment, Pair, Round


def stale_pairs(rounds: Sequence[Round]) -> QuerySet[Pair]:
    """Return the pairs of the rounds with a grade for an earlier content of the document."""
    given = Judgment.objects.counted().filter(pair=OuterRef("pk")).exclude(document_sha256="")
    other = given.exclude(document_sha256=OuterRef("document__content_sha256"))
    return Pair.objects.filter(Exists(other), round__in=list(rounds))


def count(rounds: Sequence[Round]) -> int:
    """Count the stale pairs, starting from the judgments, which is fast if few documents changed."""
    given = Judgment.objects.counted().filter(pair__round__in=list(rounds)).exclude(document_sha256="")
    return given.exclude(document_sha256=F("pair__document__content_sha256")).values("pair").distinct().count()
