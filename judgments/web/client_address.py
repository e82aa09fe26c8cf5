"""The address of a client, as the operator's own proxies report it, and the periods of limits on attempts."""

from __future__ import annotations

import ipaddress
import logging
import re
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from assay.network.allowed_addresses import Address, unwrapped

PERIODS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
# One household or office has a whole network of IPv6 addresses.
IPV6_PREFIX = 64
log = logging.getLogger(__name__)
_warned: list[bool] = []


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


def address_of(request: Any) -> str:
    """Return the client's address, as reported by the operator's own proxies (``TRUSTED_PROXIES``)."""
    meta = getattr(request, "META", {})
    forwarded = meta.get("HTTP_X_FORWARDED_FOR", "")
    if forwarded and not settings.TRUSTED_PROXIES and not _warned:
        _warned.append(True)
        log.warning("X-Forwarded-For is ignored. If a proxy is in front of the server, set TRUSTED_PROXIES.")
    return client_address(meta.get("REMOTE_ADDR", ""), forwarded, settings.TRUSTED_PROXIES)
