"""Options for the prompt of a model judge: template, scale, guidelines, examples and sampling parameters."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import option
from assay.cli.inputs.files import scale_values
from assay.core.errors import NotValid

if TYPE_CHECKING:
    from assay.llm.judges.graded_relevance import Example, GradeMeaning
    from assay.llm.judges.model_judge import JudgeOptions, ModelJudgeKind
    from assay.llm.judges.prompt_templates import Template
    from assay.llm.providers.protocol import Endpoint

EXAMPLES = 4
# The field of the prompt that each option sets.
OF = {
    "scale": "scale",
    "scale_file": "scale",
    "guidelines": "guidelines",
    "examples": "examples",
    "examples_pairs": "examples",
    "examples_most": "examples",
    "relevant": "relevant_from",
    "probabilities": "probabilities",
    "text_metric": "text_metric",
}
# Options of all judges with a model.
COMMON = ("template", "temperature", "most_tokens", "most_characters", "seed")
NAMES = (*OF, *COMMON)


def add_words_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the prompt."""
    group = parser.add_argument_group("prompt")
    option(group, "--scale MIN:MAX", "grade scale; default: 0:3, or 0:1 for binary")
    option(group, "--scale-file FILE", "scale as CSV with grade,label,cue, or as a JSON list of such objects")
    option(group, "--guidelines FILE", "the guidelines for raters, as text or Markdown")
    option(group, "--examples FILE", "human grades from which to draw examples: qrels or ratings")
    option(group, "--examples-pairs FILE", "pairs.jsonl with the texts of the examples")
    option(group, "--examples-most N", f"number of examples; default: {EXAMPLES}", type=int)
    option(group, "--relevant GRADE", "the lowest relevant grade", type=int)
    option(group, "--probabilities", "request grade probabilities", action="store_true", default=None)
    option(group, "--text-metric NAME", "metric that scores an answer, for downstream; default: token_f1")
    option(group, "--template FILE", "custom prompt with placeholders in braces, or JSON with system and prompt")
    option(group, "--temperature X", "temperature; default: 0", type=float)
    option(group, "--most-tokens N", "maximum tokens per answer", type=int)
    option(group, "--most-characters N", "maximum characters per document; default: 12000", type=int)
    option(group, "--seed", "seed for the model, the examples and the canaries; default: 0", type=int)


def words(args: argparse.Namespace, kind: ModelJudgeKind, pairs: Iterable[Any]) -> tuple[JudgeOptions, list[list[Any]]]:
    """Read all parts of the prompt."""
    from assay.llm.judges.model_judge import JudgeOptions

    check_numbers(args)
    scale = _scale(args, kind)
    drawn = _examples(args, [one.value for one in scale], pairs) if "examples" in kind.takes else []
    more: dict[str, Any] = {} if args.most_characters is None else {"most_characters": args.most_characters}
    if args.relevant is not None and scale and args.relevant not in [one.value for one in scale]:
        raise NotValid(f"--relevant is {args.relevant}, which is not on the scale")
    prompt_parts = JudgeOptions(
        scale,
        text_of(args.guidelines) if args.guidelines else "",
        [example for _, example in drawn],
        args.relevant,
        args.most_tokens,
        temperature=args.temperature or 0.0,
        seed=args.seed or 0,
        probabilities=bool(args.probabilities),
        text_metric=_text_metric(args.text_metric) if "text_metric" in kind.takes else None,
        template=template(args.template, kind.template, kind.places, kind.needed) if args.template else None,
        **more,
    )
    return prompt_parts, [list(pair) for pair, _ in drawn]


def check_numbers(args: argparse.Namespace) -> None:
    """Reject numbers that are out of bounds."""
    for name, low, high in (("temperature", 0, 2), ("most_tokens", 1, 100_000), ("most_characters", 100, 1_000_000)):
        value = getattr(args, name)
        if value is not None and not low <= value <= high:
            raise NotValid(f"--{name.replace('_', '-')} is {value:g}; use {low} to {high:,}")


def template(path: str, own: Template | None, places: Sequence[str], needed: Sequence[str]) -> Template:
    """Return the judge's template with the wording of a file."""
    if own is None:
        raise NotValid("--template does not apply to this judge, which has a fixed prompt; remove it")
    try:
        return own.worded(text_of(path), places, needed)
    except NotValid as fault:
        raise NotValid(f"{path}: {fault}") from None


