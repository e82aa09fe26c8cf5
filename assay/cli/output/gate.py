"""Output of ``assay gate`` as text, JSON, JUnit XML, or a Markdown comment."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.cli.output.machine_labels import machine_note
from assay.cli.output.text_table import counted, number

if TYPE_CHECKING:
    from assay.decisions.gate_verdicts import GateResult, Verdict

# Characters that XML 1.0 does not allow, even escaped.
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Output:
    """The result of a gate with its files."""

    result: GateResult
    qrels: Mapping[str, Any]
    files: Mapping[str, Any]
    seconds: float
    reading: Sequence[str] = ()

    @property
    def source(self) -> str:
        """The reference of the runs: ``qrels``, or the ``samples`` of a RAG evaluation."""
        return "samples" if self.result.unit == "sample" else "qrels"

    def counted(self, number: int) -> str:
        """Write a count of queries or samples."""
        return counted(number, self.result.unit, "queries" if self.result.unit == "query" else "")


def as_text(output: Output) -> str:
    """Return one line per rule: the verdict, the numbers, and a command to inspect the result."""
    machine = machine_note(output.qrels)
    lines = [_line(output, verdict) for verdict in output.result.verdicts]
    return "".join(f"{line}\n" for line in [*lines, *([f"note: {machine}"] if machine else [])])


def as_json(output: Output) -> str:
    """Return the result as JSON, numbers unrounded, null where undefined."""
    document = {**output.result.as_json(), output.source: output.qrels, "files": output.files}
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_junit(output: Output) -> str:
    """Return a JUnit suite with a test case per rule, settings as properties and warnings as output."""
    from xml.etree import ElementTree as Xml

    verdicts = output.result.verdicts
    totals = {
        "tests": str(len(verdicts)),
        "failures": str(output.result.failures),
        "errors": "0",
        "skipped": "0",
        "time": f"{output.seconds:.3f}",
    }
    root = Xml.Element("testsuites", {"name": "assay gate", **totals})
    suite = Xml.SubElement(root, "testsuite", {"name": "assay gate", **totals})
    properties = Xml.SubElement(suite, "properties")
    for name, value in _properties(output).items():
        Xml.SubElement(properties, "property", {"name": name, "value": _xml(value)})
    for verdict in verdicts:
        # All rules are decided together, so the time is divided equally among the cases.
        case = {"classname": "assay.gate", "name": verdict.rule.text, "time": f"{output.seconds / len(verdicts):.3f}"}
        element = Xml.SubElement(suite, "testcase", {key: _xml(value) for key, value in case.items()})
        if not verdict.passed:
            attributes = {
                "message": _xml(f"{verdict.rule.text}: {_numbers(output, verdict)}; {verdict.reason}"),
                "type": "gate",
            }
            Xml.SubElement(element, "failure", attributes).text = _xml(_line(output, verdict))
    machine = machine_note(output.qrels)
    if warnings := [*([machine] if machine else []), *output.result.warnings]:
        Xml.SubElement(suite, "system-err").text = _xml("\n".join(warnings))
    Xml.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"


def as_markdown(output: Output) -> str:
    """Return a Markdown table for a pull request."""
    result = output.result
    passing = f"{len(result.verdicts) - result.failures} of {counted(len(result.verdicts), 'rule')}"
    lines = [
        f"### Gate {'passed' if result.passed else 'failed'}: {passing} passed",
        "",
        f"| | rule | value | baseline | candidate | p | {'samples' if result.unit == 'sample' else 'queries'} | why |",
        "|---|---|---:|---:|---:|---:|---:|---|",
        *(_markdown_row(verdict) for verdict in result.verdicts),
        "",
    ]
    machine = machine_note(output.qrels)
    lines += [f"- {_text(line)}" for line in [*([machine] if machine else []), *result.warnings]]
    failed = [verdict for verdict in result.verdicts if not verdict.passed]
    commands = dict.fromkeys(_command(output, verdict) for verdict in failed)
    lines += [f"- inspect with {_code(command)}" for command in commands]
    files = [
        ("labels" if output.source == "qrels" else "samples", output.qrels),
        ("candidate", output.files["candidate"]),
        ("baseline", output.files["baseline"]),
    ]
    described = [f"{what} {_code(of['path'])} (sha256 {of['sha256'][:12]})" for what, of in files if of]
    lacking = "samples without an output" if result.unit == "sample" else "unanswered queries"
    settings = f"{lacking}: {result.missing}, seed {result.seed}"
    return "\n".join([*lines, f"- {', '.join(described)}; {settings}", ""])


FORMATS: dict[str, Callable[[Output], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "markdown": as_markdown,
}


def _line(output: Output, verdict: Verdict) -> str:
    parts = [f"{'pass' if verdict.passed else 'FAIL'}  {verdict.rule.text}: {_numbers(output, verdict)}"]
    if verdict.reason:
        parts.append(verdict.reason)
    if not verdict.passed:
        parts.append(f"inspect with: {_command(output, verdict)}")
    return "; ".join(parts)


def _numbers(output: Output, verdict: Verdict) -> str:
    """Return the value with the number of queries, and for a drop the two scores."""
    parts = [_value(verdict)]
    if verdict.rule.drop and verdict.value is not None:
        parts[0] += f" (from {number(verdict.baseline)} to {number(verdict.candidate)})"
    if verdict.p is not None:
        parts.append(f"p {_p(verdict)}")
    return f"{', '.join(parts)}, {output.counted(verdict.queries)}"


def _value(verdict: Verdict) -> str:
    from assay.decisions.gate_verdicts import amount

    return "undefined" if verdict.value is None else amount(verdict.value, verdict.rule)


def _p(verdict: Verdict) -> str:
    """Return p as text; a p at the smallest value that the test can give is an upper bound."""
    if verdict.p is None:
        return "-"
    floor = verdict.smallest_p is not None and verdict.p <= verdict.smallest_p
    return f"{'<=' if floor else ''}{verdict.p:.4g}"


def _command(output: Output, verdict: Verdict) -> str:
    """Return the command that shows the failing metric by query."""
    metric, missing = verdict.rule.metric.name, output.result.missing
    candidate, baseline = output.files["candidate"], output.files["baseline"]
    if output.source == "samples":
        systems = [f"{role}={of['path']}" for role, of in (("baseline", baseline), ("candidate", candidate)) if of]
        words = ["assay", "rag", output.qrels["path"], *systems, "-m", metric, "--per-sample"]
        return shlex.join([*words, *(["--missing", missing] if missing != "error" else [])])
    words = ["assay", "evaluate", output.qrels["path"], f"candidate={candidate['path']}", "-m", metric, "--per-query"]
    if baseline is not None:
        runs = [f"baseline={baseline['path']}", f"candidate={candidate['path']}"]
        words = ["assay", "compare", output.qrels["path"], *runs, "-m", metric]
    return shlex.join([*words, *(["--missing", missing] if missing != "zero" else []), *output.reading])


def _properties(output: Output) -> dict[str, str]:
    properties = {output.source: output.qrels["path"], f"{output.source}.sha256": output.qrels["sha256"]}
    for name in ("candidate", "baseline"):
        if (of := output.files[name]) is not None:
            properties |= {name: of["path"], f"{name}.sha256": of["sha256"]}
    settings = output.result.as_json()["settings"]
    return properties | {name: str(value) for name, value in settings.items() if value is not None}


def _markdown_row(verdict: Verdict) -> str:
    cells = [
        "✅ pass" if verdict.passed else "❌ **fail**",
        _code(verdict.rule.text),
        _text(_value(verdict)),
        number(verdict.baseline),
        number(verdict.candidate),
        _text(_p(verdict)),
        str(verdict.queries),
        _text(verdict.reason or ""),
    ]
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    """Return a code span for a table cell; bars are escaped and the fence is longer than any run of backticks."""
    escaped = " ".join(text.split()).replace("|", r"\|")
    fence = "`" * (max(map(len, re.findall("`+", escaped)), default=0) + 1)
    return f"{fence} {escaped} {fence}" if len(fence) > 1 else f"{fence}{escaped}{fence}"


def _text(text: str) -> str:
    """Return text with markup, HTML and cell ends escaped."""
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", html.escape(" ".join(text.split()), quote=False))


def _xml(text: str) -> str:
    return NOT_XML.sub("�", text)
