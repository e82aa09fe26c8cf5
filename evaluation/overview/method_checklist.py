"""Method checklist of a collection: each rule with its numbers and the action that fixes it.

Each rule is one small function, listed in the table at the end. A rule reports the current state; nobody ticks it by
hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from django.urls import reverse

from assay.coefficients.gate import reason_in_words
from assay.core.text_rules import amount
from assay.staleness.unjudged_documents import UNJUDGED
from evaluation.freshness.freshness import LOOKS, age_in_words
from evaluation.overview.collection_state import Standing
from evaluation.overview.stages import gate_says
from judgments.guidelines.guidelines import is_template
from judgments.models import Collection, GuidelinesVersion
from judgments.web.figures import percent

QUOTED = re.compile(r'"[^"]+"|“[^”]+”|«[^»]+»|\be\.\s?g\.|\bexample', re.IGNORECASE)


def examples_per_grade(markdown: str, grades: Sequence[tuple[int, str]]) -> dict[int, int]:
    """Count the examples that the guidelines give for each grade.

    An example is a filled cell in a column headed "Example" of a table with a row for the grade. It may also be a line
    with a quotation or the word "example", in a list item that begins with the grade or under a heading that contains
    it. A count of 0 means only that no example was recognized.

    Examples
    --------
    >>> examples_per_grade('- 1 Good: "tent" and a tent\\n- 0 Poor: all else', [(0, "Poor"), (1, "Good")])
    {0: 0, 1: 1}
    """
    counts = {value: 0 for value, _ in grades}
    for value, text in _parts(markdown, grades):
        counts[value] += bool(text.strip())
    return counts


def _parts(markdown: str, grades: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Return each example as the grade's value and the example's text."""
    column: int | None = None
    under: int | None = None
    for line in markdown.splitlines():
        if line.lstrip().startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            heads = [place for place, cell in enumerate(cells) if cell.casefold().startswith("example")]
            column = heads[0] if heads else column
            value = next((value for cell in cells[:2] if (value := _named(cell, grades)) is not None), None)
            if value is not None and column is not None and not heads and column < len(cells):
                yield value, cells[column]
            continue
        column = None
        if line.startswith("#"):
            under = _named(line.lstrip("# "), grades)
            continue
        item = re.match(r"\s*(?:[-*+]|\d+[.)])\s+(.*)", line)
        value = _named(item[1], grades) if item else None
        value = under if value is None else value
        if value is not None and QUOTED.search(line):
            yield value, line


def _named(text: str, grades: Sequence[tuple[int, str]]) -> int | None:
    """Return the grade with whose value or name a text begins."""
    words = re.findall(r"[\w-]+", text.casefold())[:3]
    for value, label in grades:
        if words[:1] == [str(value)] or label.casefold() in words[:2] or words[:2] == ["grade", str(value)]:
            return value
    return None


# The number of queries that makes a set suitable for a gate, and the share of pairs rated twice that makes agreement
# meaningful.
ENOUGH_QUERIES = 200
ENOUGH_OVERLAP = 0.10


@dataclass(frozen=True)
class Check:
    """One rule of the checklist."""

    key: str
    sentence: str
    state: str
    numbers: str
    act_label: str = ""
    act_url: str = ""
    lead_only: bool = True


CheckResult = tuple[str, str]  # state, numbers
ROUND_PAGES = ("round_progress", "round_agreement", "conflicts")


def checks(collection: Collection, standing: Standing | None = None) -> list[Check]:
    """Return every rule with its state, in the order of the steps."""
    facts = standing or Standing(collection)
    return [_check(facts, *row) for row in CHECKS]


def count_passed(results: list[Check]) -> int:
    """Return the number of rules that pass."""
    return sum(check.state == "done" for check in results)


def _check(
    standing: Standing, key: str, sentence: str, look: Callable[[Standing], CheckResult], act: tuple[str, str, bool]
) -> Check:
    state, numbers = look(standing)
    if state in ("done", "todo"):
        return Check(key, sentence, state, numbers)
    label, page, lead_only = act
    return Check(key, sentence, state, numbers, label, _address(standing, page), lead_only)


