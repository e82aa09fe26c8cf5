"""Command that creates a user account: ``manage.py add_user NAME --password-stdin``."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from getpass import getpass
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from judgments.models import User, audit


class Command(BaseCommand):
    help = "Create a user. Memberships in collections determine the user's rights."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the user name")
        parser.add_argument(
            "--password-stdin",
            action="store_true",
            help="read the password from standard input instead of prompting for it",
        )
        parser.add_argument("--email", default="", help="email address, visible to operators")
        parser.add_argument("--superuser", action="store_true", help="allow access to /admin/")
        parser.add_argument(
            "--can-create-collections",
            action="store_true",
            help="allow the user to create and lead collections (superusers always can)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = User(username=options["name"], email=options["email"])
        user.is_staff = user.is_superuser = options["superuser"]
        user.can_create_collections = options["can_create_collections"]
        password = _password(options["password_stdin"])
        if not password:
            raise CommandError(
                f"The user {options['name']} was not created because the password is empty. Enter a password."
            )
        try:
            user.full_clean(exclude=["password"])
        except ValidationError as error:
            raise CommandError(f"The user {options['name']} was not created. {' '.join(error.messages)}") from error
        self._warn(password, user)
        user.set_password(password)
        with transaction.atomic():
            user.save()
            audit.record(
                "add_user",
                f"the server's operator created the user {user}",
                actor=None,
                collection=None,
                target=user,
                can_create_collections=user.can_create_collections,
            )
        self.stdout.write(f"{user} can log in now.")

    def _warn(self, password: str, user: User) -> None:
        """Warn about a weak password, but accept it, because the operator decides."""
        try:
            validate_password(password, user)
        except ValidationError as error:
            remedy = f"Set another password with manage.py changepassword {user}."
            self.stderr.write(f"The password is weak: {' '.join(error.messages)} {remedy}")


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise CommandError(
            "The terminal is not interactive. Pass the password on standard input with --password-stdin."
        )
    return getpass()
