"""Create a user account: ``manage.py add_user NAME --password-stdin``."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from getpass import getpass
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from judgments import audit
from judgments.models import User


class Command(BaseCommand):
    help = "Make a user. What they may do is said by the collections that they are added to."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the user name")
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from standard input instead of asking"
        )
        parser.add_argument("--email", default="", help="an address, for those who run the server")
        parser.add_argument("--superuser", action="store_true", help="may also use /admin/")
        parser.add_argument(
            "--can-create-collections",
            action="store_true",
            help="may create collections and lead them; superusers may anyway",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = User(username=options["name"], email=options["email"])
        user.is_staff = user.is_superuser = options["superuser"]
        user.can_create_collections = options["can_create_collections"]
        password = _password(options["password_stdin"])
        if not password:
            raise CommandError(f"{options['name']} was not made: there is no password.")
        try:
            user.full_clean(exclude=["password"])
        except ValidationError as error:
            raise CommandError(f"{options['name']} was not made: {' '.join(error.messages)}") from error
        self._warn(password, user)
        user.set_password(password)
        with transaction.atomic():
            user.save()
            audit.record(
                "add_user",
                f"the server's operator made the user {user}",
                actor=None,
                collection=None,
                target=user,
                can_create_collections=user.can_create_collections,
            )
        self.stdout.write(f"{user} can log in now.")

    def _warn(self, password: str, user: User) -> None:
        """Whoever runs the server decides; a weak password is told, not refused."""
        try:
            validate_password(password, user)
        except ValidationError as error:
            remedy = f"manage.py changepassword {user} sets another."
            self.stderr.write(f"A weak password: {' '.join(error.messages)} {remedy}")


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise CommandError("There is nobody to ask for a password; pipe it in, with --password-stdin.")
    return getpass()
