"""API endpoint for the progress of a round."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.response import Response

from assay.core.errors import NotAllowed
from judgments.labels import round_labels
from judgments.models import User
from judgments.progress import progress
from judgments.progress.progress import pace_of
from judgments.rating.pair_state import median_seconds
from judgments.rating.rater_progress import own_part
from judgments.web import access
from judgments.web.endpoints import InRound, call


class ProgressOfRater(serializers.Serializer):
    """Progress of one rater, by pseudonym."""

    rater = serializers.CharField(source="pseudonym")
    graded = serializers.IntegerField()
    unrateable = serializers.IntegerField()
    later = serializers.IntegerField()
    median_seconds = serializers.FloatField(allow_null=True)
    left = serializers.IntegerField(help_text="The rater's equal share of the remaining ratings.")
    hours_left = serializers.FloatField(allow_null=True, help_text="Hours for this share at the rater's own pace.")


class StrandedBody(serializers.Serializer):
    """Ratings that no current rater can give, because a rater grades each pair only once."""

    language = serializers.CharField(help_text="Language of the queries; empty if the round ignores languages.")
    ratings = serializers.IntegerField(source="places")
    raters_missing = serializers.IntegerField(source="raters", help_text="Minimum number of additional raters.")


class ProgressBody(serializers.Serializer):
    """Progress of a round in ratings. Raters see only their own share."""

    pairs = serializers.IntegerField(required=False)
    most_pairs = serializers.IntegerField(required=False, allow_null=True, help_text="Null if the pairs are fixed.")
    more_may_come = serializers.BooleanField(source="growing", help_text="Whether more pairs are still being chosen.")
    ratings_wanted = serializers.IntegerField(source="wanted", required=False)
    ratings = serializers.IntegerField(source="filled", required=False)
    called_in = serializers.IntegerField(required=False, help_text="Ratings added to the plan because raters differed.")
    surplus = serializers.IntegerField(required=False)
    stranded = serializers.IntegerField(required=False, help_text="Missing ratings that no current rater can give.")
    stranded_by_language = StrandedBody(source="shortages", many=True, required=False)
    most_ratings = serializers.IntegerField(
        source="most_wanted", required=False, help_text="Maximum number of ratings, including pairs chosen later."
    )
    hours_left = serializers.FloatField(
        required=False, allow_null=True, help_text="Hours left, estimated from each rater’s own mean time."
    )
    hours_low = serializers.FloatField(
        required=False, allow_null=True, help_text="Lower end of the 80% interval of `hours_left`, or null."
    )
    hours_high = serializers.FloatField(
        required=False, allow_null=True, help_text="Upper end of the 80% interval of `hours_left`, or null."
    )
    most_hours_left = serializers.FloatField(required=False, allow_null=True)
    ratings_a_day = serializers.FloatField(
        source="a_day", required=False, allow_null=True, help_text="Ratings per day since the round opened."
    )
    raters = ProgressOfRater(many=True)
    remaining = serializers.IntegerField(
        required=False, help_text="Number of pairs that the calling rater can still grade."
    )


class Progress(InRound):
    reads = access.EVERYBODY
    tag = "rounds"

    @call("Get a round's progress", ProgressBody)
    def get(self) -> progress.Progress | Response:
        """Leads and engineers see the whole round by pseudonym; raters see their own share."""
        if access.role_in(self.user, self.round.collection) in access.STAFF:
            return progress.progress(self.round)
        return Response(self._own(self.user))

    def _own(self, rater: User) -> dict[str, Any]:
        name = round_labels.pseudonyms(self.round).get(rater.pk)
        if name is None:
            raise NotAllowed(f"You are not a rater of {self.round}.")
        part = own_part(self.round, rater)
        pace = pace_of(part.tally.seconds) or progress.usual_pace(self.round)
        mine = {
            "rater": name,
            **{state: getattr(part.tally, state) for state in ("graded", "unrateable", "later")},
            "median_seconds": median_seconds(part.tally.seconds),
            "left": part.left,
            "hours_left": None if pace is None else part.left * pace.mean / 3600,
        }
        return {"raters": [mine], "remaining": part.most, "more_may_come": self.round.growing}