def _address(standing: Standing, page: str) -> str:
    """Return the URL of the action; actions on a round lead to the current round, or to the rounds if there is none."""
    page, _, query = page.partition("?")
    slug = standing.collection.slug
    if page in ROUND_PAGES:
        round_ = standing.judged_round
        return reverse(page, args=[round_.uuid]) if round_ is not None else reverse("rounds", args=[slug])
    return reverse(page, args=[slug]) + (f"?{query}" if query else "")


def drawn(standing: Standing) -> CheckResult:
    counts = standing.queries
    if not counts.total:
        return "todo", "no queries yet"
    if not counts.drawn:
        return "warn", f"none of {counts.total:,}; scores can't be weighted by traffic"
    draws = standing.draws
    seed = f", {len(draws)} draws" if len(draws) > 1 else "".join(f", seed {draw.seed}" for draw in draws)
    return ("done" if counts.drawn == counts.total else "warn"), f"{counts.drawn:,} of {counts.total:,}{seed}"


def tiers(standing: Standing) -> CheckResult:
    counts = standing.queries
    if not counts.total:
        return "todo", "no queries yet"
    if not counts.tiered:
        return "warn", f"none of {counts.total:,} has a tier"
    numbers = f"{counts.head:,} head, {counts.torso:,} torso, {counts.tail:,} tail"
    if counts.head == counts.tiered:
        return "fail", f"{numbers}: only head queries"
    return ("done" if counts.head and counts.torso and counts.tail else "warn"), numbers


def enough(standing: Standing) -> CheckResult:
    total = standing.queries.total
    if not total:
        return "todo", "no queries yet"
    if total >= ENOUGH_QUERIES:
        return "done", f"{amount(total, 'query', 'queries')}"
    return "warn", f"{amount(total, 'query', 'queries')}: enough to explore, but intervals will be wide"


def needs(standing: Standing) -> CheckResult:
    counts = standing.queries
    if not counts.total:
        return "todo", "no queries yet"
    return ("done" if counts.with_need == counts.total else "warn"), f"{counts.with_need:,} of {counts.total:,}"


def systems(standing: Standing) -> CheckResult:
    """Return the runs that the rounds' pairs were pooled from, or those of the newest pool before there is a round."""
    sources = [round_.provenance for round_ in standing.rounds]
    if not sources and standing.pool is not None:
        sources = [standing.pool.provenance]
    if not sources:
        return "todo", "no pool yet"
    runs = {run["sha256"] for source in sources for run in source.get("runs", ())}
    if not runs:
        return "warn", "a list of pairs; its systems are unknown"
    if len(runs) == 1:
        return "fail", "only one system, which the labels will favor"
    return "done", f"{len(runs)} systems"


def versioned(standing: Standing) -> CheckResult:
    version = standing.guidelines
    if version is None:
        return "todo", "no guidelines yet"
    if is_template(version):
        return "warn", f"{version} is the unchanged template; add your own examples"
    missing = _without_example(version, standing)
    if missing:
        return "warn", f"{version} has no example for grade {', '.join(missing)}"
    return "done", f"{version}, {version.created_at:%d %b %Y}".replace(", 0", ", ")


def _without_example(version: GuidelinesVersion, standing: Standing) -> list[str]:
    from judgments.models.round import DEFAULT_GRADES

    round_ = standing.round
    grades = [(grade.value, grade.label) for grade in round_.scale.grades.all()] if round_ else None
    grades = grades or [(value, label) for value, label, _ in DEFAULT_GRADES]
    counts = examples_per_grade(version.markdown, grades)
    return [str(value) for value, _ in grades if not counts[value]]


def overlapping(standing: Standing) -> CheckResult:
    round_, report = standing.judged_round, standing.agreement
    if round_ is None or report is None or not report["pairs"]:
        return "todo", "no ratings yet"
    both, pairs = report["overlap"], report["pairs"]
    if report["raters"] < 2:
        return "fail", f"{round_}: only one rater, {amount(pairs, 'pair')}"
    share = both / pairs
    numbers = f"{round_}: {both:,} of {amount(pairs, 'rated pair')}, {report['raters']} raters"
    return ("done" if share >= ENOUGH_OVERLAP else "warn" if both else "fail"), numbers


