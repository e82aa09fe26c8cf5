"""Log of logins, logouts and password changes.

A delayed attempt is not logged, because its password was not checked and attackers could fill the table.
"""

from __future__ import annotations

from typing import Any

from judgments.models import User, audit

LOG_IN, API, OLD_PASSWORD, TOKENS = "login page", "API", "password page", "token page"


def record_login_attempt(name: str, address: str, by: str, *, right: bool) -> None:
    """Record a login attempt. An unknown name is left out, because it may be a password."""
    user = User.objects.filter(username=name).first() if "\0" not in name else None
    who = str(user) if user else "an unknown name"
    verb, sentence = ("log_in", "Correct password for") if right else ("log_in_failed", "Wrong password for")
    audit.record(
        f"accounts.{verb}",
        f"{sentence} {who} from {address or 'an unknown address'} ({by})",
        actor=user if right else None,
        collection=None,
        target=user,
        address=address,
        by=by,
    )


def record_logout(user: User, address: str) -> None:
    """Record that a user logged out."""
    sentence = f"{user} logged out from {address or 'an unknown address'}"
    audit.record("accounts.log_out", sentence, actor=user, collection=None, target=user, address=address)


def record_password_change(user: User, *, actor: Any) -> None:
    """Record that the password of an account changed."""
    whose = "their password" if actor == user else f"the password of {user}"
    audit.record("accounts.change_password", f"{actor} changed {whose}", actor=actor, collection=None, target=user)
