"""Audit trail: write one row for an action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judgments.models import AuditRow, Collection


def record(
    verb: str, sentence: str, *, actor: Any, collection: Collection | None, target: Any = None, **detail: Any
) -> AuditRow:
    """Write one audit row. Called by the verb itself, in the verb's own transaction.

    Parameters
    ----------
    verb : str
        Module and function of the verb, for example ``"rounds.open_round"``.
    sentence : str
        What was done, in words that a colleague understands next year.
    actor : User or None
        Who did it; None for the server itself.
    collection : Collection or None
        Where it was done.
    target : Model, optional
        What it was done to.
    **detail
        What else to keep, as JSON. Never a secret.
    """
    return AuditRow.objects.create(
        verb=verb,
        sentence=sentence[:300],
        actor_id=getattr(actor, "pk", None),
        collection=collection,
        target=type(target).__name__ if target is not None else "",
        target_uuid=getattr(target, "uuid", None),
        detail=detail,
    )


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What of two states differs, for the detail of an act that changes something: ``before`` and ``after``.

    Examples
    --------
    >>> changed({"name": "a", "depth": 3}, {"name": "b", "depth": 3})
    {'before': {'name': 'a'}, 'after': {'name': 'b'}}
    """
    names = [name for name in after if before.get(name) != after[name]]
    return {"before": {name: before.get(name) for name in names}, "after": {name: after[name] for name in names}}
