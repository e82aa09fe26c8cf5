"""Access control: which user may reach which row, and which pairs a rater may not see grades for.

Every page and every endpoint checks access here, and nowhere else. A collection does not exist (404) for a user who
is not a member. A member without the right gets a 403. This module also decides what a rater may see while
grading, so that no template can forget it.
"""

from __future__ import annotations

import uuid as uuid_module
from functools import cache
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import F, Model, QuerySet

from assay.core.errors import NotAllowed, NotFound
from judgments.models import Collection, Job, Membership, Pair, Role, Round, RoundRater, Snapshot
from judgments.models.fields import Compiled, Given
from judgments.web.posted_values import uuid_of

Row = TypeVar("Row", bound=Model)

LEADS = (Role.LEAD,)
STAFF = (Role.LEAD, Role.ENGINEER)
EVERYBODY = (Role.LEAD, Role.ENGINEER, Role.RATER)
# A lead who also rates is a rater for those pairs; rounds.is_rater decides who was invited.
RATERS = (Role.LEAD, Role.RATER)
AROUND_ROUND = ("collection", "scale", "guidelines")


def reach(rows: QuerySet[Row], user: Any, roles: tuple[str, ...], *, via: str = "collection", **lookup: Any) -> Row:
    """Return the row if the user is a member of its collection in one of the roles."""
    try:
        row = _of_member(rows, user.pk, via).get(**lookup)
    except (rows.model.DoesNotExist, ValueError, ValidationError) as error:
        raise NotFound(NOTHING_HERE) from error
    return _in_role(row, roles, via)


NOTHING_HERE = "Page not found, or you are not a member of its collection."


def _of_member(rows: QuerySet[Row], user: Any, via: str) -> QuerySet[Row]:
    """Return the rows of the user's collections, annotated with the user's role."""
    prefix = f"{via}__" if via else ""
    return rows.filter(**{f"{prefix}memberships__user_id": user}).annotate(role_of_user=F(f"{prefix}memberships__role"))


def _in_role(row: Row, roles: tuple[str, ...], via: str) -> Row:
    """Return the row if the annotated role is one of these."""
    role = row.role_of_user  # type: ignore[attr-defined]
    if role not in roles:
        collection: Any = row
        for step in via.split("__") if via else ():
            collection = getattr(collection, step)
        raise NotAllowed(f"This requires the role {' or '.join(roles)}. Your role in {collection.name} is {role}.")
    return row


def may_create_collections(user: Any) -> bool:
    """Return whether the user may create collections: operators, and users to whom an operator gave the right."""
    return bool(user.can_create_collections or user.is_staff or user.is_superuser)


def check_may_create_collections(user: Any) -> None:
    """Refuse a user without the right to create collections."""
    if not may_create_collections(user):
        raise NotAllowed("You don't have permission to create collections. Ask the operator of this server for it.")


def role_in(user: Any, collection: Collection) -> str | None:
    """Return the user's role in the collection, or None for an outsider."""
    return Membership.objects.filter(collection=collection, user_id=user.pk).values_list("role", flat=True).first()


def collection_for(user: Any, slug: str, roles: tuple[str, ...]) -> Collection:
    """Return the collection with this slug for a member in one of the roles."""
    return reach(Collection.objects.all(), user, roles, via="", slug=slug)


def round_for(
    user: Any, uuid: uuid_module.UUID, roles: tuple[str, ...], related: tuple[str, ...] = AROUND_ROUND
) -> Round:
    """Return the round with this public id for a member of its collection in one of the roles."""
    try:
        rows = _round(related)(user=user.pk, uuid=uuid_module.UUID(str(uuid)))
    except ValueError as error:
        raise NotFound(NOTHING_HERE) from error
    if not rows:
        _refuse_former(user, uuid)
        raise NotFound(NOTHING_HERE)
    return _in_role(rows[0], roles, "collection")


@cache
def _round(related: tuple[str, ...]) -> Compiled:
    rows = Round.objects.select_related(*related).filter(uuid=Given("uuid"))
    return Compiled(lambda: _of_member(rows, Given("user"), "collection"))


def _refuse_former(user: Any, uuid: uuid_module.UUID) -> None:
    """Tell a former rater of the round that they were removed; some of their answers may still be in transit."""
    assignment = (
        RoundRater.objects.filter(user_id=user.pk, round__uuid=uuid).select_related("round__collection").first()
    )
    if assignment is not None and role_in(user, assignment.round.collection) is None:
        raise NotAllowed(
            f"You are no longer a member of {assignment.round.collection.name}. Your earlier answers are stored, "
            "but new answers are refused. Ask the lead for access."
        )


def snapshot_for(user: Any, uuid: uuid_module.UUID, roles: tuple[str, ...] = STAFF) -> Snapshot:
    """Return the snapshot with this public id."""
    return reach(Snapshot.objects.select_related("collection"), user, roles, uuid=uuid)


def job_for(user: Any, uuid: uuid_module.UUID, roles: tuple[str, ...] = STAFF) -> Job:
    """Return the job with this public id."""
    return reach(Job.objects.select_related("collection"), user, roles, uuid=uuid)


def existing(rows: QuerySet[Row], problem: str) -> Row:
    """Return the first row, or raise NotFound with the problem."""
    if (row := rows.first()) is None:
        raise NotFound(problem)
    return row


def pair_for(user: Any, round_: Round, uuid: uuid_module.UUID) -> Pair:
    rows = round_.pairs.select_related("query", "document", "round").filter(uuid=uuid_of(str(uuid)))
    return existing(rows, "This round has no such pair.")
