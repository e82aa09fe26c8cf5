"""Retrievers of ``assay rag``, and the judge that matches their texts with expected answers."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from assay.cli import option, progress
from assay.cli.options.engine import add_engine_options, engine_settings, operator_allowlist
from assay.cli.options.parameters import add_member_options, member_options
from assay.core.errors import NotValid
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from assay.core.read_report import Report
    from assay.llm.judges import Context, JudgeKind
    from assay.llm.judges.model_judge import ModelJudge
    from assay.llm.judges.token_overlap import YesNoJudge
    from assay.rag.prompt_calls import PromptCalls
    from assay.rag.records import Document, EvaluationSample, SystemOutputs

MODEL_JUDGE = "expected_answer"
DEPTH, TIMEOUT = 10, 60.0
# The semantic judge has its own model, not the provider's.
JUDGE_MODEL = "judge_model"


def add_retrieval_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options for document sources and the judge."""
    from assay.llm.judges import JUDGES

    add_source_options(parser)
    group = parser.add_argument_group("relevance by expected answers (docs/rag-models.md)")
    known = ", ".join((*JUDGES, MODEL_JUDGE))
    option(
        group,
        "--judge NAME",
        f"judge that matches retrieved texts with expected answers: {known} (needs --model), or your own MODULE:CLASS",
    )
    add_member_options(group, {name: _renamed(kind) for name, kind in JUDGES.items()})


def add_source_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options for document sources."""
    group = parser.add_argument_group("sources of documents other than OUTPUTS")
    option(
        group,
        "--retriever [NAME=]MODULE:FUNCTION",
        "function(query) or function(query, k) that returns texts, or objects with text, doc_id and score; may be "
        "repeated",
        action="append",
        default=[],
    )
    add_engine_options(group, required=False)
    option(group, "--depth K", f"documents per query from these sources; default: {DEPTH}", type=int)
    option(group, "--documents FILE", "file with the document texts, for OUTPUTS that are runs or have only ids")


def prepared(
    args: argparse.Namespace,
    samples: Sequence[EvaluationSample],
    outputs: dict[str, list[SystemOutputs]],
    judge: YesNoJudge | None,
) -> tuple[list[EvaluationSample], dict[str, list[SystemOutputs]], list[str]]:
    """Return samples and outputs with retrieved documents, their texts and judged relevance, and notes."""
    outputs = dict(outputs)
    for name, given in retrieve(args, samples).items():
        if name in outputs:
            raise NotValid(f"two systems are named {name!r}; name the retriever with NAME=MODULE:FUNCTION")
        outputs[name] = given
    outputs = with_texts(args, outputs)
    if judge is None:
        return list(samples), outputs, []
    from assay.rag.expected_answers import expected_as_relevant, judged

    cases = expected_as_relevant(samples)
    outputs = {name: judged(cases, given, judge) for name, given in outputs.items()}
    notes = [f"a document is relevant if the judge {args.judge} finds an expected answer in it{_parameters(judge)}"]
    if unread := getattr(judge, "unread", 0):
        notes.append(f"{amount(unread, 'unreadable answer')} of the judge, counted as no match")
    return cases, outputs, notes


def _parameters(judge: object) -> str:
    if not is_dataclass(judge):
        return ""
    return ": " + ", ".join(f"{one.name} {getattr(judge, one.name)}" for one in fields(judge))


def has_limit(args: argparse.Namespace) -> bool:
    """Return whether ``--timeout`` applies to something other than a model."""
    return retrieves(args) or (args.judge is not None and ":" in args.judge)


def retrieves(args: argparse.Namespace) -> bool:
    """Return whether documents come from a source other than OUTPUTS."""
    return bool(args.retriever or args.engine)


def retrieve(args: argparse.Namespace, samples: Sequence[EvaluationSample]) -> dict[str, list[SystemOutputs]]:
    """Return the outputs of each retriever and of the engine."""
    depth = DEPTH if args.depth is None else args.depth
    if depth < 1:
        raise NotValid(f"--depth is {depth}; use 1 or more")
    outputs: dict[str, list[SystemOutputs]] = {}
    for argument in args.retriever:
        name, _, spec = argument.rpartition("=")
        name = name or spec.rpartition(":")[2]
        if name in outputs:
            raise NotValid(f"two retrievers are named {name!r}; rename one with NAME=MODULE:FUNCTION")
        outputs[name] = _from_function(spec, samples, depth, seconds(args))
    if args.engine:
        if args.engine in outputs:
            raise NotValid(
                f"a retriever and the engine are both named {args.engine!r}; rename the retriever with "
                "NAME=MODULE:FUNCTION"
            )
        outputs[args.engine] = _from_engine(args, samples, depth)
    return outputs


def seconds(args: argparse.Namespace) -> float:
    """Return the time limit for a call of a function or class."""
    limit = TIMEOUT if args.timeout is None else float(args.timeout)
    if not 0 < limit < float("inf"):
        raise NotValid(f"--timeout is {limit:g}; use a number of seconds above 0")
    return limit


def run_as_outputs(path: str, name: str) -> tuple[list[SystemOutputs], Report] | None:
    """Return a run as outputs; None if the file is not a run."""
    from assay.formats import sniff
    from assay.formats.qrels_and_runs import open_run
    from assay.formats.text_lines import HEAD, Content, reusable_source
    from assay.rag.records import Document, RetrievedDocument, SystemOutputs

    source = reusable_source(Path(path))
    with Content(source, path, block=HEAD, hashed=False) as content:
        head = content.head
    format = sniff(head, "run")
    if format is None or _is_output(head):
        return None
    file = open_run(source if isinstance(source, Path | bytes) else Path(source), path, name, format)
    table = file.whole()
    scores = table.to_dict()
    outputs = [
        SystemOutputs(
            query_id,
            tuple(
                RetrievedDocument(Document(doc_id), rank, scores[query_id][doc_id])
                for rank, doc_id in enumerate(table.ranking(query_id), 1)
            ),
        )
        for query_id in table.query_ids
    ]
    return outputs, file.report


def _is_output(head: bytes) -> bool:
    """Return whether the first line is an object with a field that only outputs have."""
    import json

    from assay.rag.fields import RESPONSE, RETRIEVED

    try:
        first = json.loads(head.decode("utf-8", "replace").removeprefix("\ufeff").lstrip().partition("\n")[0])
    except (RecursionError, ValueError):
        # A longer line still begins with its keys.
        return b'"sample_id"' in head
    return isinstance(first, dict) and bool(first.keys() & {*RESPONSE, *RETRIEVED, "timings"})


def with_texts(args: argparse.Namespace, outputs: dict[str, list[SystemOutputs]]) -> dict[str, list[SystemOutputs]]:
    """Return the outputs with texts from ``--documents`` for documents without text."""
    if not args.documents:
        return outputs
    from assay.cli.inputs.files import print_warnings
    from assay.formats import FORMATS, sniff
    from assay.formats.text_lines import HEAD, Content, reusable_source

    source = reusable_source(Path(args.documents))
    with Content(source, args.documents, block=HEAD, hashed=False) as content:
        format = sniff(content.head, "documents") or "documents-jsonl"
    read = FORMATS[format].read(source, path=args.documents).strict()
    print_warnings([read.report])
    texts = {row.doc_id: "\n".join(part for part in (row.title, row.text) if part) for row in read.rows}

    def filled(doc: Document) -> Document:
        return doc if doc.text.strip() else replace(doc, text=texts.get(doc.doc_id, ""))

    return {
        name: [
            replace(output, retrieved=tuple(replace(one, doc=filled(one.doc)) for one in output.retrieved))
            for output in given
        ]
        for name, given in outputs.items()
    }


def needs_model(args: argparse.Namespace) -> bool:
    """Return whether the judge calls a provider's model."""
    return bool(args.judge == MODEL_JUDGE)


