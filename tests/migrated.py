"""Where does a test get tables from without waiting for the migrations? They ran once, and left a file to copy.

Dozens of migrations take seconds, in each worker and in each process that a test starts on a database of its own. The
file in ``var`` is named by what the migrations say: where one is new or says something else, they run again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VAR = ROOT / "var"
PREFIX = "migrated-"


def kept() -> Path:
    """The file that these migrations left, or will leave."""
    import django
    from django.apps import apps

    said = hashlib.sha256(django.__version__.encode())
    said.update((ROOT / "judgments" / "models" / "fields.py").read_bytes())  # migrations name what it defines
    for app in sorted(apps.get_app_configs(), key=lambda one: one.label):
        for file in sorted(Path(app.path, "migrations").glob("*.py")):
            said.update(f"\n{app.label}/{file.name}\n".encode() + file.read_bytes())
    return VAR / f"{PREFIX}{said.hexdigest()[:20]}.sqlite3"


def copied(to: Path) -> bool:
    """Whether there was something to copy to this path."""
    try:
        shutil.copyfile(kept(), to)
    except FileNotFoundError:
        return False
    return True


def keep() -> None:
    """Keep the default database as the migrations have just made it; what was kept before goes."""
    from django.db import connection

    path = kept()
    unique = path.with_suffix(f".{os.getpid()}")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(unique)])
    for old in VAR.glob(f"{PREFIX}*.sqlite3"):
        if old != path:
            with suppress(FileNotFoundError):
                old.unlink()
    unique.replace(path)


def main() -> int:
    """Run the migrations where nobody did yet."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(ASSAY_VAR=folder, DATABASE_URL="", DJANGO_SETTINGS_MODULE="config.settings", DEBUG="1")
        import django
        from django.core.management import call_command
        from django.db import connection

        django.setup()
        if not kept().exists():
            VAR.mkdir(parents=True, exist_ok=True)
            call_command("migrate", verbosity=0)
            keep()
            connection.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
