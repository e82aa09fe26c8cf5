"""Tests of deploy/: the processes of compose.yaml, started without containers, and what its files hold."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
PROCESSES = ("migrate", "web", "worker", "reaper")
PASSWORD = "not only for a minute"


def test_every_process_of_compose_is_one_that_the_script_knows() -> None:
    script = (DEPLOY / "assay-process").read_text(encoding="utf-8")
    for name in PROCESSES:
        assert COMPOSE[name]["command"] == [name]
        assert re.search(rf"^  {name}\)$", script, re.M)


def test_every_setting_of_compose_is_a_setting_and_no_secret_is_in_the_file() -> None:
    documented = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    for name, value in COMPOSE["web"]["environment"].items():
        assert f"`{name}`" in documented
        assert re.search(r"\$\{\w+(:\?|:-[\w]*)\}", value), name
    for service in COMPOSE.values():
        for name, value in service["environment"].items():
            if re.search("PASSWORD|SECRET|AUTH", name):
                assert re.fullmatch(r"\$\{\w+:\?\}", value), name
    example = (DEPLOY / "env.example").read_text(encoding="utf-8")
    assert set(re.findall(r"^(\w*(?:KEY|PASSWORD))=(.*)$", example, re.M)) == {
        ("SECRET_KEY", ""),
        ("POSTGRES_PASSWORD", ""),
        ("REDIS_PASSWORD", ""),
    }


def test_what_can_be_asked_for_its_health_is() -> None:
    assert {name for name, service in COMPOSE.items() if "healthcheck" in service} == {"web", "database", "queue"}


@pytest.mark.slow
def test_the_processes_start_without_containers_and_a_job_runs(postgresql: str, redis_url: str, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        bind = f"127.0.0.1:{free.getsockname()[1]}"
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "ASSAY_VAR": str(tmp_path / "var"),
        "DATABASE_URL": postgresql,
        "REDIS_URL": redis_url,
        "SECRET_KEY": "of this test alone",
        "STORAGE_URL": "",
        "DEBUG": "",
        "BIND": bind,
        "WEB_PROCESSES": "1",
        "JOB_FROM_MB": "0",
    }

    def process(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        command = [str(DEPLOY / "assay-process"), *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, text=True, capture_output=True, **more)

    log = tmp_path / "server.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            [str(DEPLOY / "without-containers")], cwd=tmp_path, env=environment, stdout=output, stderr=output
        )
    try:
        until(lambda: process("health").returncode == 0, server, log)
        process("add_user", "maria", "--password-stdin", "--can-create-collections", input=PASSWORD, check=True)
        with httpx.Client(base_url=f"http://{bind}", trust_env=False, timeout=60) as client:
            token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', client.get("/login/").text)
            assert token
            form = {"username": "maria", "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
            answer = client.post("/login/", data=form)
            assert (answer.status_code, answer.headers["location"]) == (302, "/")
            client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
            made = client.post("/api/v1/collections/", json={"slug": "shop", "name": "Shop"})
            assert made.status_code == 201, made.text
            file = {"file": ("d.jsonl", b'{"doc_id": "d1", "title": "Tent"}\n')}
            job = client.post("/api/v1/collections/shop/documents/", files=file)
            assert job.status_code == 202, job.text
            address = f"/api/v1/jobs/{job.json()['job']}/"
            until(lambda: client.get(address).json()["state"] == "done", server, log)
            assert client.get("/api/v1/collections/shop/documents/?doc_id=d1").json()["results"]
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=120) == 0, log.read_text()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://{bind}/login/", trust_env=False)


def until(done: Any, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until something holds, as long as the server runs."""
    deadline = time.monotonic() + 600
    while not done():
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.3)
