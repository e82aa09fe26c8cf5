"""Tests of a Python client that is generated from the OpenAPI document: it type-checks, and it can call the API."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.world import World

pytestmark = pytest.mark.slow
SCHEMA = Path(__file__).resolve().parent.parent / "config" / "openapi.json"
OPTIONS = {"post_hooks": [], "content_type_overrides": {"application/x-ndjson": "application/octet-stream"}}


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the package ``shop_client``."""
    pytest.importorskip("openapi_python_client")
    folder = tmp_path_factory.mktemp("client")
    options = folder / "options.json"
    options.write_text(json.dumps(OPTIONS))
    place = ["--path", str(SCHEMA), "--output-path", str(folder / "shop_client"), "--config", str(options)]
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"]
    done = subprocess.run([*command, *place], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_client_has_a_function_for_each_call(generated: Path) -> None:
    calls = [call for path in json.loads(SCHEMA.read_text())["paths"].values() for call in path.values()]
    modules = [path for path in generated.glob("shop_client/api/*/*.py") if path.name != "__init__.py"]
    assert len(modules) == len(calls)


def test_the_client_type_checks(generated: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--config-file=", "--cache-dir", str(generated / "cache"), "--strict"]
    # The generator casts lists that have the right type already.
    done = subprocess.run(
        [*command, "--no-warn-redundant-casts", "-p", "shop_client"], capture_output=True, text=True, cwd=generated
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def importable(generated: Path, monkeypatch: Any) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(generated))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop_client"]:
        del sys.modules[name]


def test_the_client_reads_and_changes(live_server: Any, world: World, lead: Any, api_of: Any, importable: None) -> None:
    token = api_of(lead)._credentials["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
    package = importlib.import_module("shop_client")
    runs = importlib.import_module("shop_client.api.runs.collections_runs_list")
    patch = importlib.import_module("shop_client.api.collections.collections_partial_update")
    read = importlib.import_module("shop_client.api.collections.collections_retrieve")
    change = importlib.import_module("shop_client.models").PatchedCollectionChange(name="Renamed")
    with package.AuthenticatedClient(live_server.url, token) as client:
        assert [run.name for run in runs.sync("shop", client=client).results] == ["bm25", "neural"]
        assert patch.sync("shop", client=client, body=change).name == "Renamed"
        assert read.sync("nowhere", client=client).error.code == "not_found"
