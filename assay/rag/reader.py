"""Samples and outputs from files, dicts, records and data frames, and their alignment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any, Literal

from assay.core.errors import NotValid
from assay.core.read_report import RowFault
from assay.formats.value_kinds import value_kind
from assay.rag import outputs_jsonl, samples_jsonl
from assay.rag.fields import checked_output, output_of, sample_of, short
from assay.rag.records import Answer, Document, EvaluationSample, Record, RetrievedDocument, SystemOutputs

Missing = Literal["error", "skip", "zero"]
MISSING: tuple[Missing, ...] = ("error", "skip", "zero")


def read_samples(source: Any) -> list[EvaluationSample]:
    """Read samples.

    Parameters
    ----------
    source : path, iterable of dict, dataclass or EvaluationSample, or DataFrame
        A JSONL file, the objects of one, or a polars or pandas data frame with the same fields as columns.

    Returns
    -------
    list of EvaluationSample
        The samples in the order of the source, with distinct ids.

    Raises
    ------
    NotValid
        When a field is missing or cannot be used, or an id is repeated.
    UnreadableInput
        When a file or a line cannot be read.

    Examples
    --------
    >>> read_samples([{"question": "Where?", "ground_truth": "Here"}])[0].reference_answer.text
    'Here'
    """
    if isinstance(source, str | Path):
        result = samples_jsonl.read(Path(source), path=str(source)).strict()
        return list(result.rows)
    return _records(source, EvaluationSample, sample_of, "sample")


def read_outputs(source: Any) -> list[SystemOutputs]:
    """Read the outputs of a system.

    Parameters
    ----------
    source : path, iterable of dict, dataclass or SystemOutputs, or DataFrame
        As in `read_samples`.

    Returns
    -------
    list of SystemOutputs
        The outputs in the order of the source, with distinct sample ids.

    Raises
    ------
    NotValid
        When a field cannot be used, or an id is repeated.
    UnreadableInput
        When a file or a line cannot be read.
    """
    if isinstance(source, str | Path):
        result = outputs_jsonl.read(Path(source), path=str(source)).strict()
        return list(result.rows)
    return _records(source, SystemOutputs, output_of, "output")


@dataclass(frozen=True)
class Aligned:
    """The samples that count for a system, and its outputs at the same positions."""

    samples: list[EvaluationSample]
    outputs: list[SystemOutputs]
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()


def align(
    samples: Sequence[EvaluationSample],
    outputs: Sequence[SystemOutputs],
    missing: Missing = "error",
    system: str = "the system",
) -> Aligned:
    """Align outputs with their samples by id."""
    if missing not in MISSING:
        raise NotValid(f"missing is {missing!r}; choose from {', '.join(MISSING)}")
    known = {output.sample_id: output for output in outputs}
    ids = {sample.sample_id for sample in samples}
    lacking = tuple(sample.sample_id for sample in samples if sample.sample_id not in known)
    extra = tuple(output.sample_id for output in outputs if output.sample_id not in ids)
    if samples and len(lacking) == len(samples) and outputs:
        raise NotValid(
            (
                f"{system}: no output matches a sample; samples have ids such as "
                f"{_some([one.sample_id for one in samples])}, outputs {_some(extra)}; use the same ids in both"
            ),
        )
    if missing == "error" and lacking:
        what = f"{system}: {len(lacking):,} of {len(samples):,} samples have no output ({_some(lacking)})"
        raise NotValid(f"{what}; add them, or set missing to skip or zero")
    if missing == "error" and extra:
        what = f"{system}: {len(extra):,} of {len(outputs):,} outputs have no sample ({_some(extra)})"
        raise NotValid(f"{what}; add the samples, or set missing to skip or zero")
    if missing == "skip":
        present = [sample for sample in samples if sample.sample_id in known]
        return Aligned(present, [known[sample.sample_id] for sample in present], lacking, extra)
    beside = [known.get(sample.sample_id) or SystemOutputs(sample.sample_id, missing=True) for sample in samples]
    return Aligned(list(samples), beside, lacking, extra)


def _some(ids: Sequence[str]) -> str:
    return ", ".join(map(repr, ids[:3])) + (", ..." if len(ids) > 3 else "")


def _records(
    source: Any, kind: type[Record], parse: Callable[[Mapping[str, Any], int], Record], what: str
) -> list[Record]:
    records: dict[str, Record] = {}
    for place, row in enumerate(_rows(source, what), 1):
        if is_dataclass(row) and not isinstance(row, type | kind):
            row = asdict(row)
        if isinstance(row, kind):
            try:
                _check_texts(row)
                record = checked_output(row) if isinstance(row, SystemOutputs) else row
            except RowFault as fault:
                raise NotValid(f"{what} {place}: {fault}; {fault.fix}") from None
        elif isinstance(row, Mapping):
            try:
                record = parse(row, place)
            except RowFault as fault:
                raise NotValid(f"{what} {place}: {fault}" + (f"; {fault.fix}" if fault.fix else "")) from None
        else:
            raise NotValid(f"{what} {place} is {value_kind(row)}; use a dict, a dataclass or {kind.__name__}")
        if records.setdefault(record.sample_id, record) != record:
            raise NotValid(f"{what} {place}: the id {record.sample_id!r} is repeated with different content; keep one")
    return list(records.values())


def _check_texts(record: EvaluationSample | SystemOutputs) -> None:
    """Reject a record with a field of the wrong type, or a text that is too long."""
    checks: list[tuple[str, Iterable[Any], type[Any]]]
    if isinstance(record, EvaluationSample):
        checks = [
            ("reference_answer", (record.reference_answer,), Answer),
            ("further_answers", record.further_answers, Answer),
            ("relevant_docs", record.relevant_docs or (), Document),
            ("candidate_docs", record.candidate_docs or (), Document),
        ]
    else:
        checks = [("response", (record.response,), Answer), ("retrieved", record.retrieved, RetrievedDocument)]
    for name, values, wanted in checks:
        for one in values:
            if one is None:
                continue
            if not isinstance(one, wanted):
                fix = f"pass {wanted.__name__} or a dict, not a record"
                raise RowFault("E23", f"`{name}` contains {value_kind(one)}", fix)
            if isinstance(one, Answer):
                short(name, one.text)
            else:
                short("text", one.doc.text if isinstance(one, RetrievedDocument) else one.text)


def _rows(source: Any, what: str) -> Iterable[Any]:
    if hasattr(source, "iter_rows") and hasattr(source, "columns"):  # polars
        return (dict(row) for row in source.iter_rows(named=True))
    if hasattr(source, "to_dict") and hasattr(source, "columns"):  # pandas
        return [dict(row) for row in source.to_dict("records")]
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise NotValid(f"the {what}s are {value_kind(source)}; use a path, a list of dicts, or a DataFrame")
    return source
