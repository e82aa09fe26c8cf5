"""Language filter for the searches of a log that records languages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay.core.errors import NotValid

OTHER = "in another language"


def language_matches(tag: str, requested: str) -> bool:
    """Return whether a language tag of a log is the requested language or a variety of it (RFC 4647, section 3.3.1).

    Examples
    --------
    >>> language_matches("de_AT", "de"), language_matches("DE", "de"), language_matches("den", "de")
    (True, True, False)
    >>> language_matches("de", "de-AT"), language_matches("", "de")
    (False, False)
    """
    mine, wanted = (text.strip().casefold().replace("_", "-") for text in (tag, requested))
    return mine == wanted or mine.startswith(f"{wanted}-")


def check_language(requested: str | None, languages: Mapping[str, int]) -> None:
    """Raise `NotValid` if a language is requested and the log has no languages."""
    if requested is None:
        return
    if not requested.strip():
        raise NotValid("The language is empty. Use a tag such as de or en-GB.", {"language": "A tag such as de."})
    if not languages:
        message = f"No column of the log is mapped to language, so searches in {requested!r} cannot be selected."
        raise NotValid(message, "language")
    if not any(language_matches(tag, requested) for tag in languages):
        raise NotValid(f"No search is in {requested!r}. Languages in the log: {language_list(languages)}.", "language")


def language_list(languages: Iterable[str], most: int = 10) -> str:
    """Return the languages in one line, limited to the first if there are many."""
    names = [repr(tag) for tag in languages]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
