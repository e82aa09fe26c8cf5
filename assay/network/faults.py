"""Error raised when an engine fails, with whether a retry is worthwhile."""

from __future__ import annotations

from typing import Literal, get_args

from assay.core.errors import AssayError

FaultName = Literal[
    "not-allowed",  # the operator has not allowed this host, address or folder
    "unreachable",  # no connection
    "timeout",  # no whole reply in time
    "busy",  # 429, 5xx, or a partial reply: worth another try
    "secret",  # 401 or 403
    "refused",  # the engine does not take the request
    "redirect",  # the engine sends elsewhere
    "reply",  # a reply that is not what was expected: HTML, no hits, no ids
    "too-large",  # a reply beyond all measure
]
FAULTS: tuple[FaultName, ...] = get_args(FaultName)
# Asking again can help against these; nothing that is asked can help against the others below.
PASSING = frozenset({"unreachable", "timeout", "busy"})
HOPELESS = frozenset({"not-allowed", "secret", "redirect"})


class EngineFault(AssayError):
    """Failure of an engine to answer a query.

    Parameters
    ----------
    name : str
        One of `FAULTS`.
    message : str
        What happened and what to do. It never holds a secret.
    wait : float, optional
        Seconds that the engine asked to be left alone.
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
