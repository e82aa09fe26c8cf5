"""Two small RAG systems over the shop, and questions with reference answers to evaluate them.

Both systems are real: they retrieve documents from the catalog and extract their answers from them, without a language
model. ``tfidf-lead`` always quotes the beginning of the first document; ``bm25-extract`` chooses the sentence that
shares most words with the question, and does not answer if too few words match. Their timings are measured.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assay.core.sentences import sentences
from demo import engines

DEPTH = 5
READ = 3
REFUSAL = "I don't know."
# The share of the question's words that the best document must contain; below it, the system does not answer.
LEAST = 0.5
SMALL = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be by can do does for from have how i in is it its long many may much my of on or "
        "should so take than that the them there they this to up use used what when which who will with you",
    )
)
# Id, question, reference answer, title prefix of the products that answer it, and topic.
QUESTIONS = (
    ("charge", "How long does the Cinder 350 lumen headlamp take to charge?", "It charges by USB-C in two hours.",
     "Skarnholm Cinder 350 Lumen", "use"),
    ("sedge", "How waterproof is the Nimbrel Sedge rain jacket?", "It is waterproof to 20,000 mm.",
     "Nimbrel Sedge Men's Rain Jacket", "material"),
    ("curry", "How do I prepare the Hulderay vegetable curry?", "Add boiling water to the bag and wait eight minutes.",
     "Hulderay Wren Vegetable Curry", "use"),
    ("kcal", "How many kcal does a portion of the vegetable curry have?", "About 600 kcal.",
     "Hulderay Wren Vegetable Curry", "contents"),
    ("trees", "How far apart are the trees for the Velkrin Chough double hammock?", "Four meters apart.",
     "Velkrin Chough Double Hammock", "size"),
    ("rvalue", "What R-value does the Pellivane Fulmar inflatable sleeping pad have?", "An R-value of 3.7.",
     "Pellivane Fulmar Inflatable Sleeping Pad", "material"),
    ("load", "What weight do the Karrowick Chough snowshoes carry?", "They carry up to 110 kg.",
     "Karrowick Chough Women's Snowshoes", "size"),
    ("poles", "How long are the Larchfold Chough trekking poles?", "From 65 to 135 cm.",
     "Larchfold Chough Aluminum Trekking Poles", "size"),
    ("pots", "What is in the Tindrake Siskin cook set?", "Two pots, a lid that is a pan, and two bowls.",
     "Tindrake Siskin Aluminum Cook Set", "contents"),
    ("freeze", "What must not happen to the Skarnholm Stoat squeeze water filter?", "It must not freeze.",
     "Skarnholm Stoat Squeeze Water Filter", "use"),
    ("power", "How long does the Velkrin Hollow power bank last?", "It lasts a week of maps and photographs.",
     "Velkrin Hollow Power Bank", "use"),
    ("pitch", "How quickly does the Karrowick Chough family tent stand?", "It stands in about four minutes.",
     "Karrowick Chough 6 Family Tent", "use"),
    ("proof", "When do I have to re-proof the Hulderay Kite rain jacket?", "After ten washes.",
     "Hulderay Kite Men's Rain Jacket", "use"),
    ("bars", "How many bars are in the Larchfold Linnet energy bar box?", "Twenty-four bars of oats, dates and nuts.",
     "Larchfold Linnet Energy Bar Box", "contents"),
    ("jerky", "What is the Hulderay Corrie beef jerky made of?", "Strips of dried beef with pepper.",
     "Hulderay Corrie Beef Jerky", "contents"),
    ("socks", "In which sizes do the Velkrin Corrie hiking socks come?", "Sizes 35 to 47.",
     "Velkrin Corrie Synthetic Hiking Socks", "size"),
    ("kite", "What comes with the Tindrake Kite sleeping bag?", "A storage sack and a compression bag.",
     "Tindrake Kite Synthetic Sleeping Bag", "contents"),
    ("mittens", "How cold may it get with the Hulderay Scree winter mittens?", "Down to minus twenty.",
     "Hulderay Scree Winter Mittens", "material"),
    ("packed", "What is the packed size of the Quillmoor Drift 2 ultralight tent?", "48 x 16 cm.",
     "Quillmoor Drift 2 Ultralight Tent", "size"),
    ("cells", "Which batteries does the Karrowick Wren headlamp need?", "Three AAA cells.",
     "Karrowick Wren 200 Lumen Battery Headlamp", "contents"),
)  # fmt: skip
# Id, question as typed, id of the original question, and kind of variation.
VARIANTS = (
    ("charge-typo", "how long does the cindr 350 lumen headlmap take to chrage", "charge", "typo"),
    ("sedge-typo", "nimbrel sedge rain jaket waterprof", "sedge", "typo"),
    ("poles-typo", "larchfold chough treking poles lenght", "poles", "typo"),
    ("curry-typo", "hulderay vegtable curry how to prepair", "curry", "typo"),
    ("load-other", "Maximum weight for Karrowick's Chough snowshoes?", "load", "paraphrase"),
)
UNANSWERABLE = (
    ("opening", "When does the store in Lisbon open on Sundays?"),
    ("logo", "Who designed the logo of the company?"),
    ("gift", "Does a gift card expire?"),
)


def samples(documents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the questions in the shape of samples.jsonl."""
    samples_by_id: dict[str, dict[str, Any]] = {}
    for sample_id, query, reference, title, topic in QUESTIONS:
        docs = [_passage(one) for one in documents if one["title"].startswith(title) and one["text"]]
        samples_by_id[sample_id] = {
            "sample_id": sample_id,
            "query": query,
            "reference_answer": reference,
            "relevant_docs": docs,
            "labels": {"topic": topic},
        }
    for sample_id, query, parent, scenario in VARIANTS:
        labels = {**samples_by_id[parent]["labels"], "variant_of": parent, "scenario": scenario}
        samples_by_id[sample_id] = {**samples_by_id[parent], "sample_id": sample_id, "query": query, "labels": labels}
    for sample_id, query in UNANSWERABLE:
        labels = {"scenario": "unanswerable"}
        samples_by_id[sample_id] = {
            "sample_id": sample_id,
            "query": query,
            "reference_answer": REFUSAL,
            "labels": labels,
        }
    return list(samples_by_id.values())


