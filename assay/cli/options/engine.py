"""Command line options of a search engine: its kind, settings, secrets, and the host or file it may reach."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli import option
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.connectors import Allowed, ConnectorKind

SECRET_FORM = "--secret takes NAME=ENV_VARIABLE, or NAME for a prompt"  # noqa: S105 (a sentence)


def add_engine_options(parser: argparse._ActionsContainer, *, required: bool = True) -> None:
    """Declare ``--engine``, ``--set`` and ``--secret``."""
    from assay.connectors import CONNECTORS

    option(parser, "--engine KIND", f"one of {', '.join(CONNECTORS)}", required=required)
    option(
        parser,
        "--set NAME=VALUE",
        "a setting of the engine that is not secret (see docs/connectors.md); may be repeated",
        action="append",
        default=[],
    )
    option(
        parser,
        "--secret NAME[=ENV_VARIABLE]",
        "a secret setting, read from an environment variable or a hidden prompt",
        action="append",
        default=[],
    )


def engine_settings(args: argparse.Namespace) -> tuple[ConnectorKind, dict[str, str]]:
    """Return the kind of engine and its settings, including defaults and secrets."""
    from assay.connectors import CONNECTORS

    kind = CONNECTORS[args.engine]
    given = _given(args.set, kind)
    # Check without the secrets first, so that refused settings ask for no secret.
    kind.checked(given)
    return kind, kind.checked({**given, **_secrets(args.secret, kind)})


def operator_allowlist(values: Mapping[str, str]) -> Allowed:
    """Return the host or file that the settings name; on the command line the user is the operator."""
    from ipaddress import ip_network

    from assay.connectors import Allowed
    from assay.connectors.transport import place_of

    hosts: tuple[str, ...] = ()
    if address := values.get("address"):
        _, host, port = place_of(address)
        hosts = (f"[{host.rstrip('.')}]:{port}",)
    elif host := values.get("host", ""):
        hosts = (f"[{host.lower().rstrip('.')}]:{values.get('port', '')}".removesuffix(":"),)
    path = values.get("path")
    if path and not Path(path).is_file():
        raise NotValid(f"path: the file {path} does not exist; check the path")
    return Allowed(hosts, (ip_network("0.0.0.0/0"), ip_network("::/0")), (Path(path).resolve(),) if path else ())


def _given(words: list[str], kind: ConnectorKind) -> dict[str, str]:
    given: dict[str, str] = {}
    for each in words:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise NotValid("--set takes NAME=VALUE, such as --set address=http://localhost:9200")
        if name in kind.secrets:
            raise NotValid(
                f"{name} is a secret, and other users could see it on the command line; write --secret "
                f"{name}=ENV_VARIABLE"
            )
        if name in given:
            raise NotValid(f"--set {name} appears twice; use it once")
        given[name] = value
    return given


def _secrets(words: list[str], kind: ConnectorKind) -> dict[str, str]:
    secrets: dict[str, str] = {}
    for each in words:
        name, equals, variable = each.partition("=")
        if name not in kind.secrets or name in secrets:
            raise NotValid(
                f"{SECRET_FORM}, each secret once; secrets of {kind.name}: {', '.join(kind.secrets) or 'none'}"
            )
        secrets[name] = os.environ.get(variable, "") if equals else _prompt_for_secret(name)
        if not secrets[name].strip():
            where = "the environment variable is missing or empty" if equals else "no value was entered"
            raise NotValid(f"--secret {name}: {where}. {SECRET_FORM}")
    return secrets


def _prompt_for_secret(name: str) -> str:
    """Prompt for a secret on the terminal without echo; refuse if the input cannot be hidden."""
    import getpass
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(f"{name}: ")
        except (getpass.GetPassWarning, EOFError):
            raise NotValid(f"--secret {name}: there is no terminal for a prompt; write {name}=ENV_VARIABLE") from None
