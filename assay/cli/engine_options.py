"""Command line options of a search engine: its kind, settings, secrets, and the host or file it may reach."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from pooling.connectors import Allowed, ConnectorKind

SECRET_FORM = "--secret takes NAME=ENV_VARIABLE, or NAME to be asked for it"  # noqa: S105 (a sentence)


def add_engine_options(parser: argparse._ActionsContainer, *, required: bool = True) -> None:
    """Declare ``--engine``, ``--set`` and ``--secret``."""
    from pooling.connectors import CONNECTORS

    parser.add_argument("--engine", metavar="KIND", required=required, help=f"one of {', '.join(CONNECTORS)}")
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a setting of that kind, as often as needed (docs/connectors.md); never a secret",
    )
    parser.add_argument(
        "--secret",
        metavar="NAME[=ENV_VARIABLE]",
        action="append",
        default=[],
        help="a secret setting: read from that variable of the environment, or asked for, hidden",
    )


def engine_settings(args: argparse.Namespace) -> tuple[ConnectorKind, dict[str, str]]:
    """Return the kind of engine and its settings, the defaults and the secrets among them.

    Raises
    ------
    NotValid
        For a setting that the kind does not have, that is missing, or that is a secret. The words of ``--secret`` are
        never repeated: somebody may have written the secret there.
    """
    from pooling.connectors import CONNECTORS

    kind = CONNECTORS[args.engine]
    given = _given(args.set, kind)
    # First without the secrets: nobody types one for settings that are refused.
    kind.checked(given)
    return kind, kind.checked({**given, **_secrets(args.secret, kind)})


def operators_own(values: Mapping[str, str]) -> Allowed:
    """Return the one host, or the one file, that the settings name: who types it here is the operator.

    Raises
    ------
    NotValid
        When the address is none, or there is no such file.
    """
    from ipaddress import ip_network

    from pooling.connectors import Allowed
    from pooling.connectors.transport import place_of

    hosts: tuple[str, ...] = ()
    if address := values.get("address"):
        _, host, port = place_of(address)
        hosts = (f"[{host.rstrip('.')}]:{port}",)
    elif host := values.get("host", ""):
        hosts = (f"[{host.lower().rstrip('.')}]:{values.get('port', '')}".removesuffix(":"),)
    path = values.get("path")
    if path and not Path(path).is_file():
        raise NotValid(f"path: there is no file {path}; check the path")
    return Allowed(hosts, (ip_network("0.0.0.0/0"), ip_network("::/0")), (Path(path).resolve(),) if path else ())


def _given(words: list[str], kind: ConnectorKind) -> dict[str, str]:
    given: dict[str, str] = {}
    for each in words:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise NotValid("--set takes NAME=VALUE, such as --set address=http://localhost:9200")
        if name in kind.secrets:
            raise NotValid(f"{name} is a secret, and others see command lines; write --secret {name}=ENV_VARIABLE")
        if name in given:
            raise NotValid(f"--set {name} stands there twice; give it once")
        given[name] = value
    return given


def _secrets(words: list[str], kind: ConnectorKind) -> dict[str, str]:
    secrets: dict[str, str] = {}
    for each in words:
        name, equals, variable = each.partition("=")
        if name not in kind.secrets or name in secrets:
            raise NotValid(f"{SECRET_FORM}, each once; the secrets of {kind.name}: {', '.join(kind.secrets) or 'none'}")
        secrets[name] = os.environ.get(variable, "") if equals else _asked(name)
        if not secrets[name].strip():
            where = "the environment has no such variable, or an empty one" if equals else "nothing was typed"
            raise NotValid(f"--secret {name}: {where}. {SECRET_FORM}")
    return secrets


def _asked(name: str) -> str:
    """Ask at the terminal, without showing what is typed; where that cannot be hidden, nothing is asked."""
    import getpass
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(f"{name}: ")
        except (getpass.GetPassWarning, EOFError):
            raise NotValid(f"--secret {name}: there is no terminal to ask at; write {name}=ENV_VARIABLE") from None
