"""Generator of docs/rag.md from the declarations of the metrics.

``python -m assay.rag.reference_page > docs/rag.md`` writes the page.
"""

from __future__ import annotations

import json
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from string import Template
from typing import Any

from assay.rag.evaluation import DEFAULT, FEWEST, evaluate
from assay.rag.fields import CANDIDATES, DOCUMENT, QUERY, REFERENCE, RELEVANT, RESPONSE, RETRIEVED, SAMPLE_ID, TEXT
from assay.rag.metric import REASONS, Metric
from assay.rag.metric_names import parse_metric
from assay.rag.metrics import METRICS
from assay.rag.records import TargetCategory

SAMPLES = """\
{"sample_id": "s1", "query": "What does the repair kit contain?", "reference_answer": "two spare rubber seals", \
"relevant_docs": ["d1"], "labels": {"topic": "repair"}}
{"sample_id": "s2", "query": "How long does the lamp shine?", "reference_answer": ["eight hours", "8 hours"], \
"relevant_docs": ["d2", "d3"], "labels": {"topic": "power"}}
{"sample_id": "s3", "query": "how long dose the lamp shin", "reference_answer": ["eight hours", "8 hours"], \
"relevant_docs": ["d2", "d3"], "labels": {"topic": "power", "variant_of": "s2", "scenario": "typo"}}
{"sample_id": "s4", "query": "How long does the lamp shine at half power?", "reference_answer": "sixteen hours", \
"relevant_docs": ["d3"], "labels": {"topic": "power", "variant_of": "s2", "scenario": "counterfactual"}}
{"sample_id": "s5", "query": "Who invented the lamp?", "labels": {"scenario": "unanswerable"}}
"""
OUTPUTS = """\
{"sample_id": "s1", "retrieved": [{"doc_id": "d1", "text": "The kit contains two spare rubber seals.", \
"embedding": [1, 0]}, {"doc_id": "d2", "text": "The lamp shines for eight hours.", "embedding": [0, 1]}], \
"response": "Two rubber seals.", "timings": {"end_to_end": 0.5}}
{"sample_id": "s2", "retrieved": [{"doc_id": "d2", "text": "The lamp shines for eight hours.", "embedding": [0, 1]}, \
{"doc_id": "d1", "text": "The kit contains two spare rubber seals.", "embedding": [1, 0]}], \
"response": "Eight hours.", "timings": {"end_to_end": 0.25}}
{"sample_id": "s3", "retrieved": [{"doc_id": "d1", "text": "The kit contains two spare rubber seals.", \
"embedding": [1, 0]}, {"doc_id": "d2", "text": "The lamp shines for eight hours.", "embedding": [0, 1]}], \
"response": "It shines for 8 hours.", "timings": {"end_to_end": 0.25}}
{"sample_id": "s4", "retrieved": [{"doc_id": "d3", "text": "At half power it shines twice as long.", \
"embedding": [0.6, 0.8]}, {"doc_id": "d2", "text": "The lamp shines for eight hours.", "embedding": [0, 1]}], \
"response": "Twice eight hours.", "timings": {"end_to_end": 1.0}}
{"sample_id": "s5", "retrieved": [], "response": "I don't know.", "timings": {"end_to_end": 0.125}}
"""

# Examples for metrics that need a critic or an embedding function.
CRITIC = """\
from assay.rag import LLMCritic, evaluate


class Fixed(LLMCritic):
    def score(self, *, prompt, metadata=None):
        return {value}  # a real critic calls a model here


evaluation = evaluate("samples.jsonl", "outputs.jsonl", "{name}", critic=Fixed())
"""
EMBED_FN = """\
from assay.rag import evaluate


def letters(texts):
    return [[text.count(letter) for letter in "aeiost"] for text in texts]


evaluation = evaluate("samples.jsonl", "outputs.jsonl", "{name}", embed_fn=letters)
"""
HOLDS = {
    "sample_id": "the id",
    "query": "the question; required",
    "reference_answer": "the correct answer, or a list of correct answers",
    "relevant_docs": "the relevant documents; null if they are not known",
    "candidate_docs": "the documents that the system could choose from",
    "labels": "an object with the labels; `variant_of` and `scenario` may also be fields of the sample",
    "response": "the system's answer",
    "retrieved": "the retrieved documents, best first",
    "timings": "an object with the seconds of each stage, such as `end_to_end`",
}


