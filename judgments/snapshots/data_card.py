"""Data card of a snapshot: a Markdown page for people who receive its labels."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from assay.core.markdown_text import code, plain
from assay.core.text_rules import amount
from assay.formats.snapshot_bundle import CONTENT, guidelines_file
from judgments.models import Round

FILE = "data-card.md"
UNSAMPLED = "The queries were added by people or from files; no draw from a query log is recorded."
NO_LICENSE = (
    "No license is recorded. Ask the people who made this collection before you use its labels or pass them on."
)
# What holds for every set of labels, whatever its warnings.
LIMITS = (
    "A pair that is not in the files was not judged. It is unknown, not irrelevant.",
    "A system whose results were not in the pools may return documents that nobody judged; check Judged@10 before "
    "you compare it.",
    "The files contain no documents, only their ids and the hashes of what the raters saw.",
    "Raters appear under pseudonyms.",
)


def write(manifest: dict[str, Any], content: dict[str, Any], rounds: Sequence[Round]) -> str:
    """Return how the labels were sampled, pooled and judged, their agreement, limits and license."""
    name, counts, license = manifest["list"]["name"], manifest["counts"], manifest["license"]
    header = [
        "---",
        f"pretty_name: {json.dumps(name)}",
        *([f"license: {json.dumps(license)}"] if license else []),
        "---",
    ]
    summary = (
        f"{amount(counts['labels'], 'relevance label')} of {amount(counts['queries'], 'query', 'queries')}, from "
        f"{amount(counts['ratings'], 'rating')} by {amount(counts['raters'], 'rater')}. Frozen on "
        f"{manifest['list']['frozen_at'][:10]} with Assay {manifest['provenance']['software']}."
    )
    sections = {
        "Queries": _queries(content),
        "Pools": _pools(manifest["rounds"], content["provenance"]["rounds"]),
        "Judging": [*_judging(manifest), *_scale(rounds)],
        "Agreement": _agreement(manifest["rounds"]),
        "Labels by grade": _grades(content, manifest["scale"]),
        "Limits": [f"- {plain(one)}." for one in manifest["warnings"]] + [f"- {one}" for one in LIMITS],
        "License": [plain(license) if license else NO_LICENSE],
        "Files": [
            "`manifest.json` lists the files with their hashes, and `assay verify` checks them. The SHA-256 of "
            f"`{CONTENT}` identifies the labels, queries and provenance:",
            "",
            code(manifest["content_sha256"]),
        ],
    }
    parts = [*header, "", f"# {plain(name)}", "", summary]
    for title, lines in sections.items():
        parts += ["", f"## {title}", "", *lines]
    return "\n".join(parts) + "\n"


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join(['---'] * len(columns))}|"
    for row in rows:
        yield f"| {' | '.join(map(str, row))} |"


def _queries(content: dict[str, Any]) -> list[str]:
    drawn = [
        f"Drawn from the query log with SHA-256 {code(one['log_sha256'])} by the method {plain(one['method'])}, seed "
        f"{one['seed']}."
        for one in content["provenance"]["sampling"]
    ]
    tiers = Counter(query["tier"] for query in content["queries"])
    rows = [(plain(tier or "no tier"), number) for tier, number in sorted(tiers.items())]
    return [*(drawn or [UNSAMPLED]), "", *_table(("Tier", "Queries"), rows)]


def _pools(named: list[dict[str, Any]], rounds: list[dict[str, Any]]) -> list[str]:
    """Return a row for each pool; rounds in the content are sorted and have no names."""
    if not rounds:
        return ["The labels were imported; their pools are not recorded."]
    rows = []
    for one in rounds:
        pool = one["pool"] or {}
        settings = ", ".join(
            f"{name} {value}"
            for name, value in sorted((pool.get("parameters") or {}).items())
            if not name.endswith("sha256")
        )
        rows.append((plain(pool.get("strategy") or "not recorded"), plain(settings), len(pool.get("runs") or [])))
    return [
        f"{amount(len(named), 'round')}. Documents that no pool contains were not judged.",
        "",
        *_table(("Strategy", "Settings", "Runs"), rows),
    ]


def _judging(manifest: dict[str, Any]) -> list[str]:
    how, counts = manifest["consolidation"], manifest["counts"]
    lines = [
        f"- {plain(one['name'])}: guidelines version {one['guidelines_version']} "
        f"(`{guidelines_file(one['guidelines_version'])}`)"
        for one in manifest["rounds"]
    ]
    lines += [
        f"- Label rule: {how['rule']}, ties to the {how['tie']} grade",
        f"- Sources of labels: {', '.join(how['sources'])}",
        f"- {amount(counts['conflicts'], 'conflict')}, {counts['adjudicated']:,} resolved by a lead",
        f"- {amount(counts['unrateable'], 'pair')} that could not be judged",
    ]
    if counts.get("by_machine"):
        lines.append(f"- {amount(counts['by_machine'], 'label')} given by a machine (1 in the second column of qrels)")
    if counts.get("carried"):
        lines.append(f"- {amount(counts['carried'], 'label')} carried from another pair (3 in the second column)")
    return lines


def _scale(rounds: Sequence[Round]) -> list[str]:
    if not rounds:
        return []
    rows = [(one.value, plain(one.label), plain(one.cue)) for one in rounds[0].scale.grades.all()]
    return ["", *_table(("Grade", "Label", "Meaning"), rows)]


def _agreement(rounds: list[dict[str, Any]]) -> list[str]:
    if not rounds:
        return ["No round is part of this snapshot, so there is no agreement to report."]
    rows = []
    for one in rounds:
        alpha = one["agreement"]["alpha"]["ordinal"]
        value = "not defined" if alpha["value"] is None else f"{alpha['value']:.3f}"
        known = alpha["low"] is not None and alpha["high"] is not None
        interval = f"{alpha['low']:.3f} to {alpha['high']:.3f}" if known else "not defined"
        gate = one.get("gate", {}).get("state", "none")
        rows.append((plain(one["name"]), one["agreement"]["overlap"], value, interval, gate))
    columns = ("Round", "Pairs with two grades", "Krippendorff's alpha (ordinal)", "95% interval", "Gate")
    return list(_table(columns, rows))


def _grades(content: dict[str, Any], scale: dict[str, Any]) -> list[str]:
    names = dict(zip(scale["grades"], scale["labels"], strict=False))
    counted = Counter(grade for _, _, grade, _ in content["labels"])
    grades = sorted({*names, *counted})
    return list(
        _table(("Grade", "Label", "Labels"), ((one, plain(names.get(one, "")), counted[one]) for one in grades))
    )