def agreeing(standing: Standing) -> CheckResult:
    report, answer = standing.agreement, standing.gate
    if report is None or answer is None or not report["pairs"]:
        return "todo", "no ratings yet"
    if answer.value is None:
        return "fail", f"not defined: {reason_in_words(report['coefficients'][answer.coefficient]['reason'])}"
    state, word, _ = gate_says(answer)
    interval = f"{answer.low:.3f}–{answer.high:.3f}, " if answer.low is not None else "no interval, "
    named = "alpha" if answer.coefficient == "alpha-ordinal" else answer.coefficient
    shown = f"{named} {answer.value:.3f} ({interval}{amount(answer.n, 'pair')})"
    return state, f"{word}: {shown}, gate {answer.threshold:.2f}"


def settled(standing: Standing) -> CheckResult:
    if standing.judged_round is None:
        return "todo", "no ratings yet"
    conflicts = standing.conflicts()
    wide = f", {conflicts.wide:,} of them wide" if 0 < conflicts.wide < conflicts.number else ""
    numbers = f"{standing.settled:,} resolved, {conflicts.number:,} open{wide}"
    return ("warn" if conflicts.wide else "done"), numbers if conflicts.number or standing.settled else "no conflicts"


def unjudged(standing: Standing) -> CheckResult:
    """Return the unjudged share. This rule never fails, because every metric counts an unjudged document as not
    relevant."""
    shares = [run.mean for run in standing.fresh.report.runs if run.mean is not None] if standing.fresh else []
    if not shares:
        return "done", "true for every metric"
    spread = " to ".join(dict.fromkeys((percent(min(shares)), percent(max(shares)))))
    return "done", f"true for every metric; unjudged share of the runs’ top 10: {spread}"


def signal(name: str) -> Callable[[Standing], CheckResult]:
    """Return a rule that is a freshness signal, as the freshness page shows it."""

    def look(standing: Standing) -> CheckResult:
        if standing.fresh is None:
            return "todo", "no snapshot yet"
        finding = standing.fresh.report[name]
        return LOOKS[finding.state], finding.words or finding.reason or ""

    return look


def checked(standing: Standing) -> CheckResult:
    """Return whether all signals are known, and when the last complete check ran."""
    fresh = standing.fresh
    if fresh is None:
        return "todo", "no snapshot yet"
    unknown = len(fresh.report.unknown)
    when = f"checked {age_in_words(fresh.checked_at)}" if fresh.checked_at else "never checked"
    words = f"{fresh.word}, {when}" + (
        f"; {unknown} of {len(fresh.report.findings)} signals unknown" if unknown else ""
    )
    return fresh.state, words


# Key, rule, function, and the action: button, page, and whether only a lead may do it.
CHECKS: tuple[tuple[str, str, Callable[[Standing], CheckResult], tuple[str, str, bool]], ...] = (
    ("drawn", "Queries drawn from a log with a seed", drawn, ("Draw queries", "query_logs", True)),
    ("tiers", "Head, torso and tail queries included", tiers, ("Draw other tiers", "query_logs", True)),
    ("enough", f"At least {ENOUGH_QUERIES} queries", enough, ("Draw more queries", "query_logs", True)),
    (
        "needs",
        "Every query has an information need",
        needs,
        ("View queries without a need", "queries?need=without", False),
    ),
    ("systems", "Pairs pooled from at least two systems", systems, ("Create pool", "pool_new", True)),
    (
        "versioned",
        "Guidelines have a version and an example for each grade",
        versioned,
        ("Write guidelines", "guidelines_new", True),
    ),
    (
        "overlapping",
        "Two raters share at least 10% of the pairs",
        overlapping,
        ("Add second rater", "round_progress", True),
    ),
    ("agreeing", "Agreement passes its gate", agreeing, ("View agreement", "round_agreement", False)),
    ("settled", "Wide conflicts resolved with a reason", settled, ("Resolve conflicts", "conflicts", True)),
    ("unjudged", "Unjudged documents count as not relevant", unjudged, ("View scores", "scores", False)),
    (
        "few_holes",
        f"At most {percent(UNJUDGED.warn)} of returned documents unjudged",
        signal("unjudged"),
        ("Judge documents", "freshness", True),
    ),
    ("unchanged", "Documents unchanged since grading", signal("changed"), ("Judge documents again", "freshness", True)),
    (
        "same_embedding",
        "No judgment is older than an embedding change",
        signal("embedding"),
        ("Judge pairs again", "freshness", True),
    ),
    ("fresh", "The newest snapshot is fresh", checked, ("View signals", "freshness", False)),
)
