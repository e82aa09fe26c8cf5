"""What does a file format say about itself?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from judgments.formats.reading import Read
from judgments.formats.writing import Written


@dataclass(frozen=True, slots=True)
class Format:
    """The declaration of one format; the command line, forms, API and docs read it.

    Attributes
    ----------
    name, title, description : str
        ``trec-qrels``; ``TREC qrels``; one sentence.
    kind : str
        What a row is: ``qrels``, ``run``, ``documents``, ``queries``, ``query-log``, ``ratings``, ``pairs`` or
        ``manifest``. Formats of one kind convert into each other.
    extensions : tuple of str
        Usual endings, the one that is written first.
    read : callable
        ``read(source, *, path, **options) -> Read``.
    write : callable or None
        ``write(rows, stream, **options) -> Written`` to a binary stream; None for a format that is only read.
    example : str
        A whole small file.
    options : dict of str to str
        What ``read`` takes beside the path, and what it means.
    """

    name: str
    title: str
    kind: str
    extensions: tuple[str, ...]
    description: str
    read: Callable[..., Read[Any]]
    write: Callable[..., Written] | None
    example: str
    options: Mapping[str, str] = field(default_factory=dict)
