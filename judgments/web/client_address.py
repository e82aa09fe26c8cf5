"""Client address of a request that passed through proxies.

Each proxy appends the address of its own peer to ``X-Forwarded-For``. The part to the left of that comes from the
client, who may write anything. So the header is read from the right, only as far as the operator's own proxies go.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

from assay.network.allowed_addresses import Address, unwrapped

# One household or office has a whole network of IPv6 addresses.
IPV6_PREFIX = 64


def client_address(peer: str, forwarded: str, trusted: Sequence[str]) -> str:
    """Return the client's address as text; all addresses of one IPv6 network give the same text."""
    hops = [_read(hop) for hop in forwarded.split(",") if hop.strip()]
    here = _read(peer)
    if len(trusted) == 1 and trusted[0].isdigit():
        count = min(int(trusted[0]), len(hops))
        return _text((hops[-count] if count else None) or here, peer)
    networks = [ipaddress.ip_network(one, strict=False) for one in trusted]
    while here is not None and hops and any(here in network for network in networks):
        further = hops.pop()
        if further is None:
            break
        here = further
    return _text(here, peer)


def _read(text: str) -> Address | None:
    """Parse an address, with or without port or brackets; None for anything else."""
    match = re.fullmatch(r"\s*(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+|(\S+))\s*", text)
    try:
        return unwrapped(ipaddress.ip_address((match[1] or match[2] or match[3]).partition("%")[0])) if match else None
    except ValueError:
        return None


def _text(address: Address | None, peer: str) -> str:
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, IPV6_PREFIX), strict=False))
    return str(address) if address else peer
