"""Allowlist of the hosts, networks and folders that the server may use on behalf of its users.

A user who connects an engine or a model chooses an address; without this check, the server would send requests to any
host in its own network for that user. A host is checked by name, then every address of that name is checked, and the
connection uses exactly a checked address, so that a name cannot point elsewhere in between.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeAlias

from assay.network.faults import EngineFault

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

# IPv6 addresses that embed IPv4 addresses (RFC 6052).
TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
# Default limit in seconds for resolving a name.
PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Allowed:
    """Hosts, networks and folders that the operator allows.

    Parameters
    ----------
    hosts : tuple of str
        ``search.example.com``, ``search.example.com:9200``, ``*.example.com``; ``*`` for every host.
    networks : tuple of ip_network
        Private networks that are allowed. Public addresses are always allowed.
    folders : tuple of Path
        Folders for files of connectors.
    setting : str
        Prefix of the operator's settings, for messages.
    by_grant : bool
        Whether this is the part that the operator granted to a collection, for messages.

    Examples
    --------
    >>> allowed = Allowed.of(["*.example.com", "localhost:9200"], ["127.0.0.0/8"])
    >>> allowed.names("search.example.com", 443), allowed.names("example.com", 443), allowed.names("localhost", 22)
    (True, False, False)
    """

    hosts: tuple[str, ...] = ()
    networks: tuple[Network, ...] = ()
    folders: tuple[Path, ...] = ()
    setting: str = "CONNECTOR"
    by_grant: bool = False

    @classmethod
    def of(
        cls,
        hosts: Iterable[str],
        networks: Iterable[str] = (),
        folders: Iterable[str | Path] = (),
        setting: str = "CONNECTOR",
    ) -> Allowed:
        """Return the allowlist of these entries; an invalid network raises ValueError."""
        return cls(
            tuple(host.strip().lower() for host in hosts if host.strip()),
            tuple(ipaddress.ip_network(network.strip(), strict=False) for network in networks if network.strip()),
            tuple(Path(folder).resolve() for folder in folders if str(folder).strip()),
            setting,
        )

    def granted(self, hosts: Iterable[str], folders: Iterable[str] = ()) -> Allowed:
        """Return the part of this allowlist that a grant of hosts and folders covers; ``*`` grants all.

        Examples
        --------
        >>> Allowed.of(["*.example.com", "localhost"]).granted(["a.example.com:443", "localhost:9200", "b.org"]).hosts
        ('a.example.com:443', 'localhost:9200')
        """
        wanted = [pattern.strip().lower() for pattern in hosts]
        within = [self.folders if folder == "*" else (Path(folder).resolve(),) for folder in folders]
        return replace(
            self,
            hosts=tuple(dict.fromkeys(host for one in self.hosts for two in wanted if (host := _narrower(one, two)))),
            folders=tuple(
                dict.fromkeys(
                    max(one, two, key=lambda path: len(path.parts))
                    for one in self.folders
                    for granted in within
                    for two in granted
                    if one.is_relative_to(two) or two.is_relative_to(one)
                )
            ),
            by_grant=True,
        )

    def names(self, host: str, port: int) -> bool:
        """Return whether the host is allowed by its name."""
        plain = host.lower().rstrip(".")
        return any(_fits(pattern, plain, port) for pattern in self.hosts)

    def addresses(self, host: str, port: int, seconds: float = PATIENCE) -> list[str]:
        """Return the addresses of a host that the server may connect to.

        Parameters
        ----------
        host : str
            A host name or an address.
        port : int
            The port of the connection.
        seconds : float
            Time limit for the lookup.

        Raises
        ------
        EngineFault
            ``not-allowed`` when the host is not on the operator's list, or any of its addresses is in a network that is
            neither public nor allowed; ``unreachable`` when it has no address; ``timeout`` when the lookup does not
            finish in time.
        """
        if not self.names(host, port):
            raise EngineFault("not-allowed", self.refusal(host, port))
        resolved = _resolved(host, port, seconds)
        for address in resolved:
            if not self._reachable(address):
                raise EngineFault(
                    "not-allowed",
                    (
                        f"{host} has the address {address}, which is not public. Ask the server operator to add its "
                        f"network to {self.setting}_NETWORKS."
                    ),
                )
        return [str(address) for address in resolved]

    def refusal(self, host: str, port: int) -> str:
        """Return why a host is not allowed, and what the operator can do about it."""
        if not self.by_grant:
            return (
                f"This server may not connect to {host}. The server operator can add {host}:{port} to "
                f"{self.setting}_HOSTS."
            )
        return (
            f"This collection may not connect to {host}. The server operator can add {host}:{port} to "
            f"{self.setting}_HOSTS and grant it to the collection."
        )

    def file(self, name: str) -> Path:
        """Return the path of a file in an allowed folder.

        Raises
        ------
        EngineFault
            ``not-allowed`` when it is in no allowed folder, ``unreachable`` when the file does not exist.
        """
        # A file outside is refused with the same message whether or not it exists, so that messages do not reveal it.
        try:
            path = Path(name).resolve()
            there = path.is_file()
        except (OSError, ValueError):  # not a valid file name: too long, a NUL, or an unpaired surrogate
            raise EngineFault("not-allowed", f"{name[:100]!r} is not a valid file name.") from None
        if not path.is_absolute() or not any(path.is_relative_to(folder) for folder in self.folders):
            raise EngineFault(
                "not-allowed",
                (
                    f"{name} is outside the allowed folders. The server operator lists allowed folders in "
                    f"CONNECTOR_FOLDERS{' and grants them to collections' if self.by_grant else ''}. Enter the full "
                    "path."
                ),
            )
        if not there:
            raise EngineFault("unreachable", f"The server has no file {name}.")
        return path

    def _reachable(self, address: Address) -> bool:
        inner = unwrapped(address)
        if any(inner.version == network.version and inner in network for network in self.networks):
            return True
        return inner.is_global and not inner.is_multicast and not inner.is_reserved


def unwrapped(address: Address) -> Address:
    """Return the IPv4 address embedded in an IPv6 address; any other address unchanged.

    Examples
    --------
    >>> unwrapped(ipaddress.ip_address("::ffff:127.0.0.1")), unwrapped(ipaddress.ip_address("64:ff9b::a00:1"))
    (IPv4Address('127.0.0.1'), IPv4Address('10.0.0.1'))
    """
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in TRANSLATED:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None) or address


def _parts(pattern: str) -> tuple[str, int | None]:
    # "::1" is an address and not a name with a port; "[::1]:9200" is both.
    match = re.fullmatch(r"(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?", pattern)
    if not match:
        return pattern, None
    return match[1] or match[2], int(match[3]) if match[3] else None


def _fits(pattern: str, host: str, port: int) -> bool:
    name, wanted = _parts(pattern)
    return wanted in (None, port) and _covers(name, host)


def _covers(name: str, host: str) -> bool:
    return name in ("*", host) or (name.startswith("*.") and host.endswith(name[1:]))


def _narrower(one: str, two: str) -> str:
    """Return the pattern of the hosts that both patterns match; an empty text if there are none."""
    (name, port), (other, another) = _parts(one), _parts(two)
    if port is not None and another is not None and port != another:
        return ""
    narrower = other if _covers(name, other) else name if _covers(other, name) else ""
    wanted = port if port is not None else another
    if not narrower or wanted is None:
        return narrower
    return f"[{narrower}]:{wanted}" if ":" in narrower else f"{narrower}:{wanted}"


def _resolved(host: str, port: int, seconds: float) -> list[Address]:
    """Resolve a name in a separate thread, because the system resolver has no time limit."""
    answers: SimpleQueue[list[str] | None] = SimpleQueue()

    def ask() -> None:
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answers.put([str(entry[4][0]).partition("%")[0] for entry in entries])
        except (OSError, UnicodeError):
            answers.put(None)

    Thread(target=ask, daemon=True, name="resolve").start()
    try:
        names = answers.get(timeout=seconds)
    except Empty:
        raise EngineFault(
            "timeout", f"The address of {host} could not be resolved within {seconds:.3g} seconds."
        ) from None
    if names is None:
        raise EngineFault("unreachable", f"{host} has no address. Check the host name.")
    return [ipaddress.ip_address(name) for name in dict.fromkeys(names)]
