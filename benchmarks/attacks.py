"""Response time of the log-in page, and memory of the server, while a client attacks the server.

    python benchmarks/attacks.py [--only uploads] [--only schema] [--reps N] [--quick] [--json FILE]

The server runs on SQLite, as `manage.py serve` starts it. During the attack, people log in on the page one after the
other; the ratio is the 95th percentile of these requests over one second.

`uploads`: ten accounts send eight files each, all at once: small gzip files that take minutes to read because every
line is a duplicate, and larger ones that expand to gigabytes of rows. Afterwards the memory of the largest web
process is divided by 600 MB, while the worker is still reading. `schema`: 64 clients request /api/schema/ without a
pause.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import io
import json
import re
import subprocess
import sys
import time
import urllib.parse
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any, NamedTuple

from first_run import free_port
from side_by_side import databases
from side_by_side.processes import CouldNotRun
from side_by_side.rows import Row, options, print_table
from station_load import Server, aside, percentile, ready

LIMIT_MS, LIMIT_MB = 1_000.0, 600.0
ACCOUNTS, FILES, CLIENTS = 10, 8, 64
SECONDS, FEW_SECONDS = 30.0, 6.0
BEFORE = 10
# Beyond that readers refuse a file that is packed too well.
UNPACKED, FEW_UNPACKED = 95_000_000, 10_000_000
PASSWORD = "a long password"


def main() -> int:
    """Measure each attack."""
    if sys.argv[1:2] == ["--make"]:
        print(json.dumps(make()))
        return 0
    cases = {"uploads": uploads, "schema": schema}
    return print_table(cases, options(__doc__, cases).parse_args())


def uploads(args: argparse.Namespace) -> Iterator[Row]:
    """Log-ins during the attack, and memory after it."""
    size = FEW_UNPACKED if args.quick else UNPACKED
    bodies = [form(packed(b"q1 Q0 d1 1 2.5 x\n", size)), form(packed_rows(size))]
    waits, memory, summary = [], [], ""
    for _ in range(args.reps or 1):
        with databases.fresh("sqlite") as environment, served(environment) as (server, tokens):
            responses = logged_in(server.port, FEW_SECONDS if args.quick else SECONDS, send_all, tokens, bodies)
            largest = web_memory(server)
        waits.append(responses.high / LIMIT_MS)
        memory.append(largest / LIMIT_MB)
        sizes = " and ".join(f"{len(body) / 1e6:.2f} MB" for _, body in bodies)
        summary = f"{responses.words()}; web process {largest:.0f} MB; files of {sizes}"
    limit = None if args.quick else 1.0
    yield Row(f"log-in while {ACCOUNTS * FILES} files come, p95", f"{LIMIT_MS:.0f} ms", waits, limit, None, summary)
    yield Row("memory of a web process after it", f"{LIMIT_MB:.0f} MB", memory, limit, None, "")


def schema(args: argparse.Namespace) -> Iterator[Row]:
    """Log-ins while everybody reads the schema."""
    seconds = FEW_SECONDS if args.quick else SECONDS / 2
    waits, summary = [], ""
    for _ in range(args.reps or 1):
        with databases.fresh("sqlite") as environment, served(environment) as (server, _):
            responses = logged_in(server.port, seconds, read_all, seconds)
        waits.append(responses.high / LIMIT_MS)
        summary = responses.words()
    limit = None if args.quick else 1.0
    yield Row(f"log-in while {CLIENTS} clients read the schema, p95", f"{LIMIT_MS:.0f} ms", waits, limit, None, summary)


def send_all(port: int, tokens: list[str], bodies: list[tuple[str, bytes]]) -> Counter[int]:
    """Send all files at once; answers how often they were answered with which status."""

    def send(number: int) -> int:
        kind, body = bodies[number % len(bodies)]
        headers = {"Authorization": f"Bearer {tokens[number % ACCOUNTS]}", "Content-Type": kind}
        return answer(port, "POST", f"/api/v1/collections/bench{number % ACCOUNTS}/runs/", body, headers)

    return at_once(send, ACCOUNTS * FILES)


def read_all(port: int, seconds: float) -> Counter[int]:
    """Read the schema again and again; answers the statuses."""
    until, statuses = time.monotonic() + seconds, Counter[int]()

    def read(_: int) -> int:
        while time.monotonic() < until:
            statuses.update([answer(port, "GET", "/api/schema/")])
        return 200

    at_once(read, CLIENTS)
    return statuses


def at_once(act: Callable[[int], int], number: int) -> Counter[int]:
    """Do something in so many threads; answers how often each answer came."""
    with ThreadPoolExecutor(number) as threads:
        return Counter(threads.map(act, range(number)))


class served:  # noqa: N801 (it is used as a function)
    """A server with accounts, for as long as the block lasts."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment | {"LOGIN_RATE": "100000/s"}

    def __enter__(self) -> tuple[Server, list[str]]:
        tokens = aside(self.environment, "--make", file=__file__)
        self.server = Server(self.environment, free_port())
        if log_in(self.server.port)[1] != 302:
            self.server.stop()
            raise CouldNotRun("nobody can log in")
        return self.server, tokens

    def __exit__(self, *_: object) -> None:
        self.server.stop()


