"""Tests of the wheels of both distributions, installed outside the checkout."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import worked_example
from tests.assay.conftest import FILES

# In one worker, which builds the wheels once.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheels")]
ROOT = Path(__file__).resolve().parents[2]
SUBCOMMANDS = [
    "evaluate qrels.txt bm25.run neural.run -m nDCG@3",
    "compare qrels.txt bm25.run neural.run -m nDCG@3",
    "gate qrels.txt --candidate neural.run --rule RR>=0.5",
    "agreement ratings.csv",
]


class Environment:
    """A virtual environment without pip, and an empty folder in which its commands run."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.folder = folder / "env" / "bin", folder / "empty"
        self.folder.mkdir()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / "env")], check=True)
        self.packages = next((folder / "env").glob("lib/python*/site-packages"))

    def install(self, *wheels: str, check: bool = True) -> int:
        """Install our wheels by their paths, so that no index answers for their names, and pinned packages."""
        pip = [sys.executable, "-m", "pip", "--python", str(self.bin / "python"), "install", "-qq", "--no-compile"]
        pins = ["--constraint", str(ROOT / "constraints.txt")]
        return subprocess.run([*pip, *pins, *wheels], check=check, cwd=self.folder).returncode

    def environment(self, **more: str) -> dict[str, str]:
        """Only what every shell has, so that nothing leads back to the checkout."""
        return {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.folder), **more}

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run one command line of the environment."""
        program, *words = line.split()
        command = [str(self.bin / program), *words]
        return subprocess.run(command, cwd=self.folder, env=self.environment(), capture_output=True, text=True)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The paths of both wheels, built from the checkout."""
    folder = tmp_path_factory.mktemp("wheels")
    pip = [sys.executable, "-m", "pip", "wheel", "-qq", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    subprocess.run([*pip, str(ROOT), str(ROOT / "server")], check=True)
    return {path.name.partition("-")[0]: str(path) for path in folder.iterdir()}


@pytest.fixture(scope="module")
def library(wheels: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the library, and the files of the worked example."""
    made = Environment(tmp_path_factory.mktemp("library"))
    made.install(wheels["assay"])
    for name, text in FILES.items():
        (made.folder / name).write_text(text)
    return made


@pytest.fixture(scope="module")
def server(wheels: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the web app."""
    made = Environment(tmp_path_factory.mktemp("server"))
    made.install(f"{wheels['assay']}[server]", wheels["assay_server"])
    return made


def test_numpy_is_installed_with_the_library_and_nothing_else(library: Environment) -> None:
    installed = {path.name.partition("-")[0] for path in library.packages.glob("*.dist-info")}
    assert installed == {"assay", "numpy"}
    assert (library.packages / "assay" / "py.typed").is_file()


def test_the_package_assay_is_all_that_the_library_adds_to_site_packages(library: Environment) -> None:
    names = {path.name for path in library.packages.iterdir() if not path.name.startswith("numpy")}
    assert {re.sub(r"-[\d.]+\.", "-*.", name) for name in names} == {"assay", "assay-*.dist-info"}


@pytest.mark.parametrize("line", ["--help", *SUBCOMMANDS])
def test_the_command_works_with_numpy_alone(library: Environment, line: str) -> None:
    done = library.run(f"assay {line}")
    assert done.returncode == 0, done.stderr
    assert done.stdout
    if line.startswith("evaluate"):
        assert f"{worked_example.NDCG_AT_3['bm25']:.4f}" in done.stdout


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("assay sample clicks.csv --method pps --n 1", "logs"),
        ("assay clicks clicks.csv", "stats"),
        ("assay mcp", "mcp"),
        ("assay serve --demo", "server"),
    ],
)
def test_a_missing_extra_is_named_in_one_line(library: Environment, line: str, extra: str) -> None:
    done = library.run(line)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert f"assay[{extra}]" in done.stderr


def test_no_index_answers_for_the_web_app(library: Environment, wheels: dict[str, str]) -> None:
    """Another project owns the name assay-server on PyPI, and its wheel has a package assay."""
    assert library.install("--dry-run", f"{wheels['assay']}[server]", check=False) != 0


def test_the_web_app_puts_no_templates_into_site_packages(server: Environment) -> None:
    assert not {"templates", "static"} & {path.name for path in server.packages.iterdir()}
    assert " serve " in server.run("assay --help").stdout


@pytest.mark.parametrize("options", [[], ["--demo"]])
def test_serve_shows_the_log_in_page_with_its_stylesheet(server: Environment, options: list[str]) -> None:
    # A project of somebody else, whose packages have names that the web app has too.
    for name in ("config", "evaluation"):
        (server.folder / name).mkdir(exist_ok=True)
        (server.folder / name / "__init__.py").touch()
    with serving(server, options) as address:
        page = read(f"{address}/login/")
        assert "</form>" in page
        assert 'id="guidelines"' in read(f"{address}/help/rounds/")
        sheets = re.findall(r'href="(/static/[^"]+\.css)"', page)
        assert sheets
        assert all("{" in read(address + sheet) for sheet in sheets)
    assert (server.folder / "var" / "assay.sqlite3").is_file()


@contextmanager
def serving(server: Environment, options: list[str]) -> Iterator[str]:
    """Run ``assay serve`` until the block ends; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = server.folder / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [str(server.bin / "assay"), "serve", "--port", str(port), *options],
            cwd=server.folder,
            env=server.environment(),
            stdout=output,
            stderr=output,
        )
    try:
        deadline = time.monotonic() + 600
        while True:
            try:
                read(f"http://127.0.0.1:{port}/login/")
                break
            except urllib.error.HTTPError:
                pytest.fail(log.read_text())
            except OSError:
                pass
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0, log.read_text()


def read(address: str) -> str:
    """Return what the server answers, past any proxy of the environment."""
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=30) as response:
        return response.read().decode()
