"""Command that starts the web server, the worker, and the loop that requeues lost jobs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser
from functools import partial
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections, connection
from django.db.migrations.executor import MigrationExecutor

from judgments.imports import ingestion
from judgments.jobs import jobs
from judgments.management import serve_options

REAP_EVERY = 30.0
NICE = 5
# Each thread may hold a connection, and PostgreSQL accepts a hundred by default.
MOST_CONNECTIONS = 80
# Import the packages before gunicorn puts the working directory first on the path, which may contain packages with
# these names.
GUNICORN = "import config, evaluation, judgments, pooling; from gunicorn.app.wsgiapp import run; run()"


class Command(BaseCommand):
    help = "Migrate the database, then start the web server and a worker. Stop both with Ctrl-C."
    # gunicorn's own start runs the checks, so running them here would only delay it.
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        serve_options.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        _check_free(options["host"], options["port"])
        if _behind():
            call_command("migrate", verbosity=0, interactive=False)
        if not settings.DEBUG:  # with DEBUG, static files are served from the source directories
            call_command("collectstatic", verbosity=0, interactive=False)
        if options["demo"]:
            call_command("load_demo")
        children = [self.web(options), self.worker()]
        signal.signal(signal.SIGTERM, _stop)
        where = f"http://{options['host']}:{options['port']}/"
        self.stdout.write(self.style.SUCCESS(f"Assay is running at {where} (press Ctrl-C to stop)"))
        self.stdout.flush()
        try:
            self.watch(children)
        except KeyboardInterrupt:
            self.stdout.write("Stopping.")
        finally:
            for child in children:
                child.terminate()
            for child in children:
                try:
                    child.wait(timeout=20)
                except (
                    subprocess.TimeoutExpired
                ):  # on a busy machine, a process that is still starting takes longer to stop
                    child.kill()

    def web(self, options: dict[str, Any]) -> subprocess.Popen[bytes]:
        """Run gunicorn with threads, with one process per core, but at most two on SQLite, which allows one writer."""
        sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
        workers = min(os.cpu_count() or 1, 2 if sqlite else 1_000)
        command = [sys.executable, "-c", GUNICORN, "config.wsgi", "--worker-class", "config.web_worker.WebWorker"]
        threads = options["threads"] or max(4, min(serve_options.THREADS, MOST_CONNECTIONS // workers))
        command += ["--workers", str(workers), "--threads", str(threads), "--timeout", "300"]
        # A rater pauses for longer than gunicorn's default of two seconds; an open connection waits without a thread.
        command += ["--keep-alive", "75"]
        if sys.platform == "linux":
            # Each process has its own socket, and the kernel distributes the connections. With a shared socket, the
            # process that is quickest to accept takes nearly every connection, and the other cores stay idle.
            command.append("--reuse-port")
        command += ["--bind", f"{options['host']}:{options['port']}", "--log-level", "warning"]
        return subprocess.Popen(command)

    def worker(self) -> subprocess.Popen[bytes]:
        """Run a worker at a lower priority than the web processes."""
        lower = partial(os.nice, NICE)
        return subprocess.Popen([sys.executable, "-m", "django", "work", "--verbosity", "0"], preexec_fn=lower)

    def watch(self, children: list[subprocess.Popen[bytes]]) -> None:
        """Wait until a child process ends, and meanwhile requeue the jobs of dead workers."""
        web, worker = children
        reaped = 0.0
        while True:
            if web.poll() is not None:
                raise CommandError(f"The web server exited with status {web.returncode}. Check that the port is free.")
            if worker.poll() is not None:
                self.stderr.write(f"The worker exited with status {worker.returncode}. Starting another worker.")
                children[1] = worker = self.worker()
            if time.monotonic() - reaped > REAP_EVERY:
                close_old_connections()
                jobs.tick()
                ingestion.sweep()
                reaped = time.monotonic()
            time.sleep(0.5)


def _behind() -> bool:
    """Return whether migrations are pending, which is faster to check than an empty migration."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _check_free(host: str, port: int) -> None:
    """Refuse an address on which another server listens, because the kernel would split connections between them."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(kind) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host.strip("[]"), port))
        except OSError as error:
            raise CommandError(
                f"Port {port} on {host} is not available ({error.strerror}). Choose another port with --port."
            ) from error


def _stop(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
