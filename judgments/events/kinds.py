"""Kinds of events: who gets a notice about them, and whether webhooks receive them."""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.errors import NotValid


@dataclass(frozen=True)
class EventKind:
    """A kind of event. ``withheld`` is the notice for a lead who may not see the result yet; such a lead gets none if
    the event itself ``reveals`` the result.
    """

    name: str
    title: str
    description: str
    raters: bool = False
    leads: bool = False
    webhook: bool = False
    mail: bool = True
    withheld: str = ""
    reveals: bool = False


_HIDDEN = "There is news about {}. You can see it after you grade your remaining pairs."

KINDS = {
    kind.name: kind
    for kind in (
        EventKind("work.waiting", "New work", "A round that you rate in opened, or you joined one.", raters=True),
        EventKind("guidelines.changed", "Guidelines changed", "A collection has new guidelines.", raters=True),
        EventKind(
            "round.closed",
            "Round closed",
            "A round was closed, so it accepts no more judgments.",
            raters=True,
            leads=True,
            webhook=True,
        ),
        EventKind(
            "agreement.checked",
            "Agreement passed or failed",
            "The agreement of a closed round was compared with its gate.",
            leads=True,
            webhook=True,
            withheld=_HIDDEN.format("the agreement of a round"),
        ),
        EventKind(
            "verdict.reached",
            "Verdict reached",
            "A decision found whether a system is better, worse or equivalent.",
            leads=True,
            webhook=True,
            reveals=True,
        ),
        EventKind(
            "snapshot.frozen",
            "Snapshot frozen",
            "Labels were frozen as a snapshot.",
            leads=True,
            webhook=True,
            mail=False,
        ),
        EventKind(
            "labels.stale", "Labels stale", "A freshness check found that labels are stale.", leads=True, webhook=True
        ),
        EventKind(
            "gate.failed",
            "Gate failed",
            "A run failed a gate on a snapshot.",
            leads=True,
            webhook=True,
            reveals=True,
        ),
        EventKind(
            "quality.alert",
            "Quality alert",
            "A quality check has a new alert about a rater.",
            leads=True,
            withheld=_HIDDEN.format("the quality of raters"),
        ),
        EventKind(
            "webhook.stopped",
            "Webhook switched off",
            "A webhook failed for days, so the server switched it off.",
            leads=True,
        ),
    )
}
WEBHOOK_EVENTS = tuple(kind.name for kind in KINDS.values() if kind.webhook)


def checked_webhook_events(names: list[str]) -> list[str]:
    """Return the events of a webhook in the order of their declaration."""
    if unknown := [name for name in names if name not in WEBHOOK_EVENTS]:
        raise NotValid(f"Unknown event {unknown[0][:60]!r}. Known events: {', '.join(WEBHOOK_EVENTS)}.", "events")
    if not names:
        raise NotValid("The webhook has no events.", {"events": "Choose at least one event."})
    return [name for name in WEBHOOK_EVENTS if name in names]
