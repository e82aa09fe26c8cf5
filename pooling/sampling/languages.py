"""Language filter for the searches of a log that records languages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from judgments.core.errors import NotValid

OTHER = "in another language"


def speaks(tag: str, asked: str) -> bool:
    """Whether a language as a log writes it is the one asked for or a variety of it (RFC 4647, section 3.3.1).

    Examples
    --------
    >>> speaks("de_AT", "de"), speaks("DE", "de"), speaks("de", "de-AT"), speaks("den", "de"), speaks("", "de")
    (True, True, False, False, False)
    """
    mine, wanted = (text.strip().casefold().replace("_", "-") for text in (tag, asked))
    return mine == wanted or mine.startswith(f"{wanted}-")


def check_language(asked: str | None, languages: Mapping[str, int]) -> None:
    """Raise `NotValid` when a language is asked for and the log does not say which search is in which.

    Parameters
    ----------
    asked : str or None
        What was asked for; None for all.
    languages : mapping of str to int
        The languages that the log names, with how many searches each has.
    """
    if asked is None:
        return
    if not asked.strip():
        raise NotValid("the language is empty; give a tag such as de or en-GB", {"language": "a tag such as de"})
    if not languages:
        message = f"the log does not say which searches are in {asked!r}: it has no column language (or none was named)"
        raise NotValid(message, {"language": message})
    if not any(speaks(tag, asked) for tag in languages):
        message = f"no search is in {asked!r}; the log has {told(languages)}"
        raise NotValid(message, {"language": message})


def told(languages: Iterable[str], most: int = 10) -> str:
    """The languages in one line, the first of them where there are many."""
    names = [repr(tag) for tag in languages]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