def outputs(
    questions: Sequence[Mapping[str, Any]], documents: Sequence[Mapping[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """Return the lines of outputs.jsonl by system, with measured timings."""
    return {
        "tfidf-lead": _ask(questions, documents, engines.tfidf_index(documents), _lead),
        "bm25-extract": _ask(questions, documents, engines.bm25_index(documents), _extract),
    }


def _ask(
    questions: Sequence[Mapping[str, Any]],
    documents: Sequence[Mapping[str, Any]],
    search: Callable[[str], dict[str, float]],
    respond: Callable[[str, Sequence[str]], str],
) -> list[dict[str, Any]]:
    texts = {one["doc_id"]: _passage(one)["text"] for one in documents}
    rows = []
    for sample in questions:
        begun = time.perf_counter()
        scores = list(search(sample["query"]).items())[:DEPTH]
        retrieved = time.perf_counter()
        response = respond(sample["query"], [texts[doc_id] for doc_id, _ in scores])
        ended = time.perf_counter()
        rows.append(
            {
                "sample_id": sample["sample_id"],
                "retrieved": [{"doc_id": doc_id, "text": texts[doc_id], "score": score} for doc_id, score in scores],
                "response": response,
                "timings": {
                    "retrieval": round(retrieved - begun, 6),
                    "generation": round(ended - retrieved, 6),
                    "end_to_end": round(ended - begun, 6),
                },
            }
        )
    return rows


def _passage(document: Mapping[str, Any]) -> dict[str, str]:
    return {"doc_id": document["doc_id"], "text": f"{document['title']}.\n{document['text']}".strip()}


def _lead(query: str, texts: Sequence[str]) -> str:
    """Return the first two sentences of the first document's description."""
    return " ".join(_sentences(texts[0])[1:3]) if texts else REFUSAL


def _extract(query: str, texts: Sequence[str]) -> str:
    """Return the sentence of the first documents that shares most words with the question; title words count a
    little."""
    wanted = _words(query)
    best, score = REFUSAL, 0.0
    for place, text in enumerate(texts[:READ]):
        known = _words(text)
        if len(wanted & known) < LEAST * len(wanted):
            continue
        title, *others = _sentences(text)
        for sentence in others:
            shared = len(wanted & _words(sentence)) + 2 * len(wanted & _words(title)) / (1 + place)
            shared += 0.5 * bool(re.search(r"\d", sentence))
            if shared > score:
                best, score = sentence, shared
    return best


def _sentences(text: str) -> list[str]:
    return [text[begin:end] for begin, end in sentences(text)]


def _words(text: str) -> frozenset[str]:
    """Return the content words of a text, without the plural s."""
    return frozenset(word.rstrip("s") for word in re.findall(r"\w+", text.casefold()) if word not in SMALL)
