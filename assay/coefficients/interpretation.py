"""Interpretation of a coefficient in words: conventional bands, and reasons why it is undefined."""

from __future__ import annotations

from dataclasses import dataclass

from assay.coefficients.coefficient import REASONS


@dataclass(frozen=True)
class Band:
    """Conventional name and advice for a range of kappa."""

    top: float
    name: str
    advice: str


# Advice as the end of a sentence, without a period.
BANDS = (
    Band(0.20, "slight", "raters are guessing; revise guidelines"),
    Band(0.40, "fair", "guidelines unclear; calibrate with examples"),
    Band(0.60, "moderate", "acceptable for exploratory work"),
    Band(0.80, "substantial", "good for production gates"),
    Band(1.00, "almost perfect", "target for high-stakes domains"),
)

# Krippendorff's own reading of alpha, after Content Analysis (2nd ed. 2004, 11.4): stricter than the bands for kappa.
READINGS = (
    Band(0.667, "not reliable", "draw no conclusions from these grades"),
    Band(0.80, "tentative", "draw only tentative conclusions"),
    Band(1.00, "reliable", "good enough for conclusions"),
)


def reading(value: float) -> Band:
    """Return Krippendorff's interpretation of an alpha.

    Examples
    --------
    >>> [reading(value).name for value in (0.66, 0.667, 0.8, 0.9)]
    ['not reliable', 'tentative', 'reliable', 'reliable']
    """
    return next((one for one in READINGS if value < one.top), READINGS[-1])


def band(value: float) -> Band:
    """Return the band of a coefficient. The bands are conventions, not tests.

    Parameters
    ----------
    value : float
        A coefficient, at most 1; values below 0 also count as slight.

    Examples
    --------
    >>> [band(value).name for value in (-0.1, 0.2, 0.41, 0.659, 0.81)]
    ['slight', 'slight', 'moderate', 'substantial', 'almost perfect']
    """
    return next((one for one in BANDS if round(value, 2) <= one.top), BANDS[-1])


def reason_in_words(reason: str | None) -> str:
    """Return why a coefficient is undefined, without the leading "undefined because".

    Examples
    --------
    >>> reason_in_words("no_overlap"), reason_in_words(None)
    ('no pair was graded by two raters', '')
    """
    return REASONS.get(reason or "", reason or "").removeprefix("undefined because ")