def judge_of(args: argparse.Namespace, calls: PromptCalls | None) -> YesNoJudge | None:
    """Return the judge; None if none is named."""
    from assay.core.user_callables import is_named
    from assay.llm.judges import JUDGES, MODEL_JUDGES

    kinds = {name: _renamed(kind) for name, kind in JUDGES.items()}
    given = member_options(args, kinds)
    if given and args.judge not in JUDGES:
        option = f"--{next(iter(given)).replace('_', '-')}"
        raise NotValid(f"{option} applies to the judges {' and '.join(JUDGES)}; name one with --judge")
    if args.judge is None:
        return None
    if args.judge == MODEL_JUDGE:
        from assay.llm.judges.model_judge import JudgeOptions

        assert calls is not None  # noqa: S101 (`needs_model` says so)
        return ModelYesNo(MODEL_JUDGES[MODEL_JUDGE].build(JudgeOptions()), calls)
    if is_named(args.judge):
        from assay.llm.judges.own_judge import OwnJudge

        return OwnJudge(args.judge, seconds(args))
    kind = JUDGES[args.judge]
    kinds[args.judge].checked(given)
    judge = kind.judge({"model" if name == JUDGE_MODEL else name: value for name, value in given.items()})
    return cast("YesNoJudge", judge)


class ModelYesNo:
    """A judge that calls a provider's model; an answer other than yes or no is no match and is counted."""

    def __init__(self, judge: ModelJudge, calls: PromptCalls) -> None:
        self._judge, self._calls = judge, calls
        self.unread = 0

    def batch_judge(self, contexts: Sequence[Context]) -> list[bool]:
        """Return True where the model answers yes."""
        outcomes = self._calls.judge(self._judge, contexts)
        self.unread += sum(one is not None and one.relevant is None for one in outcomes)
        return [one is not None and one.relevant is True for one in outcomes]


