"""Cache of the migrated test database, so that tests do not run the migrations.

Dozens of migrations take seconds, in each worker and in each process that a test starts on a database of its own. The
file in ``var`` is named by what the migrations say: where one is new or says something else, they run again. On
PostgreSQL they leave a database to copy, for as long as the tests run that were told of it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

ROOT = Path(__file__).resolve().parent.parent
VAR = ROOT / "var"
PREFIX = "migrated-"
# What names the PostgreSQL database that has the tables, in the environment of tests.
TEMPLATE = "TEMPLATE_DATABASE"


def template_path() -> Path:
    """The file that these migrations left, or will leave."""
    import django
    from django.apps import apps

    digest = hashlib.sha256(django.__version__.encode())
    digest.update((ROOT / "judgments" / "models" / "fields.py").read_bytes())  # migrations name what it defines
    for app in sorted(apps.get_app_configs(), key=lambda one: one.label):
        for file in sorted(Path(app.path, "migrations").glob("*.py")):
            digest.update(f"\n{app.label}/{file.name}\n".encode() + file.read_bytes())
    return VAR / f"{PREFIX}{digest.hexdigest()[:20]}.sqlite3"


def copied(to: Path) -> bool:
    """Whether there was something to copy to this path."""
    try:
        shutil.copyfile(template_path(), to)
    except FileNotFoundError:
        return False
    return True


def keep() -> None:
    """Keep the default database as the migrations have just made it; what was kept before goes."""
    from django.db import connection

    path = template_path()
    unique = path.with_suffix(f".{os.getpid()}")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(unique)])
    for old in VAR.glob(f"{PREFIX}*.sqlite3"):
        if old != path:
            with suppress(FileNotFoundError):
                old.unlink()
    unique.replace(path)


def template() -> str | None:
    """The database from which PostgreSQL begins a new one, if somebody ran the migrations in one."""
    return os.environ.get(TEMPLATE) or None


def make_template(url: str, name: str) -> None:
    """A database of this name beside the one at the address, as the migrations leave it."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    with tempfile.TemporaryDirectory() as folder:
        _migrate(folder, urlunsplit(urlsplit(url)._replace(path=f"/{name}")))


def drop_template(url: str, name: str) -> None:
    """Nobody begins from it any more; where no server answers, there is none."""
    import psycopg

    with suppress(psycopg.OperationalError), psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def _migrate(folder: str, url: str) -> None:
    os.environ.update(ASSAY_VAR=folder, DATABASE_URL=url, DJANGO_SETTINGS_MODULE="config.settings", DEBUG="1")
    import django
    from django.core.management import call_command
    from django.db import connection

    django.setup()
    if url or not template_path().exists():
        VAR.mkdir(parents=True, exist_ok=True)
        call_command("migrate", verbosity=0)
        if not url:
            keep()
        connection.close()


def main() -> int:
    """Run the migrations where nobody did yet: for SQLite, or in a new template at DATABASE_URL."""
    url, name = os.environ.get("DATABASE_URL", ""), template()
    if url and name:
        make_template(url, name)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        _migrate(folder, "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
