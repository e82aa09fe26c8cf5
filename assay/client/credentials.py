"""Stored logins: tokens in the operating system's keyring, or in a file that only its owner can read."""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from assay.client.connection import server_address
from assay.core.errors import NotValid

Answer = TypeVar("Answer")
SERVICE = "assay"
PRIVATE = 0o600
TOKEN, SERVER, COLLECTION = "ASSAY_TOKEN", "ASSAY_SERVER", "ASSAY_COLLECTION"


@dataclass(frozen=True)
class Login:
    """A server, the token for it, and a collection, which may be empty."""

    url: str
    token: str
    collection: str = ""

    def __repr__(self) -> str:
        return f"Login({self.url!r}, collection={self.collection!r})"


def config_file() -> Path:
    """Return the file with the logins: in the user's configuration folder."""
    if sys.platform == "win32" and (roaming := os.environ.get("APPDATA")):
        return Path(roaming) / "assay" / "logins.json"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "assay" / "logins.json"


def remember(login: Login) -> str:
    """Store a login as the default, and return where its token is: ``keyring`` or the path of the file."""
    stored = _read()
    servers = stored.setdefault("servers", {})
    entry: dict[str, Any] = {"collection": login.collection}
    in_keyring = _set_in_keyring(login)
    if not in_keyring:
        entry["token"] = login.token
    servers[login.url] = entry
    stored["default"] = login.url
    _write(stored)
    return "keyring" if in_keyring else str(config_file())


def forget(url: str) -> bool:
    """Delete a stored login, and return whether there was one."""
    url, stored = server_address(url), _read()
    deleted = _delete_from_keyring(url)
    deleted |= stored.get("servers", {}).pop(url, None) is not None
    if stored.get("default") == url:
        stored["default"] = next(iter(stored["servers"]), "")
    if deleted:
        _write(stored)
    return deleted


def default_server() -> str:
    """Return the server of the last login; empty if there is none."""
    return str(_read().get("default") or "")


def login_for(url: str = "", token: str = "", collection: str = "") -> Login:
    """Return the login to use: the given values, then the environment, then what `remember` stored.

    Raises
    ------
    NotValid
        When the server or its token is unknown.
    """
    stored = _read()
    url = url or os.environ.get(SERVER, "") or str(stored.get("default") or "")
    if not url:
        raise NotValid(f"no server was given; use --server URL, set {SERVER}, or run assay login --server URL")
    url = server_address(url)
    entry = stored.get("servers", {}).get(url, {})
    token = token or os.environ.get(TOKEN, "") or str(entry.get("token") or "") or _from_keyring(url)
    if not token:
        raise NotValid(f"there is no token for {url}; run assay login --server {url}, or set {TOKEN}")
    collection = collection or os.environ.get(COLLECTION, "") or str(entry.get("collection") or "")
    return Login(url, token, collection)


def _read() -> dict[str, Any]:
    path = config_file()
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read()
    except FileNotFoundError:
        return {}
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise NotValid(f"{path} can be read by other users, so its tokens are not used; run chmod 600 {path}")
    try:
        stored = json.loads(content)
        if not isinstance(stored, dict) or not isinstance(stored.get("servers", {}), dict):
            raise ValueError
    except ValueError:
        raise NotValid(f"{path} is damaged; delete it and log in again") from None
    return stored


def _write(stored: dict[str, Any]) -> None:
    path = config_file()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # A temporary file is created with the mode 0600; it replaces the old file at once.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(stored, file, indent=2)
        os.chmod(name, PRIVATE)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _set_in_keyring(login: Login) -> bool:
    """Store a token in the keyring; return False if there is no usable keyring."""

    def store(keyring: Any) -> bool:
        keyring.set_password(SERVICE, login.url, login.token)
        return bool(keyring.get_password(SERVICE, login.url) == login.token)

    return _with_keyring(store, False)


def _from_keyring(url: str) -> str:
    return _with_keyring(lambda keyring: keyring.get_password(SERVICE, url) or "", "")


def _delete_from_keyring(url: str) -> bool:
    def delete(keyring: Any) -> bool:
        if keyring.get_password(SERVICE, url) is None:
            return False
        keyring.delete_password(SERVICE, url)
        return True

    return _with_keyring(delete, False)


def _with_keyring(action: Callable[[Any], Answer], otherwise: Answer) -> Answer:
    try:
        import keyring
    except ModuleNotFoundError:
        return otherwise
    try:
        return action(keyring)
    except Exception:  # a keyring that is locked or missing raises errors of the system's own library
        return otherwise
