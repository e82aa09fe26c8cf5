"""Allowlist of the hosts, networks and folders that the server may use on behalf of its users.

A user who connects an engine or a model chooses an address; without this check the server would send requests to
anything in its own network for that user. A host is checked by name, then every address of that name is checked,
and the connection goes to exactly an address that was checked: a name cannot point elsewhere in between.
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

from judgments.network.faults import EngineFault

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

# Addresses of the IPv6 world that are IPv4 addresses in disguise (RFC 6052).
TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
# Seconds in which a name has to have its address, where nobody says less.
PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the operator allowed.

    Parameters
    ----------
    hosts : tuple of str
        ``search.example.com``, ``search.example.com:9200``, ``*.example.com``; ``*`` is every host.
    networks : tuple of ip_network
        Networks that are not public and may be asked all the same. Public addresses need no mention.
    folders : tuple of Path
        Where files of connectors may lie.
    setting : str
        How the operator's settings begin that hold this, for messages.
    by_grant : bool
        Whether this is the part that the operator granted to one collection, for messages.

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
        """Return what these words allow; a network that is none raises ValueError."""
        return cls(
            tuple(host.strip().lower() for host in hosts if host.strip()),
            tuple(ipaddress.ip_network(network.strip(), strict=False) for network in networks if network.strip()),
            tuple(Path(folder).resolve() for folder in folders if str(folder).strip()),
            setting,
        )

    def granted(self, hosts: Iterable[str], folders: Iterable[str] = ()) -> Allowed:
        """Return the part of this that a grant of hosts and folders opens; ``*`` grants all.

        Examples
        --------
        >>> Allowed.of(["*.example.com", "localhost"]).granted(["a.example.com:443", "localhost:9200", "b.org"]).hosts
        ('a.example.com:443', 'localhost:9200')
        """
        wanted = [host.strip().lower() for host in hosts]
        within = [self.folders if folder == "*" else (Path(folder).resolve(),) for folder in folders]
        return replace(
            self,
            hosts=tuple(dict.fromkeys(found for one in self.hosts for two in wanted if (found := _narrower(one, two)))),
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
        """Whether the host may be asked, going by its name alone."""
        plain = host.lower().rstrip(".")
        return any(_fits(pattern, plain, port) for pattern in self.hosts)

    def addresses(self, host: str, port: int, seconds: float = PATIENCE) -> list[str]:
        """Return the addresses of a host that may be asked.

        Parameters
        ----------
        host : str
            A name or an address.
        port : int
            Where it will be asked.
        seconds : float
            How long finding them may take.

        Raises
        ------
        EngineFault
            ``not-allowed`` when the host is not on the operator's list, or any of its addresses is in a network that is
            neither public nor allowed; ``unreachable`` when it has no address; ``timeout`` when nobody could tell in
            time.
        """
        if not self.names(host, port):
            raise EngineFault("not-allowed", self.refusal(host, port))
        found = _resolved(host, port, seconds)
        for address in found:
            if not self._reachable(address):
                raise EngineFault(
                    "not-allowed",
                    f"{host} has the address {address}, which is not public. Its network has to be in "
                    f"{self.setting}_NETWORKS; ask the operator of this server.",
                )
        return [str(address) for address in found]

    def refusal(self, host: str, port: int) -> str:
        """Return why a host may not be asked, and what the operator can do about it."""
        if not self.by_grant:
            return f"This server may not ask {host}. Its operator can add {host}:{port} to {self.setting}_HOSTS."
        return (
            f"This collection may not ask {host}. The server's operator can add {host}:{port} to "
            f"{self.setting}_HOSTS and grant it to the collection."
        )

    def file(self, name: str) -> Path:
        """Return the path of a file that may be read.

        Raises
        ------
        EngineFault
            ``not-allowed`` when it lies in no allowed folder, ``unreachable`` when there is no such file.
        """
        # A file outside is refused in the same words whether or not it is there: nobody looks around this way.
        try:
            path = Path(name).resolve()
            there = path.is_file()
        except (OSError, ValueError):  # no file can be called so: too long, a NUL, half a surrogate pair
            raise EngineFault("not-allowed", f"{name[:100]!r} cannot be the name of a file.") from None
        if not path.is_absolute() or not any(path.is_relative_to(folder) for folder in self.folders):
            raise EngineFault(
                "not-allowed",
                f"{name} is in no folder that may be read here. The server's operator lists folders in "
                f"CONNECTOR_FOLDERS{' and grants them to collections' if self.by_grant else ''}; write the whole path.",
            )
        if not there:
            raise EngineFault("unreachable", f"There is no file {name} on the server.")
        return path

    def _reachable(self, address: Address) -> bool:
        inner = unwrapped(address)
        if any(inner.version == network.version and inner in network for network in self.networks):
            return True
        return inner.is_global and not inner.is_multicast and not inner.is_reserved


def unwrapped(address: Address) -> Address:
    """Return the IPv4 address inside an IPv6 address that only carries one; any other address as it is.

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
    found = re.fullmatch(r"(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?", pattern)
    if not found:
        return pattern, None
    return found[1] or found[2], int(found[3]) if found[3] else None


def _fits(pattern: str, host: str, port: int) -> bool:
    name, wanted = _parts(pattern)
    return wanted in (None, port) and _covers(name, host)


def _covers(name: str, host: str) -> bool:
    return name in ("*", host) or (name.startswith("*.") and host.endswith(name[1:]))


def _narrower(one: str, two: str) -> str:
    """Return the pattern of the hosts that both patterns name; an empty text where there are none."""
    (name, port), (other, another) = _parts(one), _parts(two)
    if port is not None and another is not None and port != another:
        return ""
    found = other if _covers(name, other) else name if _covers(other, name) else ""
    wanted = port if port is not None else another
    if not found or wanted is None:
        return found
    return f"[{found}]:{wanted}" if ":" in found else f"{found}:{wanted}"


def _resolved(host: str, port: int, seconds: float) -> list[Address]:
    """Ask in a thread of its own: the system's resolver knows no time limit, and is left behind when it is late."""
    answers: SimpleQueue[list[str] | None] = SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answers.put([str(entry[4][0]).partition("%")[0] for entry in found])
        except (OSError, UnicodeError):
            answers.put(None)

    Thread(target=ask, daemon=True, name="resolve").start()
    try:
        names = answers.get(timeout=seconds)
    except Empty:
        raise EngineFault("timeout", f"Nobody told the address of {host} within {seconds:.3g} seconds.") from None
    if names is None:
        raise EngineFault("unreachable", f"{host} has no address: is the name right?")
    return [ipaddress.ip_address(name) for name in dict.fromkeys(names)]
