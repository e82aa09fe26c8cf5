"""Three search systems of the shop.

All three are real and computed when the demo is loaded. ``bm25`` stems words and reads title, text and category;
``tfidf`` uses unstemmed words and reads title and text; ``chargram`` compares sequences of letters in title and
category. Each therefore makes its own errors, such as on plurals, compounds, misspellings, or words that are only in
the text.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.core.run import Run

DEPTH = 50
# The digits in which SQLite's BM25 agrees on all platforms.
DIGITS = 6

Documents = Sequence[Mapping[str, Any]]
Scores = dict[str, dict[str, float]]
Search = Callable[[str], dict[str, float]]


def runs(queries: Mapping[str, str], documents: Documents) -> list[Run]:
    """Run all queries on the three systems."""
    from assay.core.run import Run

    return [Run.from_dict(engine(queries, documents), name) for name, engine in ENGINES.items()]


def bm25(queries: Mapping[str, str], documents: Documents) -> Scores:
    """Search with SQLite full-text search: Porter stems, any word may match, and a word in the title counts three
    times."""
    search = bm25_index(documents)
    return {query_id: search(text) for query_id, text in queries.items()}


def bm25_index(documents: Documents) -> Search:
    """Index the documents once and return a function that searches them."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE shop USING fts5(doc_id UNINDEXED, title, text, category, tokenize='porter')")
    rows = [(d["doc_id"], d["title"], d["text"], d["fields"].get("category", "")) for d in documents]
    base.executemany("INSERT INTO shop VALUES (?, ?, ?, ?)", rows)
    return partial(_matches, base)


def _matches(base: sqlite3.Connection, text: str) -> dict[str, float]:
    words = _words(text)
    if not words:
        return {}
    # SQLite's bm25() is negative, and lower values are better.
    cursor = base.execute(
        "SELECT doc_id, -bm25(shop, 0, 3, 1, 1) AS score FROM shop WHERE shop MATCH ?"
        " ORDER BY score DESC, doc_id LIMIT ?",
        (" OR ".join(f'"{word}"' for word in words), DEPTH),
    )
    return {doc_id: round(score, DIGITS) for doc_id, score in cursor}


def tfidf(queries: Mapping[str, str], documents: Documents) -> Scores:
    """Search by the cosine of TF-IDF vectors over the unstemmed words of title and text."""
    search = tfidf_index(documents)
    return {query_id: search(text) for query_id, text in queries.items()}


def tfidf_index(documents: Documents) -> Search:
    """Return a search function as `bm25_index` does, with TF-IDF vectors."""
    texts = [f"{document['title']} {document['text']}" for document in documents]
    return _cosine(documents, texts, analyzer=_words, sublinear_tf=True)


def chargram(queries: Mapping[str, str], documents: Documents) -> Scores:
    """Search by the cosine of TF-IDF vectors over character 3- to 5-grams of title and category."""
    texts = [f"{document['title']} {document['fields'].get('category', '')}" for document in documents]
    search = _cosine(documents, texts, analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    return {query_id: search(text) for query_id, text in queries.items()}


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _cosine(documents: Documents, texts: Iterable[str], **options: Any) -> Search:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(**options)
    index = vectorizer.fit_transform(texts).T.tocsr()
    doc_ids = [document["doc_id"] for document in documents]

    def search(text: str) -> dict[str, float]:
        return _best(doc_ids, (vectorizer.transform([text]) @ index).toarray()[0].tolist())

    return search


def _best(doc_ids: Sequence[str], scores: Sequence[float]) -> dict[str, float]:
    rounded = ((round(score, DIGITS), doc_id) for score, doc_id in zip(scores, doc_ids, strict=True))
    ranked = sorted((pair for pair in rounded if pair[0] > 0), key=lambda pair: (-pair[0], pair[1]))
    return {doc_id: score for score, doc_id in ranked[:DEPTH]}


ENGINES: dict[str, Callable[[Mapping[str, str], Documents], Scores]] = {
    "bm25": bm25,
    "tfidf": tfidf,
    "chargram": chargram,
}
