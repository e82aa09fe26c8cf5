"""The command ``assay gate``: pass or fail a run by rules; the exit status is 1 if a rule fails."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli import number, option
from assay.cli.gate.change_report import (
    add_report_options,
    check_report_options,
    make_report,
    print_places,
    write_report,
)
from assay.cli.gate.server import ServerGate, add_gate_server_options, check_server_options
from assay.cli.inputs.files import (
    MISSING_HELP,
    QRELS_HELP,
    RUN_HELP,
    about_qrels,
    add_out,
    add_table_formats,
    machine_note,
    named_runs,
    print_warnings,
    read_labels,
    scale_values,
    seed_of,
    stdin_once,
    warn_no_effect,
    write_out,
)
from assay.cli.rag import critic as rag_critic
from assay.core.errors import NotValid, UnreadableInput
from assay.core.markdown_text import code, plain
from assay.core.text_rules import amount

if TYPE_CHECKING:
    from assay.decisions.gate_rules import Rule
    from assay.decisions.gate_verdicts import GateResult, Verdict
    from assay.formats.trec_run import RunFile


EXAMPLE = (
    "assay gate qrels.txt --baseline bm25.run --candidate neural.run "
    "--rule 'Judged@10 >= 0.8' --rule 'drop(nDCG@10) <= 0.02 unless p >= 0.05'"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", metavar="QRELS", nargs="?", help=QRELS_HELP)
    option(
        parser,
        "--samples SAMPLES",
        "samples.jsonl instead of QRELS; each RUN is then the outputs.jsonl of a RAG system",
    )
    option(parser, "--candidate RUN", f"the run to check: {RUN_HELP}", required=True)
    option(parser, "--baseline RUN", "the run to measure drops from; required for rules about drops")
    option(
        parser,
        "--rule RULE",
        "METRIC OP NUMBER, drop(METRIC) OP NUMBER, or drop(METRIC) OP NUMBER unless p >= NUMBER, where OP is one of "
        ">= > <= < ==; a drop may be limited to a percentage of the baseline, such as 2%%; may be repeated",
        action="append",
        default=[],
    )
    option(parser, "--rules FILE", "file with one rule per line and # for comments, in addition to --rule")
    option(
        parser, "--missing", f"{MISSING_HELP}; with --samples the default is error", choices=["error", "zero", "skip"]
    )
    option(parser, "--scale MIN:MAX", "grade scale, for ERR and similar metrics; default: from QRELS")
    option(parser, "--permutations N", "number of random draws for the sign-flip test", 100_000)
    option(parser, "--seed N", "seed for the sign-flip test; default: 0", type=int)
    option(parser, "--format", "output format; default: text, one line per rule", choices=list(FORMATS), default="text")
    add_report_options(parser.add_argument_group("change report"))
    add_gate_server_options(parser.add_argument_group("server"))
    add_table_formats(parser)
    add_out(parser)
    rag_critic.add_model_options(parser, "the critic for rules on LLMFaithfulnessScore and LLMAnswerQuality")


def run(args: argparse.Namespace) -> int:
    """Check the rules and print the verdicts; return 1 if a rule fails."""
    check_server_options(args)
    if args.server is None:
        return _run(args)
    server = ServerGate(args)
    try:
        server.pull()
        return _run(args, server)
    finally:
        server.close()


def _run(args: argparse.Namespace, server: ServerGate | None = None) -> int:
    reporting = check_report_options(args)
    # Two builds of one system may have the same name here.
    if (args.qrels is None) == (args.samples is None):
        raise NotValid("use either QRELS for runs or --samples SAMPLES for the outputs of RAG systems")
    given = [one for one in (args.baseline, args.candidate) if one is not None]
    *first, candidate = named_runs(given, distinct=False)
    baseline = first[0] if first else None
    stdin_once([args.qrels or args.samples, candidate[1], baseline[1] if baseline else "", args.rules or ""])
    if args.samples:
        return _rag(args, candidate, baseline)
    rag_critic.warn_unused(args)
    if args.missing == "error":
        raise NotValid("--missing error needs --samples; for runs use zero or skip")
    rules, rule_files = _rules(args)
    from assay.decisions.gate import check, gate
    from assay.formats.qrels_and_runs import open_run

    # Report errors in the options before reading files.
    check(rules, baseline is not None, args.permutations, args.seed or 0)
    seed = seed_of(args.seed, "" if any(rule.drop for rule in rules) else "no rule is about a drop")
    qrels, report = read_labels(args)
    new, old = open_run(Path(candidate[1]), candidate[1], candidate[0], args.run_format), None
    if baseline:
        old = open_run(Path(baseline[1]), baseline[1], baseline[0], args.run_format)
    # The change report needs all rows of the runs, and standard input can be read only once.
    whole = (old.whole(), new.whole()) if reporting and old else None
    scale_top = scale_values(args.scale)[-1] if args.scale else None
    began = time.perf_counter()
    result = gate(
        qrels,
        whole[0] if whole else old,
        whole[1] if whole else new,
        rules,
        missing=args.missing or "zero",
        permutations=args.permutations,
        seed=seed,
        scale_top=scale_top,
    )
    seconds = time.perf_counter() - began
    print_warnings([report, *(file.report for file in (old, new) if file)])
    files = {"candidate": _about(new), "baseline": old and _about(old), "rules": rule_files}
    output = Output(result, about_qrels(qrels, report), files, seconds, _reading(args))
    _warn(output, old is not None and old.report.sha256 == new.report.sha256)
    write_out(FORMATS[args.format](output), args.out)
    if whole:
        changes = make_report(args, result, qrels, whole, seed=seed, scale_top=scale_top)
        write_report(args, changes, as_markdown(output))
        print_places(args)
    if server is not None:
        server.push(_document(output))
    return 0 if result.passed else 1


def _rag(args: argparse.Namespace, candidate: tuple[str, str], baseline: tuple[str, str] | None) -> int:
    """Decide on the outputs of RAG systems."""
    from assay.cli.rag.command import read
    from assay.decisions.gate import check
    from assay.rag.gate import BASELINE, CANDIDATE, gate, metric_of, read_rules

    for name in ("scale", "qrels_format", "run_format", "subtopics", "labels_of"):
        if getattr(args, name):
            warn_no_effect(f"--{name.replace('_', '-')}", "it does not apply to samples and outputs")
    rules, rule_files = _rules(args, lambda text: read_rules(text)[0])
    check(rules, baseline is not None, args.permutations, args.seed or 0)
    seed = seed_of(args.seed, "" if any(rule.drop for rule in rules) else "no rule is about a drop")
    asking = [rule.text for rule in rules if rag_critic.needs_critic(metric_of(rule))]
    if not asking:
        rag_critic.warn_unused(args)
    calls = rag_critic.model_calls(args, f"the rule {asking[0]!r}") if asking else None
    critic = rag_critic.critic_of(args, calls) if calls else None
    systems = [(CANDIDATE, candidate[1]), *([(BASELINE, baseline[1])] if baseline else [])]
    samples, outputs, (report, *reports) = read(args.samples, systems)
    began = time.perf_counter()
    result = gate(
        samples,
        outputs.get(BASELINE),
        outputs[CANDIDATE],
        rules,
        missing=args.missing or "error",
        permutations=args.permutations,
        seed=seed,
        critic=critic,
    )
    if args.dry_run:
        sys.stdout.write("no model is needed\n" if calls is None else str(calls.plan))
        return 0
    if rag_critic.report_calls(calls) != 0:
        raise NotValid("some answers were not scored, so the gate is undecided; run it again with the same ledger")
    seconds = time.perf_counter() - began
    print_warnings([report, *reports])
    about = {"path": report.path, "sha256": report.sha256, "samples": len(samples)}
    names = [candidate[0], *([baseline[0]] if baseline else [])]
    described = [
        {"name": name, "path": one.path, "sha256": one.sha256} for name, one in zip(names, reports, strict=True)
    ]
    files = {"candidate": described[0], "baseline": described[1] if baseline else None, "rules": rule_files}
    output = Output(result, about, files, seconds)
    _warn(output, baseline is not None and reports[0].sha256 == reports[1].sha256)
    write_out(FORMATS[args.format](output), args.out)
    return 0 if result.passed else 1


def _rules(
    args: argparse.Namespace, parse: Callable[[str], Rule] | None = None
) -> tuple[list[Rule], list[dict[str, str]]]:
    """Return the rules of the options, then those of the file, and a description of the file."""
    from assay.decisions.gate_rules import DROP_EXAMPLE, EXAMPLE, parse_rule

    parse = parse or parse_rule
    rules = [parse(text) for text in args.rule]
    files = []
    if args.rules is not None:
        of_file, sha256 = _read(args.rules, parse)
        rules += of_file
        files.append({"path": args.rules, "sha256": sha256})
    if not rules:
        raise NotValid(f"no rules were given; add one, such as --rule {EXAMPLE!r} or --rule {DROP_EXAMPLE!r}")
    return rules, files


def _read(path: str, parse: Callable[[str], Rule]) -> tuple[list[Rule], str]:
    from assay.decisions.gate_rules import EXAMPLE
    from assay.formats.text_lines import Content

    rules = []
    with Content(Path(path), path) as content:
        for line, text in content.lines():
            rule = text.partition("#")[0].strip()
            if not rule:
                continue
            try:
                rules.append(parse(rule))
            except NotValid as error:
                raise NotValid(f"{path}:{line}: {error}") from None
        if not rules:
            raise UnreadableInput(path, None, "has no rules", f"write one per line, such as {EXAMPLE!r}")
        return rules, content.sha256


def _reading(args: argparse.Namespace) -> list[str]:
    """Return the options with which other commands read the same files in the same way."""
    words = ["--subtopics"] if args.subtopics else []
    options = {"--scale": args.scale, "--qrels-format": args.qrels_format, "--run-format": args.run_format}
    options["--labels-of"] = args.labels_of
    return words + [word for option, value in options.items() if value for word in (option, value)]


def _about(file: RunFile) -> dict[str, str]:
    return {"name": file.name, "path": file.report.path, "sha256": file.report.sha256}


def _warn(output: Output, same: bool) -> None:
    if same:
        sys.stderr.write("warning: the baseline and the candidate are the same file, so no metric can drop\n")
    for warning in output.result.warnings:
        sys.stderr.write(f"warning: {warning}\n")


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

    def amount(self, number: int) -> str:
        """Write a count of queries or samples."""
        return amount(number, self.result.unit, "queries" if self.result.unit == "query" else "")


def as_text(output: Output) -> str:
    """Return one line per rule: the verdict, the numbers, and a command to inspect the result."""
    machine = machine_note(output.qrels)
    lines = [_line(output, verdict) for verdict in output.result.verdicts]
    return "".join(f"{line}\n" for line in [*lines, *([f"note: {machine}"] if machine else [])])


def as_json(output: Output) -> str:
    """Return the result as JSON, numbers unrounded, null where undefined."""
    return json.dumps(_document(output), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _document(output: Output) -> dict[str, Any]:
    return {**output.result.as_json(), output.source: output.qrels, "files": output.files}


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
    units = "samples" if result.unit == "sample" else "queries"
    passing = f"{len(result.verdicts) - result.failures} of {amount(len(result.verdicts), 'rule')}"
    lines = [
        f"### Gate {'passed' if result.passed else 'failed'}: {passing} passed",
        "",
        f"| | rule | value | baseline | candidate | p | {units} | reason |",
        "|---|---|---:|---:|---:|---:|---:|---|",
        *(_markdown_row(verdict) for verdict in result.verdicts),
        "",
    ]
    machine = machine_note(output.qrels)
    lines += [f"- {plain(line)}" for line in [*([machine] if machine else []), *result.warnings]]
    failed = [verdict for verdict in result.verdicts if not verdict.passed]
    commands = dict.fromkeys(_command(output, verdict) for verdict in failed)
    lines += [f"- inspect with {code(command)}" for command in commands]
    files = [
        ("labels" if output.source == "qrels" else "samples", output.qrels),
        ("candidate", output.files["candidate"]),
        ("baseline", output.files["baseline"]),
    ]
    described = [f"{what} {code(of['path'])} (sha256 {of['sha256'][:12]})" for what, of in files if of]
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
    return f"{', '.join(parts)}, {output.amount(verdict.queries)}"


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
        code(verdict.rule.text),
        plain(_value(verdict)),
        number(verdict.baseline),
        number(verdict.candidate),
        plain(_p(verdict)),
        str(verdict.queries),
        plain(verdict.reason or ""),
    ]
    return f"| {' | '.join(cells)} |"


def _xml(text: str) -> str:
    return NOT_XML.sub("�", text)
