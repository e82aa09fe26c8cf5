"""Generator of docs/rag.md from the declarations of the metrics.

``python -m assay.rag.reference_page > docs/rag.md`` writes the page.
"""

from __future__ import annotations

import json
import sys
from dataclasses import MISSING, fields
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

HEAD = """# RAG evaluation

Assay measures the retrieval and the answers of RAG systems. A *sample* is a test case: a question with its reference
answer, relevant documents and labels. An *output* contains the documents and the response of one system for a sample.
`assay rag` reads both from files and prints every metric for every system. `assay.rag.evaluate` does the same in
Python. [cli.md](cli.md) lists the options.

This page is generated from the declarations in `assay/rag/metrics/`; `python -m assay.rag.reference_page` prints it.

## Example

The examples on this page use these five samples, in `samples.jsonl`:

"""

READING = """
and the outputs of one system, in `outputs.jsonl`:

"""

COMMANDS = """
The first command prints a table, the second prints the values of each sample, and the third compares two systems and
measures each topic separately.

```
assay rag samples.jsonl outputs.jsonl
assay rag samples.jsonl outputs.jsonl -m 'TokenF1 recall@2' --per-sample --format csv
assay rag samples.jsonl first=outputs.jsonl second=outputs.jsonl -m TokenF1 --slice topic --baseline first
```

In Python, samples and outputs are paths, lists of dicts, dataclasses or records (`EvaluationSample`, `SystemOutputs`),
or polars or pandas data frames. To evaluate several systems, pass a dict with the outputs of each system:

```python
import assay.rag

evaluation = assay.rag.evaluate("samples.jsonl", {"first": "outputs.jsonl"}, ["TokenF1", "recall@2"], slices=["topic"])
score = evaluation.systems[0].scores["TokenF1"]
print(score.value, score.result.details["num_samples"], score.result.per_sample)
table = evaluation.to_polars()
```

"""

RECORDS = """## Records and files

A file contains one JSON object per line. [formats.md](formats.md) shows an example of `samples-jsonl` and
`outputs-jsonl`, and describes the report of issues. Rows of ragas and Hugging Face data sets contain a sample and an
output in one object. Pass such a file both as samples and as outputs.

| Sample field | Read from | Content |
|---|---|---|
{samples}

| Output field | Read from | Content |
|---|---|---|
{outputs}

- **Answers.** An answer is a text or `{{"text": ...}}`. `reference_answer` may be a list of correct answers; metrics
  use the best match.
- **Documents.** A document is an id, or an object with {document_names} for the id and
  {text_names} for the text. Other keys, such as `embedding`, go to `metadata`. In `contexts`,
  `retrieved_contexts` and `reference_contexts` a string is a text and not an id. A document without an id gets an id
  computed from its text, so that documents with equal texts count as the same document.
- **Order.** Retrieved documents keep the order of the list, or are sorted by `rank` (from 1) if every document has a
  rank.
- **Ids.** Samples and outputs are matched by `sample_id`, in any order. The id of a row without an id is its
  position in the file, counted from 1.
- **Labels** are any names and values. Two labels have a special meaning: `scenario` (`paraphrase`, `typo`,
  `counterfactual`, `unanswerable`) and `variant_of` (the id of the clean sample). Every label can be used with
  `--slice`.
- **Errors.** A field of the wrong type, an id that occurs twice with different content, a repeated rank in a list and a
  negative timing are errors and are reported with file and line. A field that is `null` counts as missing.

"""

