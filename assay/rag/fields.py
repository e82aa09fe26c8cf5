"""The fields of samples and outputs in JSON objects, including the names used by other tools."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.core.errors import NotValid
from assay.core.read_report import RowFault
from assay.core.text_rules import id_fault, text_id
from assay.formats.json_lines import id_text
from assay.formats.text_lines import MAX_LINE
from assay.formats.value_kinds import value_kind
from assay.rag.records import Answer, Document, EvaluationSample, RetrievedDocument, SystemOutputs

# The names of each field, ours first. Rows of ragas and of Hugging Face data sets contain a sample and an output.
SAMPLE_ID = ("sample_id", "id", "_id", "question_id", "query_id")
QUERY = ("query", "question", "user_input", "query_text")
REFERENCE = (
    "reference_answer", "ground_truth", "ground_truths", "reference", "expected_answer", "expected_answers", "answers",
)  # fmt: skip
RELEVANT = ("relevant_docs", "reference_contexts")
CANDIDATES = ("candidate_docs",)
RESPONSE = ("response", "answer")
RETRIEVED = ("retrieved", "retrieved_docs", "contexts", "retrieved_contexts")
# Lists of texts; the other lists of documents contain ids or objects.
OF_TEXTS = ("reference_contexts", "contexts", "retrieved_contexts")
# Labels that may also be fields of the sample.
LABELS = ("variant_of", "scenario")
OF_SAMPLES = (*SAMPLE_ID, *QUERY, *REFERENCE, *RELEVANT, *CANDIDATES, *LABELS, "labels")
OF_OUTPUTS = (*SAMPLE_ID, *RESPONSE, *RETRIEVED, "timings")
DOCUMENT = ("doc_id", "id", "_id")
TEXT = ("text", "content", "page_content")


def sample_of(of: Mapping[str, Any], place: int) -> EvaluationSample:
    """Return the sample of an object; the default id is its position in the file, from 1."""
    name, query = _first(of, QUERY)
    if not isinstance(query, str) or not query.strip():
        code = "E11" if query is None or isinstance(query, str) else "E23"
        raise RowFault(code, f"the field `{name}` is {_problem(query)}", "add the question")
    answers = _answers(of)
    return EvaluationSample(
        sample_id_of(of, place),
        query,
        answers[0] if answers else None,
        _documents(of, RELEVANT),
        _documents(of, CANDIDATES),
        _labels(of),
        tuple(answers[1:]),
    )


def output_of(of: Mapping[str, Any], place: int) -> SystemOutputs:
    """Return the output of an object; the default id is its position in the file, from 1."""
    if not any(name in of for name in (*RESPONSE, *RETRIEVED, "timings")):
        raise RowFault("E23", "there is no `response`, `retrieved` or `timings`", "add at least one of them")
    name, response = _first(of, RESPONSE)
    return SystemOutputs(
        sample_id_of(of, place), _retrieved(of), None if response is None else _answer(name, response), _timings(of)
    )


def checked_output(output: SystemOutputs) -> SystemOutputs:
    """Return an output that was created in Python, with its documents sorted by rank and its timings as in a file."""
    ranks = [one.rank for one in output.retrieved]
    _check_ranks(ranks, "retrieved")
    timings = _timings({"timings": output.timings})
    if ranks == sorted(ranks) and timings == output.timings:
        return output
    return replace(output, retrieved=tuple(sorted(output.retrieved, key=lambda one: one.rank)), timings=timings)


def sample_id_of(of: Mapping[str, Any], place: int) -> str:
    """Return the id of the sample that an object belongs to."""
    name, value = _first(of, SAMPLE_ID)
    if value is None:
        return str(place)
    return _id(value, f"the field `{name}`", "add an id to each sample")


def _first(of: Mapping[str, Any], names: Sequence[str]) -> tuple[str, Any]:
    for name in names:
        value = plain(of.get(name))
        if not _nothing(value):
            return name, value
    return names[0], None


def _nothing(value: Any) -> bool:
    # pandas.NA compares with nothing, and pandas need not be installed.
    return value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ == "NAType"


def plain(value: Any) -> Any:
    """Return the Python number of a NumPy scalar, which measurements and data frames contain."""
    return value.item() if hasattr(value, "dtype") and getattr(value, "shape", None) == () else value


def _problem(value: Any) -> str:
    if isinstance(value, str):
        return "blank" if value else "empty"
    return "missing" if value is None else f"{value_kind(value)}, not text"


def _answer(name: str, value: Any) -> Answer:
    text = value.get("text") if isinstance(value, Mapping) else value
    if not isinstance(text, str):
        raise RowFault("E23", f"the field `{name}` is {value_kind(value)}", 'use a text, or {"text": ...}')
    return Answer(short(name, text))


def short(name: str, text: str) -> str:
    """Return a text after checking its length."""
    # As for a line of a file, so that files and Python objects have the same limit.
    if len(text) > MAX_LINE:
        raise RowFault("E23", f"the field `{name}` is a text of over 16 MiB", "shorten it")
    return text


def _answers(of: Mapping[str, Any]) -> list[Answer]:
    name, value = _first(of, REFERENCE)
    if value is None:
        return []
    if isinstance(value, Mapping) and _is_list(value.get("text")):  # SQuAD: {"text": [...], "answer_start": [...]}
        value = value["text"]
    return [_answer(name, one) for one in _items(value)] if _is_list(value) else [_answer(name, value)]


def _is_list(value: Any) -> bool:
    # Columns of data frames contain lists as arrays.
    return isinstance(value, list | tuple) or (hasattr(value, "tolist") and not isinstance(value, str | bytes))


def _items(value: Any) -> list[Any]:
    return list(value.tolist() if hasattr(value, "tolist") else value)


def _documents(of: Mapping[str, Any], names: Sequence[str]) -> tuple[Document, ...] | None:
    name, value = _first(of, names)
    if value is None:
        return None
    if not _is_list(value):
        raise RowFault("E23", f"the field `{name}` is {value_kind(value)}, not a list", "use a list")
    return tuple(_document(name, one) for one in _items(value))


def _document(name: str, value: Any) -> Document:
    if name in OF_TEXTS and isinstance(value, str):
        return Document(text_id(value), short(name, value))
    if not isinstance(value, Mapping):
        return Document(_doc_id(name, value))
    key, text = _first(value, TEXT)
    if text is not None and not isinstance(text, str):
        raise RowFault("E23", f"the field `{key}` of a document in `{name}` is {value_kind(text)}", "use a text")
    id_key, given = _first(value, DOCUMENT)
    if given is None and not text:
        raise RowFault("E11", f"a document in `{name}` has neither `doc_id` nor `text`", "add one of them")
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise RowFault("E23", f"`metadata` of a document in `{name}` is {value_kind(metadata)}", "use an object")
    used, content = {key, id_key, "metadata", "score", "rank"}, short(key, text or "")
    more = {other: part for other, part in value.items() if other not in used and not _nothing(part)}
    doc_id = text_id(content) if given is None else _doc_id(name, given)
    return Document(doc_id, content, {**(metadata or {}), **more})


def _doc_id(name: str, value: Any) -> str:
    return _id(value, f"the id of a document in `{name}`", "add an id to each document")


def _id(value: Any, what: str, fix: str) -> str:
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RowFault("E23", f"{what} is {value_kind(value)}, not text", fix)
    text, _ = id_text(value)
    if fault := id_fault(text):
        raise RowFault(fault[0], f"{what} {fault[1]}", fix)
    return text


def _retrieved(of: Mapping[str, Any]) -> tuple[RetrievedDocument, ...]:
    name, value = _first(of, RETRIEVED)
    if value is None:
        return ()
    if not _is_list(value):
        raise RowFault("E23", f"the field `{name}` is {value_kind(value)}, not a list", "use a list")
    items = _items(value)
    ranks = [plain(one.get("rank")) if isinstance(one, Mapping) else None for one in items]
    ranks = [None if _nothing(rank) else rank for rank in ranks]
    if any(rank is not None for rank in ranks):
        _check_ranks(ranks, name)
    documents = [
        RetrievedDocument(_document(name, one), ranks[at] or at + 1, _score(name, one)) for at, one in enumerate(items)
    ]
    _check_embeddings([one.doc.metadata.get("embedding") for one in documents], name)
    return tuple(sorted(documents, key=lambda one: one.rank))


def _check_embeddings(embeddings: Sequence[Any], name: str) -> None:
    given = [one for one in embeddings if one is not None]
    if not given:
        return
    from assay.rag.embeddings import as_matrix

    try:
        as_matrix(given, len(given), f"`embedding` in `{name}`")
    except NotValid as error:
        raise RowFault("E23", str(error), "correct the embeddings or remove them") from None


def _check_ranks(ranks: Sequence[Any], name: str) -> None:
    given = [rank for rank in ranks if rank is not None]
    if len(given) < len(ranks) or len(set(map(str, given))) < len(given):
        raise RowFault(
            "E23", f"the ranks in `{name}` are {given[:10]}", "give each document a unique rank, or remove the ranks"
        )
    for rank in given:
        if isinstance(rank, bool) or not isinstance(rank, int) or rank < 1:
            raise RowFault("E12", f"a rank in `{name}` is {rank!r}", "use whole numbers from 1")


def _score(name: str, value: Any) -> float | None:
    score = plain(value.get("score")) if isinstance(value, Mapping) else None
    if _nothing(score):
        return None
    if isinstance(score, bool) or not isinstance(score, int | float) or math.isinf(score):
        raise RowFault("E12", f"a score in `{name}` is {score!r}", "use a number")
    return float(score)


def _timings(of: Mapping[str, Any]) -> dict[str, float]:
    value = of.get("timings")
    if _nothing(value):
        return {}
    if not isinstance(value, Mapping):
        raise RowFault(
            "E23", f"the field `timings` is {value_kind(value)}", 'use an object such as {"end_to_end": 0.8}'
        )
    timings = {}
    for stage, given in value.items():
        seconds = plain(given)
        if _nothing(seconds):
            continue
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
            raise RowFault("E12", f"the timing `{stage}` is {seconds!r}", "use seconds, 0 or more")
        timings[str(stage)] = float(seconds)
    return timings


def _labels(of: Mapping[str, Any]) -> dict[str, Any]:
    labels = None if _nothing(of.get("labels")) else of["labels"]
    if labels is not None and not isinstance(labels, Mapping):
        raise RowFault(
            "E23", f"the field `labels` is {value_kind(labels)}", 'use an object such as {"scenario": "typo"}'
        )
    result = {str(name): value for name, value in (labels or {}).items() if not _nothing(value)}
    result |= {name: of[name] for name in LABELS if name not in result and not _nothing(of.get(name))}
    if "variant_of" in result:
        result["variant_of"] = _id(result["variant_of"], "the label `variant_of`", "use the id of a sample")
    return result
