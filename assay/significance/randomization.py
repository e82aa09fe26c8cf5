"""Randomization test that flips the sign of each query's difference at random.

Under signs e the difference of two means is (e.Sj - e.Si) / n, so a single product of signs and scores covers every
pair.
"""

from __future__ import annotations

from assay.significance.paired_differences import PairedScores, PairedTest, PValues, limits, of_draws
from assay.significance.sign_flips import Bytes, Floats, all_signs, count_hits, random_bytes, signs_of

MOST_ENUMERATED = 16


def sign_flip(given: PairedScores) -> PValues:
    """Flip the sign of each query's difference at random; p is the share of patterns whose mean is at least as far from
    0. Up to 16 queries, all patterns are used and p = hits / 2^n. Above that, p = (hits + 1) / (permutations + 1),
    which is never 0. Sums that differ only by rounding count as equal, so that ties are hits. With weights, the signs
    of w d are flipped; the sum of the weights is the same in every pattern and cancels."""
    weighted, queries = given.weighted, len(given.scores)
    if queries <= MOST_ENUMERATED:
        patterns = 1 << queries
        hits = 2 * count_hits(all_signs(queries), lambda signs: signs @ weighted, given.pairs, limits(given))
        return PValues(tuple((hits / patterns).tolist()), (None,) * len(hits), 2 / patterns, patterns)

    def sums(drawn: Bytes) -> Floats:
        return signs_of(drawn, queries) @ weighted

    draws = random_bytes(queries, given.permutations, given.seed)
    return of_draws(count_hits(draws, sums, given.pairs, limits(given)), given.permutations)


RANDOMIZATION = PairedTest(
    name="randomization",
    title="Sign-flip randomization",
    description="Assumes only that, if the runs do not differ, each difference could equally have the opposite sign.",
    source="Fisher 1935; Smucker, Allan and Carterette 2007",
    draws=True,
    compute=sign_flip,
)
