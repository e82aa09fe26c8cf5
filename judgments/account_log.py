"""Log of log-ins, log-outs and password changes.

An attempt that had to wait is not logged: its password was not checked, and logging it would let strangers fill the
table.
"""

from __future__ import annotations

from typing import Any

from judgments import audit
from judgments.models import User

LOG_IN, API, OLD_PASSWORD, TOKENS = "log-in page", "API", "password page", "token page"


def tried(name: str, address: str, by: str, *, right: bool) -> None:
    """Record that a password was tried; a name that nobody has is left out, since it may be a password."""
    user = User.objects.filter(username=name).first() if "\0" not in name else None
    who = str(user) if user else "an unknown name"
    verb, said = ("log_in", "The right password for") if right else ("log_in_failed", "A wrong password for")
    audit.record(
        f"accounts.{verb}",
        f"{said} {who} from {address or 'an unknown address'} ({by})",
        actor=user if right else None,
        collection=None,
        target=user,
        address=address,
        by=by,
    )


def logged_out(user: User, address: str) -> None:
    """Record that somebody ended their session."""
    said = f"{user} logged out from {address or 'an unknown address'}"
    audit.record("accounts.log_out", said, actor=user, collection=None, target=user, address=address)


def password_changed(user: User, *, actor: Any) -> None:
    """Record that an account has another password."""
    whose = "their password" if actor == user else f"the password of {user}"
    audit.record("accounts.change_password", f"{actor} changed {whose}", actor=actor, collection=None, target=user)
