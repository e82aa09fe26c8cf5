"""Command that imports a file into a collection, as the page and the API do."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from assay.core.errors import AssayError
from judgments.hooks import IMPORT_KINDS
from judgments.imports import ingestion
from judgments.models import Collection, Membership, Upload

SHOWN = 20


class Command(BaseCommand):
    help = (
        "Import a file into a collection: queries, documents, runs, labels, or judgments by raters, such as a Quepid "
        "book. Nothing is stored if a row has an error."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("collection", metavar="SLUG", help="slug of the collection")
        parser.add_argument("kind", choices=list(IMPORT_KINDS), help="what the file contains")
        parser.add_argument("file", metavar="FILE", type=Path, help="the file")
        parser.add_argument("--as", dest="user", required=True, metavar="USER", help="a lead of the collection")
        parser.add_argument("--name", default="", help="name of the round, label source or run")
        parser.add_argument("--format", default="", help="format of the file; default: detected from the content")
        parser.add_argument("--dry-run", action="store_true", help="only print the report")
        parser.add_argument(
            "--accept-errors", action="store_true", help="store the other rows if some rows have errors"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        member = IMPORT_KINDS[options["kind"]]
        role = Membership.objects.filter(
            collection__slug=options["collection"], user__username=options["user"], role__in=member.roles
        ).first()
        if role is None:
            slugs = Collection.objects.filter(slug=options["collection"])
            known = "may not import these files" if slugs.exists() else "cannot be checked: the collection is unknown"
            raise CommandError(f"{options['user']} in {options['collection']}: {known}. Check the slug and the user.")
        path: Path = options["file"]
        try:
            with path.open("rb") as stream:
                upload = ingestion.receive(
                    role.collection,
                    kind=options["kind"],
                    file=stream,
                    filename=path.name,
                    actor=role.user,
                    format=options["format"],
                )
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}. Name a file that you may read.") from error
        except AssayError as error:
            raise CommandError(str(error)) from error
        self._print(upload)
        if options["dry_run"]:
            ingestion.throw_away(upload, actor=role.user)
            return
        given = {"name": options["name"]} if options["name"] else {}
        try:
            stored = ingestion.store(upload, actor=role.user, options=given, accept_errors=options["accept_errors"])
        except AssayError as error:
            ingestion.throw_away(upload, actor=role.user)
            raise CommandError(str(error)) from error
        self.stdout.write("stored " + ", ".join(f"{name} {value}" for name, value in stored.items() if value))

    def _print(self, upload: Upload) -> None:
        """Print what the file contains and its issues."""
        report = upload.report
        self.stdout.write(f"{upload.filename}: {upload.format}, {upload.preview['to_store']:,} rows to store")
        for name, figure in upload.preview["figures"].items():
            self.stdout.write(f"  {name}: {figure}")
        for issue in report["problems"][:SHOWN]:
            where = ":".join(str(part) for part in (issue["line"], issue["column"]) if part)
            self.stdout.write(f"  {issue['code']} {where} {issue['what']}; {issue['done']}. {issue['fix']}")
        if (more := len(report["problems"]) - SHOWN) > 0:
            self.stdout.write(f"  and {more:,} more issues")
