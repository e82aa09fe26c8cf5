"""Error of a failed engine, with whether a retry may help."""

from __future__ import annotations

from typing import Literal, get_args

from assay.core.errors import AssayError

FaultName = Literal[
    "not-allowed",  # the operator has not allowed this host, address or folder
    "unreachable",  # no connection
    "timeout",  # no complete response in time
    "busy",  # 429, 5xx, or a partial response: worth a retry
    "secret",  # 401 or 403
    "refused",  # the engine rejects the request
    "redirect",  # the engine redirects elsewhere
    "reply",  # an unexpected response: HTML, no hits, no ids
    "too-large",  # a response that is too large
]
FAULTS: tuple[FaultName, ...] = get_args(FaultName)
# A retry can help with these; no query can succeed with the faults below.
PASSING = frozenset({"unreachable", "timeout", "busy"})
HOPELESS = frozenset({"not-allowed", "secret", "redirect"})


class EngineFault(AssayError):
    """Failure of an engine to answer a query.

    Parameters
    ----------
    name : str
        One of `FAULTS`.
    message : str
        What happened and what to do, without secrets.
    wait : float, optional
        Seconds for which the engine asked to wait.
    """

    def __init__(self, name: FaultName, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.name, self.wait = name, wait

    @property
    def passing(self) -> bool:
        """Return whether the same request may succeed a little later."""
        return self.name in PASSING

    @property
    def hopeless(self) -> bool:
        """Return whether no other query can succeed either."""
        return self.name in HOPELESS
