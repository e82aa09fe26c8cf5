"""Workers that are killed while they ask a model, and the workers that finish their jobs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.core.management import call_command

from judgments.guidelines import guidelines
from judgments.members.collections import create_collection
from judgments.models import Document, Query, Round, User
from judgments.rounds import rounds
from tests.model_server import Answer, ModelServer, serving

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Resumed:
    """The last line that the second worker printed, and the questions that the server received."""

    printed: str
    before: int
    prompts: Counter[str]

    def assert_only_pending_calls_were_repeated(self, stored: int, at_once: int) -> None:
        """Of what the first worker asked, the second asked again what was not stored, at most what was in flight."""
        repeated = self.prompts.total() - len(self.prompts)
        assert repeated == self.before - stored
        assert repeated <= at_once


def killed_and_resumed(
    own_var: Path, begin: str, resume: str, says: Callable[[str, int], str], *, after: int
) -> Resumed:
    """Kill the worker that runs ``begin`` after so many questions, and run ``resume`` in another one."""
    gone = threading.Event()

    def answer(prompt: str, number: int) -> Answer:
        # However late it is killed, it does not come to the end before.
        if number > 2 * after:
            gone.wait(600)
        return Answer(says(prompt, number), wait=0.05)

    with serving(answer) as server:
        more = {"PROVIDER_HOSTS": "127.0.0.1", "PROVIDER_NETWORKS": "127.0.0.0/8", "MODEL": server.url}
        environment = worker_environment(own_var) | more
        _kill(server, after, begin, environment)
        gone.set()
        server.rest()
        before = len(server.requests)
        printed = last_line(resume, environment)
        return Resumed(printed, before, Counter(server.prompts))


def worker_environment(own_var: Path) -> dict[str, str]:
    """An embedded server of its own."""
    nothing = {"DATABASE_URL": "", "STORAGE_URL": "", "REDIS_URL": ""}
    return {**os.environ, **nothing, "ASSAY_VAR": str(own_var), "DEBUG": "1"}


def shell(text: str) -> list[str]:
    return [sys.executable, "manage.py", "shell", "-v0", "-c", text]


def last_line(text: str, environment: dict[str, str]) -> str:
    """What a process that runs this text prints last."""
    done = subprocess.run(shell(text), cwd=ROOT, env=environment, text=True, capture_output=True, check=True)
    return done.stdout.strip().splitlines()[-1]


def _kill(server: ModelServer, number: int, begin: str, environment: dict[str, str]) -> None:
    """Begin this process, and kill it once it asked so often; its start alone may take minutes on a busy machine."""
    deadline = time.monotonic() + 600
    with subprocess.Popen(shell(begin), cwd=ROOT, env=environment) as process:
        try:
            while len(server.requests) < number and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
        finally:
            process.kill()
    assert len(server.requests) >= number, "the process asked too little"


def first_round(documents: int) -> tuple[Round, User]:
    """In the worker: a new round of one query, whose documents have a text each, and its lead."""
    call_command("migrate", verbosity=0)
    lead = User.objects.create_user("lead")
    shop = create_collection(slug="shop", name="Shop", actor=lead)
    version = guidelines.add_version(shop, markdown="Grade what helps.", actor=lead)
    query = Query.objects.create(collection=shop, query_id="q1", text="tent")
    candidates = [
        rounds.Candidate(query, Document.objects.create(collection=shop, doc_id=f"d{at}", text=f"tent worth {at}."), {})
        for at in range(documents)
    ]
    made = rounds.create_round(
        shop, name="R", candidates=candidates, provenance={}, guidelines=version, actor=lead, raters=[]
    )
    return made, lead
