"""Errors that are shown to users.

The catcher decides how to report it: the command line by exit status, the server by HTTP status. The message is always
a full sentence that says what happened, where, and what to do.
"""

from __future__ import annotations

from typing import Any


class AssayError(Exception):
    """Base class of all errors whose message may be shown to a user."""

    def __reduce__(self) -> tuple[Any, ...]:
        # An error may come from another process, and its arguments are not always those it was made with.
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[AssayError], args: tuple[Any, ...], state: dict[str, Any]) -> AssayError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class NotValid(AssayError, ValueError):
    """An input that cannot be used."""

    def __init__(self, message: str, fields: dict[str, str] | str | None = None) -> None:
        """Store the message, and the messages by field; the name of one field alone gives it the whole message."""
        super().__init__(message)
        self.fields = {fields: message} if isinstance(fields, str) else fields or {}


class UnknownName(NotValid):
    """An unknown name in a family; the message lists the nearest names."""


class UnreadableInput(NotValid):
    """A file that cannot be read in the expected format."""

    def __init__(self, path: str, line: int | None, problem: str, expected: str, code: str = "") -> None:
        place = path if line is None else f"{path}:{line}"
        super().__init__(f"{place}: {problem}; {expected}")
        self.path, self.line, self.problem, self.expected, self.code = path, line, problem, expected, code


class NotFound(AssayError):
    """The object does not exist, or the user may not know that it exists."""


class NotAllowed(AssayError):
    """The user is a member, but the role does not permit the action."""


class Waits(NotAllowed):
    """The user may act here, but must do something else first; ``code`` names it for programs."""

    code = "waits"


class CalibrationFirst(Waits):
    """The rater has not passed the round's qualification."""

    code = "calibration_first"


class Paused(Waits):
    """A lead paused the rater."""

    code = "paused"


class Conflict(AssayError):
    """The action conflicts with the current state: a name is taken, a pair was never leased to the caller."""

    def __init__(self, message: str, fields: dict[str, str] | str | None = None) -> None:
        super().__init__(message)
        self.fields = {fields: message} if isinstance(fields, str) else fields or {}


class Changed(AssayError):
    """The object changed after the caller read it."""


class Closed(AssayError):
    """The round no longer accepts answers."""


class TooLarge(AssayError):
    """The input is larger than the server accepts."""


class BeyondLimits(TooLarge):
    """Reading the input exceeds a limit on time, memory or lines."""


class TooMany(AssayError):
    """The caller made too many attempts and has to wait."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Busy(AssayError):
    """The server is too busy at the moment; the same call may succeed later."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after
