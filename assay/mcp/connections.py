"""Whose rights a tool call has: a client with the caller's token, the files that tools may read, and their inputs."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotAllowed, NotValid
from assay.network.masked_secrets import masked

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken

    from assay.client.client import Client
    from assay.core.qrels import Qrels
    from assay.core.read_report import Report
    from assay.formats.trec_run import RunFile

# A tool call should end in about a minute, so it retries less than a command.
PATIENCE = {"attempts": 3, "longest_wait": 5.0, "longest_requested": 5.0, "timeout": 60.0, "longest_job": 120.0}
CHECKED = "checked"


@dataclass(frozen=True)
class Connections:
    """Settings of the MCP server: the Assay server, and the folder whose files tools may read.

    Over stdio the token is that of ``assay login``; over HTTP each request brings its own.
    """

    server: str = ""
    token: str = field(default="", repr=False)
    collection: str = ""
    folder: Path | None = None
    over_http: bool = False

    def client(self, collection: str = "") -> Client:
        """Return a client with the caller's token."""
        from assay.client.client import Client
        from assay.client.connection import Patience

        patience = Patience(**PATIENCE)  # type: ignore[arg-type]
        token = self._token_of_request() if self.over_http else self.token
        return Client(self.server, token, collection=collection or self.collection, patience=patience)

    def file(self, name: str) -> Path:
        """Return the path of a file in the folder.

        Raises
        ------
        NotValid
            When files are not readable here, or the path leads out of the folder.
        """
        if self.folder is None:
            raise NotValid("this server reads no files; start it with --folder DIR, or use names of the collection")
        if self.over_http and CHECKED not in self._request().scopes:
            raise NotAllowed("the token could not be checked, so no file was read; try again later")
        folder = self.folder.resolve()
        try:
            path = (folder / name).resolve()
            inside = path.is_relative_to(folder) and path.is_file()
        except (OSError, ValueError, RuntimeError):
            inside = False
        if not inside:
            raise NotValid(f"there is no file {name!r} in the folder of this server; name a file below it")
        return path

    def hidden(self, text: str) -> str:
        """Mask the caller's token and the folder's own path in a message."""
        if self.folder is not None:
            text = text.replace(f"{self.folder.resolve()}/", "")
        return masked(masked(text, self.token), self._token_of_request(required=False) if self.over_http else "")

    def check(self, token: str) -> AccessToken | None:
        """Return the caller of an HTTP request if the Assay server accepts the token."""
        from mcp.server.auth.provider import AccessToken

        from assay.client.client import Client
        from assay.client.connection import Patience, ServerFault

        scopes = [CHECKED]
        try:
            # Without a token, the client would use the login of the person who started this server.
            if not token.strip():
                return None
            with Client(self.server, token, patience=Patience(attempts=1, timeout=10.0)) as client:
                client.connection.get("collections/", page_size="1")
        except NotValid:
            return None
        except ServerFault as fault:
            if fault.status == 401:
                return None
            # Tools report that the server fails; until it answers, they read no files.
            scopes = [CHECKED] if fault.status == 403 else []
        return AccessToken(token=token, client_id=hashlib.sha256(token.encode()).hexdigest()[:16], scopes=scopes)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Check the token of an HTTP request (the interface of the SDK)."""
        import anyio

        return await anyio.to_thread.run_sync(self.check, token)

    def _request(self) -> Any:
        from mcp.server.auth.middleware.auth_context import get_access_token

        caller = get_access_token()
        if caller is None or not caller.token.strip():
            raise NotAllowed("this request has no token; send the header Authorization: Bearer TOKEN")
        return caller

    def _token_of_request(self, *, required: bool = True) -> str:
        try:
            return str(self._request().token)
        except NotAllowed:
            if required:
                raise
            return ""


FILE = "file:"


def is_file(name: str) -> bool:
    """Return whether a name stands for a file and not for an object of the server.

    Examples
    --------
    >>> is_file("file:neural.run"), is_file("neural")
    (True, False)
    """
    return name.startswith(FILE)


@dataclass(frozen=True)
class Labels:
    """Labels, with the snapshot that they come from if it is one of the server."""

    qrels: Qrels
    report: Report
    snapshot: dict[str, Any] | None

    def about(self) -> dict[str, Any]:
        """Return the source and size of the labels, and whether a machine gave them."""
        name = {"snapshot": self.snapshot["name"]} if self.snapshot else {"file": Path(self.report.path).name}
        machine = {"machine": self.qrels.machine.judge} if self.qrels.machine else {}
        return name | machine | {"queries": self.qrels.queries, "judgments": len(self.qrels)}


class Inputs:
    """The labels and runs of one call; what is pulled from the server is deleted afterwards.

    Nothing is kept between calls, because the next caller may have fewer rights.
    """

    def __init__(self, connections: Connections, collection: str = "") -> None:
        self._connections, self._collection = connections, collection
        self._stack = ExitStack()
        self._client: Client | None = None

    def __enter__(self) -> Inputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def client(self) -> Client:
        """Return the client of the call."""
        if self._client is None:
            self._client = self._stack.enter_context(self._connections.client(self._collection))
        return self._client

    def labels(self, name: str) -> Labels:
        """Return labels."""
        from assay.formats.qrels_and_runs import load_labels

        if is_file(name):
            return Labels(*load_labels(str(self.file(name))), None)
        folder, snapshot = self.client.download_snapshot(name, self._temporary())
        return Labels(*load_labels(str(folder / "qrels.txt")), snapshot)

    def runs(self, names: Sequence[str]) -> list[RunFile]:
        """Return runs with distinct names."""
        from assay.core.run import run_names
        from assay.formats.qrels_and_runs import open_run

        files = [name.removeprefix(FILE) for name in names if is_file(name)]
        taken = [name for name in names if not is_file(name)]
        short = dict(zip(files, run_names(files), strict=True))
        opened = []
        for name in names:
            if is_file(name):
                path, file = self.file(name), name.removeprefix(FILE)
                opened.append(open_run(path, file, name if short[file] in taken else short[file]))
                continue
            path = self._temporary() / "run"
            self.client.download_run(name, path)
            opened.append(open_run(path, name, name, "trec-run"))
        return opened

    def file(self, name: str) -> Path:
        """Return the path of a file, with or without ``file:`` before it."""
        return self._connections.file(name.removeprefix(FILE))

    def _temporary(self) -> Path:
        return Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-mcp-")))