class Responses(NamedTuple):
    """What was measured: log-ins in milliseconds before and during the attack, its answers, and when it was over."""

    before: float
    high: float
    times: int
    statuses: Counter[int]
    ended: float

    def words(self) -> str:
        """The same in words."""
        return (
            f"p95 {self.high:.0f} ms of {self.times} log-ins, {self.before:.0f} ms before it; "
            f"answers {dict(self.statuses)} after {self.ended:.1f} s"
        )


def logged_in(port: int, seconds: float, attack: Callable[..., Counter[int]], *args: Any) -> Responses:
    """Log in during an attack, which another process does: the one that measures is not to wait for it."""
    before = percentile([one_log_in(port) for _ in range(BEFORE)], 0.95)
    with ProcessPoolExecutor(1) as process:
        begin, ended, times = time.monotonic(), 0.0, []
        done = process.submit(attack, port, *args)
        while time.monotonic() - begin < seconds or not done.done():
            times.append(one_log_in(port))
            ended = ended or (time.monotonic() - begin if done.done() else 0.0)
        return Responses(before, percentile(times, 0.95), len(times), done.result(), ended)


def one_log_in(port: int) -> float:
    """Seconds of a log-in."""
    spent, status = log_in(port)
    if status != 302:
        raise CouldNotRun(f"a log-in was answered with {status}")
    return spent


def log_in(port: int) -> tuple[float, int]:
    """Log in by the page; seconds of the request that holds the password, and its status."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    line.request("GET", "/login/")
    page = line.getresponse()
    cookie = (page.getheader("Set-Cookie") or "").partition(";")[0]
    token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', page.read())
    fields = {"username": "bench0", "password": PASSWORD, "csrfmiddlewaretoken": (token[1] if token else b"").decode()}
    headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    begin = time.perf_counter()
    line.request("POST", "/login/", urllib.parse.urlencode(fields), headers)
    status = line.getresponse()
    status.read()
    spent = time.perf_counter() - begin
    line.close()
    return spent, status.status


def answer(port: int, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> int:
    """The status of one request; 0 where there was none."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        line.request(method, path, body, headers or {})
        response = line.getresponse()
        response.read()
        return response.status
    except OSError:
        return 0
    finally:
        line.close()


def packed(line: bytes, size: int) -> bytes:
    """So many bytes of one line, packed."""
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb", mtime=0) as file:
        block = line * 50_000
        for _ in range(size // len(block)):
            file.write(block)
    return stream.getvalue()


def packed_rows(size: int) -> bytes:
    """So many bytes of rows that are all different and short."""
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=6, mtime=0) as file:
        for start in range(0, size // 20, 10_000):
            file.write(b"".join(b"q%d Q0 d%d 1 1 x\n" % (row // 1000, row) for row in range(start, start + 10_000)))
    return stream.getvalue()


def form(content: bytes) -> tuple[str, bytes]:
    """A file as the body of a form: its type and its bytes."""
    border = uuid.uuid4().hex
    head = f'--{border}\r\nContent-Disposition: form-data; name="file"; filename="a.run.gz"\r\n\r\n'
    return f"multipart/form-data; boundary={border}", head.encode() + content + f"\r\n--{border}--\r\n".encode()


def web_memory(server: Server) -> float:
    """Megabytes of the largest web process."""
    completed = subprocess.run(
        ["ps", "-o", "rss=,args=", "-g", str(server.process.pid)], capture_output=True, text=True, check=False
    )
    web = [float(line.split()[0]) / 1024 for line in completed.stdout.splitlines() if "gunicorn" in line]
    if not web:
        raise CouldNotRun("there is no web process any more")
    return max(web)


def make() -> list[str]:
    """Accounts with a collection and a token each."""
    ready()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    call_command("collectstatic", verbosity=0, interactive=False)
    from judgments.members import tokens
    from judgments.members.collections import create_collection
    from judgments.models import User

    texts = []
    for number in range(ACCOUNTS):
        lead = User.objects.create_user(f"bench{number}", password=PASSWORD, can_create_collections=True)
        create_collection(actor=lead, slug=f"bench{number}", name="Bench")
        texts.append(tokens.make_token(lead, name="bench", scopes=["write"])[1])
    return texts


if __name__ == "__main__":
    sys.exit(main())
