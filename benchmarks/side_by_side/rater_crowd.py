"""Simulated raters: many threads that rate at once and record latencies and acknowledged judgments.

Each rater is a thread with one connection and acts like the rating station: it leases a batch, sends judgments one by
one at a fixed pace, and requests more before it runs out. An unacknowledged judgment is sent again under the same
client id, with growing pauses. Nothing here imports Django.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import uuid
from collections import Counter, deque
from dataclasses import dataclass, field

BATCH, REFILL_AT = 12, 4
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
PATIENCE = 90.0  # seconds until a judgment that nobody acknowledges is given up
FINE = (200, 201)


@dataclass
class Crowd:
    """What all raters saw together.

    Attributes
    ----------
    submits, batches : list of float
        Seconds from sending to the acknowledgement, of each try that was acknowledged.
    first_batches : list of float
        The same of the first batch of each rater: all of them ask at the same moment.
    recorded : list of str
        The client ids that the server said are recorded.
    errors : Counter
        What else came back: statuses, and connections that broke.
    lost : int
        Judgments that nobody acknowledged in time.
    """

    submits: list[float] = field(default_factory=list)
    batches: list[float] = field(default_factory=list)
    first_batches: list[float] = field(default_factory=list)
    recorded: list[str] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    lost: int = 0


class Rater(threading.Thread):
    """One person with the station open."""

    def __init__(
        self, crowd: Crowd, port: int, round_: str, token: str, begin: float, end: float, every: float
    ) -> None:
        super().__init__(daemon=True)
        self.crowd, self.port, self.path, self.token = crowd, port, f"/api/v1/rounds/{round_}", token
        self.begin, self.end, self.every = begin, end, every
        self.line: http.client.HTTPConnection | None = None
        self.pairs: deque[str] = deque()
        self.seen: set[str] = set()

    def run(self) -> None:
        due = self.begin + random.random() * self.every
        self.refill()
        while due < self.end:
            time.sleep(max(0.0, due - time.monotonic()))
            if self.pairs and not self.judge(self.pairs.popleft()):
                return  # nobody answers any more: so many judgments would be waited for one after the other
            if len(self.pairs) < REFILL_AT:
                self.refill()
            due += self.every

    def judge(self, pair: str) -> bool:
        """Send a judgment until the server says that it is recorded; False when it never did."""
        client_id = str(uuid.uuid4())
        body = {"client_id": client_id, "pair": pair, "grade": random.randrange(4), "seconds_active": 4.5}
        began, pause = time.monotonic(), FIRST_PAUSE
        while time.monotonic() - began < PATIENCE:
            spent, status, _ = self.post("/judgments/", body)
            if status in FINE:
                self.crowd.submits.append(spent)
                self.crowd.recorded.append(client_id)
                return True
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        self.crowd.lost += 1
        return False

    def refill(self) -> None:
        spent, status, body = self.post(f"/batch/?size={BATCH}", None)
        if status != 200:
            return
        (self.crowd.batches if self.seen else self.crowd.first_batches).append(spent)
        for pair in json.loads(body)["pairs"]:
            if pair["id"] not in self.seen:
                self.seen.add(pair["id"])
                self.pairs.append(pair["id"])

    def post(self, path: str, body: object) -> tuple[float, int, bytes]:
        """One request: seconds, status (0 where the line broke) and what came back."""
        began = time.monotonic()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            self.line = self.line or http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            self.line.request("POST", self.path + path, json.dumps(body) if body else None, headers)
            answer = self.line.getresponse()
            status, content = answer.status, answer.read()
        except (OSError, http.client.HTTPException) as broken:
            self.line = None
            self.crowd.errors[type(broken).__name__] += 1
            return time.monotonic() - began, 0, b""
        if status not in FINE and status != 204:
            self.crowd.errors[f"status {status}"] += 1
        return time.monotonic() - began, status, content


def rate(port: int, round_: str, tokens: list[str], seconds: float, every: float, begin: float) -> Crowd:
    """Let everybody rate for so many seconds, and wait for them."""
    crowd = Crowd()
    raters = [Rater(crowd, port, round_, token, begin, begin + seconds, every) for token in tokens]
    for rater in raters:
        rater.start()
    for rater in raters:
        rater.join()
    return crowd
