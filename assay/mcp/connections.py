"""Whose rights a tool call has: a client with the caller's token, and the files that tools may read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import NotAllowed, NotValid
from assay.network.masked_secrets import masked

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken

    from assay.client.client import Client

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