def page() -> str:
    """Return the page."""
    default = ", ".join(f"`{name}`" for name in DEFAULT)
    members = list(METRICS.values())
    template = Template(Path(__file__).with_suffix(".md").read_text(encoding="utf-8"))
    return template.substitute(
        example_samples=SAMPLES,
        example_outputs=OUTPUTS,
        samples=_field_rows(SAMPLE_ID, QUERY, REFERENCE, RELEVANT, CANDIDATES, ("labels",)),
        outputs=_field_rows(SAMPLE_ID, RESPONSE, RETRIEVED, ("timings",)),
        document_names=_codes(DOCUMENT, "or"),
        text_names=_codes(TEXT, "or"),
        reasons="\n".join(f"| `{name}` | {why} |" for name, why in REASONS.items()),
        fewest=FEWEST,
        default=default,
        overview=_overview(members),
        sections="".join(f"\n{_section(member)}" for member in members),
    )


def rows(text: str) -> list[dict[str, Any]]:
    """Return the objects of an example file on the page."""
    return [json.loads(line) for line in text.splitlines()]


def example_of(member: type[Metric]) -> str:
    """Return the example of a metric as an argument of ``-m``."""
    return member.example or member().label


def _fenced(text: str, language: str = "") -> str:
    return f"```{language}\n{text}```\n"


def _codes(names: tuple[str, ...], last: str = "and") -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


def _field_rows(*names: tuple[str, ...]) -> str:
    return "\n".join(f"| `{group[0]}` | {_codes(group)} | {HOLDS[group[0]]} |" for group in names)


def _overview(members: list[type[Metric]]) -> str:
    lines = ["| target | metrics |", "|---|---|"]
    for target in TargetCategory:
        names = [f"`{one.__name__}`" for one in members if one.target is target]
        lines.append(f"| `{target}` | {', '.join(names)} |")
    return "\n".join(lines) + "\n"


def _section(member: type[Metric]) -> str:
    example = parse_metric(example_of(member))
    lines = [f"### {member.__name__}", "", member.description, "", f"- Value: {member.formula}"]
    lines.append(f"- Source: {member.source}")
    lines.append(f"- Name: `{example.name}` for `{example.label}`")
    lines.append(f"- Target: `{member.target}`{_other_target(member)}")
    better = {True: "higher is better", False: "lower is better", None: "neither is better"}
    lines.append(f"- Direction: {better[member.higher_is_better]}")
    if needed := example.required_fields():
        lines.append(f"- Needs: {_codes(tuple(needed))}")
    if member.extra:
        lines.append(f"- Requires: `pip install 'assay[{member.extra}]'`")
    if member.differs:
        lines.append(f"- Differs: {member.differs}")
    lines += [_parameter(one) for one in fields(member) if one.metadata]
    takes = {one.name for one in fields(member)}
    if "critic" in takes:
        lines.append("- `critic`, an `LLMCritic`, scores the prompts. Pass it to `evaluate` or to the metric.")
    if "embed_fn" in takes:
        lines.append(
            "- `embed_fn`, a function that converts a list of texts to vectors, can be passed to `evaluate` or to "
            "the metric."
        )
    if "predicate" in takes:
        lines.append(
            "- `predicate` is a function that selects samples instead of a label. It is available only in Python."
        )
    return "\n".join([*lines, "", _shown(member, example, takes)])


def _other_target(member: type[Metric]) -> str:
    if "compare_to" not in {one.name for one in fields(member)}:
        return ", or the target of the inner metric" if member.__name__ == "SlicedMetric" else ""
    return f", or `{TargetCategory.GENERATION_RELEVANCE}` with `compare_to=query`"


def _parameter(one: Any) -> str:
    about = one.metadata
    default = "required" if one.default is MISSING else f"default {_default(one.default)}"
    choices = f" One of {_codes(about['choices'], 'or')}." if len(about["choices"]) > 1 else ""
    return f"- Parameter `{one.name}` ({default}): {about['description']}{choices}"


def _default(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"`{one}`" for one in value)
    return "none" if value is None or value == "" else f"`{value}`"


def _shown(member: type[Metric], example: Metric, takes: set[str]) -> str:
    """Return the example, with its value if it can be computed without a model."""
    command = f"assay rag samples.jsonl outputs.jsonl -m {json.dumps(example.label)}\n"
    if "critic" in takes:
        low, high = example.scale.split("-")  # type: ignore[attr-defined]
        middle = (float(low) + float(high)) / 2
        return _fenced(CRITIC.format(value=f"{middle:g}", name=member.__name__), "python")
    if member.extra == "semantic":
        python = _fenced(EMBED_FN.format(name=member.__name__), "python") if "embed_fn" in takes else ""
        return _fenced(command) + (f"\n{python}" if python else "")
    result = evaluate(rows(SAMPLES), rows(OUTPUTS), example).systems[0].scores[example.label].result
    number = result.details["num_samples"]
    value = f"{result.value:.4f} over {number} sample{'' if number == 1 else 's'}"
    skipped = ", ".join(f"{count} `{reason}`" for reason, count in result.details["skipped"].items())
    return f"{_fenced(command)}\nThe value is {value}{f'; skipped: {skipped}' if skipped else ''}.\n"


if __name__ == "__main__":
    sys.stdout.write(page())