MISSING_OUTPUTS = """## Missing outputs

A sample without an output, and an output without a sample, are errors by default. `--missing skip` leaves such
samples out of every metric for this system. `--missing zero` counts them as 0, so that a system that fails on a
question does not look better than a system that answers it badly. In both cases, latency and diversity metrics
skip these samples, because a missing output has nothing to measure; the details contain their number. Outputs without
a sample are left out in both cases, and the command prints their number.

## Undefined values and skipped samples

A metric skips and counts samples that lack a required field. The `details` of every result contain `num_samples`
(samples with a value), `num_skipped` (all other samples), `skipped` (a count for each reason), `skipped_REASON` (the
same counts; 0 if no sample lacks the required field), `defined` and `reason`. If no sample has a value, the value is
0.0, as the specification requires, `num_samples` is 0, and `defined` is false. The metric is then "not measured" in
tables, has an empty cell in CSV files, and fails every `assay gate` rule.

| Reason | Why the sample is skipped |
|---|---|
{reasons}

An empty answer counts as an answer: it scores 0 in `ExactMatch`, `TokenF1`, ROUGE, BLEU, `BertScoreMetric`,
`EmbeddingSimilarity` and `LLMAnswerQuality`, and no model is called for it. Faithfulness metrics skip it, because it
makes no claim.

## Intervals and comparisons

Every mean over at least {fewest} samples has a percentile bootstrap interval over samples (`--ci`, `--resamples`,
`--seed`). All metrics of a system use the same resamples. `BleuScore` and `NoiseRobustness` are not means; they
are recomputed for each resample. `QuantileLatency` and `DistinctN` have no interval; `interval_reason` gives the
reason.

Two systems are compared on the samples for which both have a value, with the paired tests and corrections of
[significance.md](significance.md): `--baseline NAME` compares each system with one system, and `--compare` compares all
pairs.

"""

NAMES = """## Names

`-m` accepts class names, with parameters that differ from the default, as in `RecallAtK(k=5)`, and the names in the
specification, as in `recall@5`. Separate several names with spaces or commas. A metric that is based on another metric
takes it in parentheses: `NoiseRobustness(TokenF1)` or `noise_robustness(token_f1)`. A text parameter needs quotation
marks only if it has more than one word. Without `-m`, `assay rag` computes {default}.

## Differences from the ranking metrics

`assay evaluate` has metrics with similar names ([metrics.md](metrics.md)). They are different metrics, not aliases:

- **Relevance is binary.** A document is in `relevant_docs` or not; the metrics of `assay evaluate` use grades.
- **A sample without relevant documents is skipped** and counted. `assay evaluate` counts a query without relevant
  documents as 0, as trec_eval does. A sample set may also contain questions without relevant documents, such as
  unanswerable questions, which would only lower the mean.
- **Documents keep the order of the list**, or of `rank`. This is the order in which the system passes documents to its
  model.
  `assay evaluate` sorts by score, then by id descending, as trec_eval does.
- **A repeated document counts once**, at its first rank, because passage retrievers may return several passages of one
  document. In a run, a repeated document is an error.

The section on each metric describes further differences.

"""

ADDING = """## Adding a metric

Create a file in `assay/rag/metrics/` with a frozen dataclass that extends `SampleMetric` (or `Metric` if the value is
not a mean over samples). Add a line to `assay/rag/metrics/__init__.py` and regenerate this page. Other packages can add
metrics through the entry point `assay.rag_metrics`.
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
    return "".join(
        [
            HEAD,
            _fenced(SAMPLES),
            READING,
            _fenced(OUTPUTS),
            COMMANDS,
            RECORDS.format(
                samples=_field_rows(SAMPLE_ID, QUERY, REFERENCE, RELEVANT, CANDIDATES, ("labels",)),
                outputs=_field_rows(SAMPLE_ID, RESPONSE, RETRIEVED, ("timings",)),
                document_names=_codes(DOCUMENT, "or"),
                text_names=_codes(TEXT, "or"),
            ),
            MISSING_OUTPUTS.format(
                reasons="\n".join(f"| `{name}` | {why} |" for name, why in REASONS.items()), fewest=FEWEST
            ),
            NAMES.format(default=default),
            "## Metrics\n\n",
            _overview(members),
            "\nIn the formulas, G is the set of relevant documents, R the list of retrieved documents, and R_k "
            "its first k documents.\n",
            *(f"\n{_section(member)}" for member in members),
            f"\n{ADDING}",
        ]
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
