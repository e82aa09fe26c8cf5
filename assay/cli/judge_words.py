"""Options for the prompt of a model judge: template, scale, guidelines, examples and sampling numbers."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.scale import scale_values
from judgments.core.errors import NotValid

if TYPE_CHECKING:
    from judgments.judges.graded import Example, GradeMeaning
    from judgments.judges.model_judge import ModelJudgeKind, Told
    from judgments.judges.templates import Template
    from judgments.providers.protocol import Endpoint

EXAMPLES = 4
# Which field of what a judge is told each option sets.
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
# Those that any judge that asks a model takes.
COMMON = ("template", "temperature", "most_tokens", "most_characters", "seed")
NAMES = (*OF, *COMMON)


def add_words_options(parser: argparse.ArgumentParser) -> None:
    """Declare them."""
    group = parser.add_argument_group("what the model is told, and how it is asked")
    group.add_argument("--scale", metavar="MIN:MAX", help="the grades; default 0:3, for binary 0:1")
    group.add_argument("--scale-file", metavar="FILE", help="grade,label,cue as CSV, or a JSON list of such objects")
    group.add_argument("--guidelines", metavar="FILE", help="what people were told, as text or Markdown")
    group.add_argument("--examples", metavar="FILE", help="people's grades, qrels or ratings, to draw examples from")
    group.add_argument("--examples-pairs", metavar="FILE", help="pairs.jsonl with the texts of the examples")
    group.add_argument("--examples-most", type=int, metavar="N", help=f"how many; default {EXAMPLES}")
    group.add_argument("--relevant", type=int, metavar="GRADE", help="the lowest relevant grade")
    group.add_argument("--probabilities", action="store_true", default=None, help="ask for those of the grades")
    group.add_argument("--text-metric", metavar="NAME", help="downstream: what scores an answer; default token_f1")
    group.add_argument(
        "--template", metavar="FILE", help="a prompt of your own, with places in braces; or JSON with system and prompt"
    )
    group.add_argument("--temperature", type=float, metavar="X", help="default 0")
    group.add_argument("--most-tokens", type=int, metavar="N", help="the longest answer")
    group.add_argument("--most-characters", type=int, metavar="N", help="of a document, default 12000")
    group.add_argument("--seed", type=int, help="of the model, the examples and the canaries; default 0")


def words(args: argparse.Namespace, kind: ModelJudgeKind, pairs: Iterable[Any]) -> tuple[Told, list[list[Any]]]:
    """Read all that the model is told.

    Parameters
    ----------
    args : Namespace
        The options.
    kind : ModelJudgeKind
        Whose words they are.
    pairs : iterable of PairRow
        The pairs under judgment, of which none may be an example.

    Returns
    -------
    (Told, list of [query_id, doc_id, grade])
        And which pairs are its examples: whoever compares later leaves them out.

    Raises
    ------
    NotValid
        Files that do not fit each other, an example among the pairs, or a number out of bounds.
    """
    from judgments.judges.model_judge import Told

    check_numbers(args)
    scale = _scale(args, kind)
    drawn = _examples(args, [one.value for one in scale], pairs) if "examples" in kind.takes else []
    more: dict[str, Any] = {} if args.most_characters is None else {"most_characters": args.most_characters}
    if args.relevant is not None and scale and args.relevant not in [one.value for one in scale]:
        raise NotValid(f"--relevant is {args.relevant}, which is not on the scale")
    told = Told(
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
    return told, [list(pair) for pair, _ in drawn]


def check_numbers(args: argparse.Namespace) -> None:
    """Refuse numbers that no model takes.

    Raises
    ------
    NotValid
        With the option and its bounds.
    """
    for name, low, high in (("temperature", 0, 2), ("most_tokens", 1, 100_000), ("most_characters", 100, 1_000_000)):
        value = getattr(args, name)
        if value is not None and not low <= value <= high:
            raise NotValid(f"--{name.replace('_', '-')} is {value:g}; give {low} to {high:,}")


def template(path: str, own: Template | None, places: Sequence[str], needed: Sequence[str]) -> Template:
    """The words of a file in place of a judge's own.

    Raises
    ------
    NotValid
        With the file: no UTF-8, nothing said, a place that nothing fills, or one that is needed and missing.
    """
    if own is None:
        raise NotValid("--template is given, and this judge takes no other words than its own; leave it out")
    try:
        return own.worded(text_of(path), places, needed)
    except NotValid as fault:
        raise NotValid(f"{path}: {fault}") from None


def _scale(args: argparse.Namespace, kind: ModelJudgeKind) -> tuple[GradeMeaning, ...]:
    if args.scale_file is not None:
        if args.scale is not None:
            raise NotValid("--scale-file says what --scale would; give one of them")
        return _scale_file(args.scale_file)
    if args.scale is None or "scale" not in kind.takes:
        return kind.scale
    from judgments.judges.graded import GradeMeaning

    values = scale_values(args.scale)
    if values == tuple(one.value for one in kind.scale):
        return kind.scale
    ends = {values[0]: "the worst", values[-1]: "the best"}
    return tuple(GradeMeaning(value, ends.get(value, "between")) for value in values)


def _scale_file(path: str) -> tuple[GradeMeaning, ...]:
    from judgments.judges.graded import GradeMeaning

    text = text_of(path)
    try:
        rows = json.loads(text) if text.lstrip().startswith("[") else list(csv.DictReader(io.StringIO(text)))
        found = [GradeMeaning(int(row["grade"]), str(row["label"]).strip(), str(row.get("cue") or "")) for row in rows]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotValid(f"{path}: a scale has grade,label,cue as CSV columns, or a JSON list of such objects") from None
    if len({one.value for one in found}) != len(found) or not all(one.label for one in found):
        raise NotValid(f"{path}: each grade stands once, with a label")
    return tuple(sorted(found, key=lambda one: one.value))


def text_of(path: str) -> str:
    """A file of words.

    Raises
    ------
    NotValid
        It is no UTF-8.
    """
    data = Path(path).read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise NotValid(f"{path}: is not UTF-8 at byte {fault.start}; save it as UTF-8") from None


def refuse_in_vain(args: argparse.Namespace, endpoint: Endpoint, *, draws: bool = False) -> None:
    """Refuse a temperature or a seed that this model is never told: the answers would be others than those asked for.

    Parameters
    ----------
    args : Namespace
        The options.
    endpoint : Endpoint
        Who is asked.
    draws : bool
        Whether the seed draws something beside that, as it does examples and canaries.

    Raises
    ------
    NotValid
        With the option.
    """
    from dataclasses import replace

    from judgments.providers.protocol import Question

    asked = Question("", "", "", temperature=0.25, seed=1)
    body = endpoint.body(asked)
    who = f"{endpoint.protocol.title} takes none for {endpoint.model}"
    if args.temperature and endpoint.body(replace(asked, temperature=0.5)) == body:
        raise NotValid(f"--temperature is {args.temperature:g}, and {who}; leave it out")
    draws = draws or args.examples is not None or bool(args.canaries)
    if args.seed and not draws and endpoint.body(replace(asked, seed=2)) == body:
        raise NotValid(f"--seed is {args.seed}, and {who}; leave it out")


def _text_metric(name: str | None) -> Any:
    from judgments.textmetrics import TEXT_METRICS

    return TEXT_METRICS[name or "token_f1"]


def _examples(
    args: argparse.Namespace, values: Sequence[int], pairs: Iterable[Any]
) -> list[tuple[tuple[str, str, int], Example]]:
    if args.examples is None and args.examples_pairs is None:
        return []
    if args.examples is None or args.examples_pairs is None:
        raise NotValid("--examples has people's grades and --examples-pairs the texts that they graded; give both")
    most = EXAMPLES if args.examples_most is None else args.examples_most
    if not 1 <= most <= 100:
        raise NotValid(f"--examples-most is {most}; give 1 to 100")
    from assay.cli.human_labels import read_human_labels
    from judgments.formats import pairs_jsonl
    from judgments.judges.few_shot import draw
    from judgments.judges.graded import Example

    grades = read_human_labels(args.examples, values)
    found = pairs_jsonl.read(Path(args.examples_pairs), path=args.examples_pairs)
    found.report.raise_if_errors()
    # The examples are few, and the pairs may be millions.
    rows = [row for row in found.rows if grades.get((row.query_id, row.doc_id)) is not None]
    ids = {(row.query_id, row.doc_id) for row in rows}
    said = {(row.query.strip(), row.text.strip()) for row in rows}
    judged, same = set(), set()
    for row in pairs:
        judged |= {(row.query_id, row.doc_id)} & ids
        same |= {(row.query.strip(), row.text.strip())} & said
    graded = []
    for row in rows:
        grade = grades[row.query_id, row.doc_id]
        if (row.query_id, row.doc_id) in judged or (row.query.strip(), row.text.strip()) in same:
            what = f"{args.examples_pairs}:{row.line}: {row.query_id} {row.doc_id} is among the pairs under judgment"
            raise NotValid(f"{what}; an example would give its grade away, so leave it out of one of the files")
        if grade not in values:
            raise NotValid(f"{args.examples}: {row.query_id} {row.doc_id} has the grade {grade:g}, not on the scale")
        graded.append(((row.query_id, row.doc_id, int(grade)), Example(row.query, row.text, int(grade))))
    if not graded:
        raise NotValid(f"{args.examples_pairs}: no pair there has a grade in {args.examples}")
    return draw(graded, most, grade=lambda one: one[1].grade, seed=args.seed or 0)
