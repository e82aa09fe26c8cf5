"""Tests of the settings: location and permissions of the server state."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def python(code: str, folder: Path, **more: str) -> str:
    """Run this code in a process of its own that starts in this folder, with no setting of ours."""
    nothing = dict.fromkeys(("ASSAY_VAR", "DATABASE_URL", "REDIS_URL", "STORAGE_URL", "SECRET_KEY"), "")
    environment = {
        **os.environ,
        **nothing,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONPATH": str(ROOT),
        **more,
    }
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_importing_the_settings_writes_nothing(tmp_path: Path) -> None:
    before = {path.name for path in ROOT.iterdir()}
    python("import django; django.setup()", tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert {path.name for path in ROOT.iterdir()} == before


def test_state_is_in_var_of_the_working_directory_and_private_to_its_owner(tmp_path: Path) -> None:
    code = """
import django; django.setup()
from django.conf import settings
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE one (number integer)")
    print(settings.SECRET_KEY)
"""
    key = python(code, tmp_path).strip()
    var = tmp_path / "var"
    assert (var / "secret_key").read_text() == key
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in var.iterdir()}
    assert set(modes) >= {"secret_key", "assay.sqlite3"}
    assert set(modes.values()) == {0o600}
    assert python("from django.conf import settings; print(settings.SECRET_KEY)", tmp_path).strip() == key


def test_threads_that_need_the_first_key_at_once_get_the_same(tmp_path: Path) -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from config import settings

together = Barrier(8)
def key(_):
    together.wait()
    return settings.laptop_key()

with ThreadPoolExecutor(8) as threads:
    for _ in range(50):
        assert len(set(threads.map(key, range(8)))) == 1
        (settings.VAR / "secret_key").unlink()
"""
    python(code, tmp_path)
    assert list((tmp_path / "var").iterdir()) == []


def test_a_database_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "assay.sqlite3").touch(mode=0o644)
    (tmp_path / "assay.sqlite3").chmod(0o644)
    code = "import django; django.setup(); from django.db import connection; connection.ensure_connection()"
    python(code, tmp_path, ASSAY_VAR=str(tmp_path))
    assert stat.S_IMODE((tmp_path / "assay.sqlite3").stat().st_mode) == 0o600


def test_files_and_their_folders_are_closed_to_others(tmp_path: Path) -> None:
    code = """
import django; django.setup()
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
default_storage.save("runs/deep/a.run", ContentFile(b"q1"))
"""
    python(code, tmp_path)
    made = sorted((tmp_path / "var" / "storage").rglob("*"))
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [tmp_path / "var" / "storage", *made]}
    assert modes == {"storage": 0o750, "runs": 0o750, "deep": 0o750, "a.run": 0o640}


@pytest.mark.parametrize("rate", ["600", "0/minute", "600/x", "on"])
def test_an_invalid_rate_is_refused(tmp_path: Path, rate: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as raised:
        python("import django; django.setup()", tmp_path, API_RATE=rate)
    assert "API_RATE" in raised.value.stderr
