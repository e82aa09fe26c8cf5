"""What can go wrong, on one page: every error that a user is meant to read.

Whoever catches one decides how to tell it: the command line by exit status, the server by HTTP status. The message is
always a whole sentence that says what happened, where, and what to do.
"""

from __future__ import annotations

from typing import Any


class AssayError(Exception):
    """The root of the tree; its text is fit to be shown to a user."""

    def __reduce__(self) -> tuple[Any, ...]:
        # An error may come from another process, and its arguments are not always those it was made with.
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[AssayError], args: tuple[Any, ...], state: dict[str, Any]) -> AssayError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class NotValid(AssayError, ValueError):
    """An input that cannot be used.

    Parameters
    ----------
    message : str
        What is wrong and what to do.
    fields : dict of str to str, optional
        The same said field by field, for a form or an API client.
    """

    def __init__(self, message: str, fields: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.fields = fields or {}


class UnknownName(NotValid):
    """A name that no member of a family has; the text lists the nearest ones."""


class UnreadableInput(NotValid):
    """A file that cannot be read as what it was said to be.

    Parameters
    ----------
    path : str
        The file as the user named it, ``-`` for standard input.
    line : int or None
        One-based physical line, where one is at fault.
    problem : str
        What is wrong.
    expected : str
        What was expected, and what to do.
    code : str, optional
        The code of the fault, as docs/formats.md lists them (``F01``, ``E10``, ...).
    """

    def __init__(self, path: str, line: int | None, problem: str, expected: str, code: str = "") -> None:
        place = path if line is None else f"{path}:{line}"
        super().__init__(f"{place}: {problem}; {expected}")
        self.path, self.line, self.problem, self.expected, self.code = path, line, problem, expected, code


class NotFound(AssayError):
    """There is nothing by that name, or nothing that this user may know of."""


class NotAllowed(AssayError):
    """The user is a member, but the role does not cover the act."""


class Waits(NotAllowed):
    """The user may act here, but something else comes first; ``code`` names it for a program."""

    code = "waits"


class CalibrationFirst(Waits):
    """The rater has not passed the round's calibration."""

    code = "calibration_first"


class Paused(Waits):
    """A lead asked the rater to wait."""

    code = "paused"


class Conflict(AssayError):
    """The act collides with the state of things: a name is taken, a pair was never leased to the caller.

    Parameters
    ----------
    message : str
        What collides with what, and what to do.
    fields : dict of str to str, optional
        The fields by which it can be mended, where there are any.
    """

    def __init__(self, message: str, fields: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.fields = fields or {}


class Closed(AssayError):
    """The round no longer takes answers."""


class TooLarge(AssayError):
    """The input is larger than the server takes."""


class BeyondLimits(TooLarge):
    """Reading the input takes more time, memory or lines than it may."""


class TooMany(AssayError):
    """The caller tried too often and has to wait.

    Parameters
    ----------
    message : str
        What was tried too often, and how long to wait.
    retry_after : int
        Seconds to wait.
    """

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Busy(AssayError):
    """The server does too much of this at the moment; the same call may pass in a while.

    Parameters
    ----------
    message : str
        What to do.
    retry_after : int
        Seconds to wait.
    """

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after
