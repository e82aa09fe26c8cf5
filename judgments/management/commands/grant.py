"""Command that grants a collection the use of engines, directories, providers and models."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from assay.core.errors import NotValid
from judgments.members import grants
from judgments.models import Collection, Grant


class Command(BaseCommand):
    help = (
        "Let a collection use hosts, folders and models that the settings CONNECTOR_HOSTS, CONNECTOR_FOLDERS, "
        "PROVIDER_HOSTS, LOCAL_MODELS and WEBHOOK_HOSTS allow. Without options, list the grants."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "collection",
            nargs="?",
            metavar="SLUG",
            help="slug of the collection (by default, the grants of all collections are listed)",
        )
        for kind in Grant.Kind:
            parser.add_argument(
                f"--{kind}", action="append", default=[], metavar="VALUE", help=f"{kind.label}; * for all"
            )
        parser.add_argument(
            "--all", action="store_true", help="grant everything that the settings allow, now and later"
        )
        parser.add_argument("--revoke", action="store_true", help="revoke these grants")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = [(kind, value) for kind in Grant.Kind for value in options[kind.replace("-", "_")]]
        if options["all"]:
            wanted += [(kind, grants.ALL) for kind in Grant.Kind]
        rows = Grant.objects.select_related("collection")
        if options["collection"]:
            collection = Collection.objects.filter(slug=options["collection"]).first()
            if collection is None:
                raise CommandError(f"Unknown collection {options['collection']!r}. Check the slug.")
            if options["revoke"] and not wanted:
                raise CommandError("No grants given. Name the grants to revoke, or use --all.")
            rows = rows.filter(collection=collection)
            with transaction.atomic():
                self._change(collection, wanted, options)
        elif wanted or options["revoke"]:
            raise CommandError("No collection given. Add its slug: manage.py grant SLUG ...")
        for row in rows:
            note = (
                "" if grants.has_effect(row) else "  (no effect, because the settings of this server do not allow it)"
            )
            self.stdout.write(f"{row.collection.slug}  {row.kind}  {row.value}{note}")

    def _change(self, collection: Collection, wanted: list[tuple[Grant.Kind, str]], options: dict[str, Any]) -> None:
        if options["revoke"]:
            mine = collection.grants.all()
            gone = mine if options["all"] else [row for row in mine if (row.kind, row.value) in wanted]
            for row in gone:
                grants.revoke(row)
            return
        try:
            for kind, value in wanted:
                grants.grant(collection, kind=kind, value=value)
        except NotValid as error:
            raise CommandError(str(error)) from error
