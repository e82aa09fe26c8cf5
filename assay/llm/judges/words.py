"""Text normalization for judges that match texts by their words."""

from __future__ import annotations

import unicodedata


class _Blanks(dict[int, int]):
    """Translation table from punctuation, symbols and controls to a blank; filled on first use of each character."""

    def __missing__(self, code: int) -> int:
        self[code] = 0x20 if unicodedata.category(chr(code))[0] in "PSZC" else code
        return self[code]


_BLANKS = _Blanks()


def normalized(text: str) -> str:
    """Fold case, turn punctuation into blanks, and leave one blank between words.

    Examples
    --------
    >>> normalized("Retrieval-augmented   generation, improves LLM responses!")
    'retrieval augmented generation improves llm responses'
    >>> normalized(" -- ")
    ''
    """
    return " ".join(unicodedata.normalize("NFC", text).casefold().translate(_BLANKS).split())