def _renamed(kind: JudgeKind) -> JudgeKind:
    parameters = [replace(one, name=JUDGE_MODEL) if one.name == "model" else one for one in kind.parameters]
    return replace(kind, parameters=tuple(parameters))


def _from_function(spec: str, samples: Sequence[EvaluationSample], depth: int, limit: float) -> list[SystemOutputs]:
    from assay.core.user_callables import call, load

    function = load(spec, "the retriever")
    if not callable(function):
        raise NotValid(f"the retriever {spec} is {type(function).__name__}, not a function")
    with_depth = _takes_depth(function)
    watch = progress(len(samples), "retrieving")
    outputs = []
    for done, sample in enumerate(samples, 1):
        about = f"query {sample.sample_id!r}"
        began = time.perf_counter()
        arguments = [sample.query, depth] if with_depth else [sample.query]
        documents = call(function, *arguments, seconds=limit, who=spec, about=about)
        timings = {"retrieval": time.perf_counter() - began}
        outputs.append(_output(sample.sample_id, documents, depth, timings, f"{spec}, {about}"))
        watch(done)
    return outputs


def _takes_depth(function: Callable[..., Any]) -> bool:
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 and (positional[1].default is inspect.Parameter.empty or positional[1].name == "k")


def _output(sample_id: str, documents: Any, depth: int, timings: Mapping[str, float], where: str) -> SystemOutputs:
    from assay.core.read_report import RowFault
    from assay.rag.fields import output_of

    if isinstance(documents, str | bytes) or not hasattr(documents, "__iter__"):
        raise NotValid(f"{where}: returned {type(documents).__name__}; return a list of texts or documents")
    objects = [_object(one) for one in list(documents)[:depth]]
    try:
        return output_of({"sample_id": sample_id, "retrieved": objects, "timings": timings}, 1)
    except RowFault as fault:
        raise NotValid(f"{where}: {fault}; return texts, or objects with text, doc_id and score") from None


def _object(document: Any) -> Any:
    """Return a retriever's document as an object for outputs.jsonl."""
    if isinstance(document, str):
        return {"text": document}
    if isinstance(document, dict) or not (hasattr(document, "metadata") or hasattr(document, "text")):
        return document
    # Documents of Evret, LangChain and others.
    metadata = getattr(document, "metadata", None) or {}
    text = next(
        (content for name in ("text", "page_content") if isinstance(content := getattr(document, name, None), str)),
        metadata.get("text", "") if isinstance(metadata, dict) else "",
    )
    values = {name: getattr(document, name, None) for name in ("doc_id", "score")}
    return {"text": text, **{name: value for name, value in values.items() if value is not None}}


def _from_engine(args: argparse.Namespace, samples: Sequence[EvaluationSample], depth: int) -> list[SystemOutputs]:
    from contextlib import closing

    from assay.connectors import EngineFault
    from assay.connectors.fetch import LONGEST_TIMEOUT, Plan, fetch
    from assay.rag.records import Document, RetrievedDocument, SystemOutputs

    kind, values = engine_settings(args)
    kind.check_depth(depth, values)
    outputs: dict[str, SystemOutputs] = {}
    failed: dict[str, str] = {}
    plan = Plan(depth=depth, concurrency=4)
    try:
        with closing(kind.engine(values, operator_allowlist(values), min(seconds(args), LONGEST_TIMEOUT))) as engine:
            for answer in fetch(engine, [(one.sample_id, one.query) for one in samples], plan):
                if answer.error:
                    failed[answer.query_id] = answer.error
                    continue
                outputs[answer.query_id] = SystemOutputs(
                    answer.query_id,
                    tuple(
                        RetrievedDocument(
                            Document(hit.doc_id, "\n".join(part for part in (hit.title, hit.text) if part)),
                            rank,
                            hit.score,
                        )
                        for rank, hit in enumerate(answer.hits, 1)
                    ),
                )
    except EngineFault as fault:
        raise NotValid(f"the engine {kind.name} stopped: {fault}") from None
    for query_id, error in list(failed.items())[:5]:
        sys.stderr.write(f"note: {kind.name} did not answer {query_id}: {error}\n")
    return [outputs[one.sample_id] for one in samples if one.sample_id in outputs]
