"""Guideline changes that a rater has not read: the changes since the version that the rater knows."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q
from django.utils import timezone
from django.utils.safestring import SafeString

from judgments.guidelines import guidelines
from judgments.models import GuidelinesVersion, Round, RoundRater, User


@dataclass(frozen=True)
class News:
    """The version that a rater knows, the round's version, and the changes, which are shown once."""

    old: GuidelinesVersion
    new: GuidelinesVersion

    @property
    def difference(self) -> SafeString:
        return guidelines.difference(self.old, self.new)


def news(round_: Round, rater: User) -> News | None:
    """Return the changes since the rater last rated in the collection; None if there are none or they were read."""
    unread = round_.raters.filter(user=rater, guidelines_read_at__isnull=True)
    if round_.guidelines.number == 1 or not unread.exists():
        return None
    # Guidelines for answers and for documents are different texts, so their difference has no meaning.
    alike = round_.collection.rounds.filter(dimension=round_.dimension).exclude(pk=round_.pk)
    known = RoundRater.objects.filter(user=rater, round__in=alike)
    rated = Q(guidelines_read_at__isnull=False) | Q(round__pairs__judgments__rater=rater)
    older = GuidelinesVersion.objects.filter(
        collection=round_.collection,
        number__lt=round_.guidelines.number,
        rounds__in=known.filter(rated).values("round"),
    )
    newest = older.order_by("-number").first()
    return News(newest, round_.guidelines) if newest else None


def mark_read(round_: Round, rater: User) -> None:
    """Record that the rater has read the round's version; only the first time counts."""
    round_.raters.filter(user=rater, guidelines_read_at__isnull=True).update(guidelines_read_at=timezone.now())
