"""Drafter that fills a template with known facts and leaves gaps for the rest."""

from __future__ import annotations

from judgments.queries.drafting.drafter import GAP, Drafter, Need

# More spellings and titles would not be read.
MOST_SPELLINGS, MOST_TITLES = 4, 3


def draft(need: Need) -> str:
    """Fill the template with the query and its results, with gaps for facts that only a person knows."""
    also = f", or {_listed(need.spellings[:MOST_SPELLINGS])}," if need.spellings else ""
    lines = [
        f"A person who searches for “{need.query}”{also} wants {GAP} what they want to find or do].",
        f"Relevant: {GAP} what a document must offer].",
        f"Not relevant: {GAP} what only looks relevant].",
    ]
    titles = [title for title in dict.fromkeys(need.titles) if title.strip()]
    if titles:
        lines.append(f"Search returns, among others: {_listed(titles[:MOST_TITLES])}.")
    return "\n".join(lines)


def _listed(texts: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"“{text}”" for text in texts)


TEMPLATE = Drafter(
    name="template",
    title="Template",
    description="The query, its spellings and the titles of the first results, with gaps to fill in.",
    draft=draft,
)