def _scale(args: argparse.Namespace, kind: ModelJudgeKind) -> tuple[GradeMeaning, ...]:
    if args.scale_file is not None:
        if args.scale is not None:
            raise NotValid("--scale and --scale-file cannot be combined; remove one of them")
        return _scale_file(args.scale_file)
    if args.scale is None or "scale" not in kind.takes:
        return kind.scale
    from assay.llm.judges.graded_relevance import GradeMeaning

    values = scale_values(args.scale)
    if values == tuple(one.value for one in kind.scale):
        return kind.scale
    ends = {values[0]: "the worst", values[-1]: "the best"}
    return tuple(GradeMeaning(value, ends.get(value, "between")) for value in values)


def _scale_file(path: str) -> tuple[GradeMeaning, ...]:
    from assay.llm.judges.graded_relevance import GradeMeaning

    text = text_of(path)
    try:
        rows = json.loads(text) if text.lstrip().startswith("[") else list(csv.DictReader(io.StringIO(text)))
        meanings = [
            GradeMeaning(int(row["grade"]), str(row["label"]).strip(), str(row.get("cue") or "")) for row in rows
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotValid(f"{path}: a scale needs CSV columns grade,label,cue, or a JSON list of such objects") from None
    if len({one.value for one in meanings}) != len(meanings) or not all(one.label for one in meanings):
        raise NotValid(f"{path}: a grade is repeated or has no label; list each grade once, with a label")
    return tuple(sorted(meanings, key=lambda one: one.value))


def text_of(path: str) -> str:
    """Return the text of a file."""
    data = Path(path).read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise NotValid(f"{path}: byte {fault.start} is not valid UTF-8; save the file as UTF-8") from None


def refuse_unsupported_options(args: argparse.Namespace, endpoint: Endpoint, *, draws: bool = False) -> None:
    """Reject a temperature or a seed that the model does not accept."""
    from dataclasses import replace

    from assay.llm.providers.protocol import Question

    question = Question("", "", "", temperature=0.25, seed=1)
    body = endpoint.body(question)
    who = f"{endpoint.protocol.title} does not accept it for {endpoint.model}"
    if args.temperature and endpoint.body(replace(question, temperature=0.5)) == body:
        raise NotValid(f"--temperature is {args.temperature:g}, and {who}; remove it")
    draws = draws or args.examples is not None or bool(args.canaries)
    if args.seed and not draws and endpoint.body(replace(question, seed=2)) == body:
        raise NotValid(f"--seed is {args.seed}, and {who}; remove it")


def _text_metric(name: str | None) -> Any:
    from assay.text_metrics import TEXT_METRICS

    return TEXT_METRICS[name or "token_f1"]


def _examples(
    args: argparse.Namespace, values: Sequence[int], pairs: Iterable[Any]
) -> list[tuple[tuple[str, str, int], Example]]:
    if args.examples is None and args.examples_pairs is None:
        return []
    if args.examples is None or args.examples_pairs is None:
        raise NotValid("--examples (human grades) and --examples-pairs (the graded texts) must be used together")
    most = EXAMPLES if args.examples_most is None else args.examples_most
    if not 1 <= most <= 100:
        raise NotValid(f"--examples-most is {most}; use 1 to 100")
    from assay.cli.inputs.files import read_human_labels
    from assay.formats import pairs_jsonl
    from assay.llm.judges.graded_relevance import Example
    from assay.llm.judges.prompt_templates import draw

    grades = read_human_labels(args.examples, values)
    read = pairs_jsonl.read(Path(args.examples_pairs), path=args.examples_pairs).strict()
    # Hold only the examples in memory; there may be millions of pairs.
    rows = [row for row in read.rows if grades.get((row.query_id, row.doc_id)) is not None]
    ids = {(row.query_id, row.doc_id) for row in rows}
    example_texts = {(row.query.strip(), row.text.strip()) for row in rows}
    judged, same = set(), set()
    for row in pairs:
        judged |= {(row.query_id, row.doc_id)} & ids
        same |= {(row.query.strip(), row.text.strip())} & example_texts
    graded = []
    for row in rows:
        grade = grades[row.query_id, row.doc_id]
        if (row.query_id, row.doc_id) in judged or (row.query.strip(), row.text.strip()) in same:
            what = f"{args.examples_pairs}:{row.line}: {row.query_id} {row.doc_id} is among the pairs to judge"
            raise NotValid(f"{what}; an example would reveal its grade, so remove the pair from one of the files")
        if grade not in values:
            raise NotValid(
                f"{args.examples}: {row.query_id} {row.doc_id} has the grade {grade:g}, which is not on the scale"
            )
        graded.append(((row.query_id, row.doc_id, int(grade)), Example(row.query, row.text, int(grade))))
    if not graded:
        raise NotValid(f"{args.examples_pairs}: none of its pairs has a grade in {args.examples}; add graded pairs")
    return draw(graded, most, grade=lambda one: one[1].grade, seed=args.seed or 0)
