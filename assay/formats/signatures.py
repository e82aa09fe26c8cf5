"""Patterns that only the files of one other tool match at their beginning."""

from __future__ import annotations

import re

# Format names with patterns for the decoded text without leading white space, checked before all other formats. A
# pattern must not match a file of another format; text beyond the first 64 KiB is not available.
SIGNATURES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("quepid-book", re.compile(r'\{(?=[^{]{0,2000}"(?:scale|scorer|name)"\s*:)(?=.*"query_doc_pairs"\s*:)', re.S)),
)
