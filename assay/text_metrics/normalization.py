"""Text normalization of answers before they are compared with accepted answers.

It differs from the normalization for judges: SQuAD deletes punctuation, so that "four-way" is one token, and drops
English articles.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def answer_tokens(text: str) -> list[str]:
    """Split an answer into tokens: lower case, without ASCII punctuation or articles.

    Examples
    --------
    >>> answer_tokens("The four-way  switch, 1,200 kg!")
    ['fourway', 'switch', '1200', 'kg']
    """
    return _ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def accepted_tokens(accepted: Sequence[str]) -> list[list[str]]:
    """Split the accepted answers into tokens, without answers that have no tokens; a single empty list if no answer is
    left.

    Examples
    --------
    >>> accepted_tokens(["The A", "a seal"]), accepted_tokens([])
    ([['seal']], [[]])
    """
    return [tokens for tokens in map(answer_tokens, accepted) if tokens] or [[]]
