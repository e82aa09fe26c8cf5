"""Sequential decisions replayed: how much judging they save, and how often they are wrong.

    python benchmarks/decide.py [--only CASE] [--reps N] [--quick] [--json FILE]

`replay` draws pairs of systems on 200 queries from a fixed seed, prints how their differences are distributed, and
stops judging as soon as a method has a verdict; the reference is a paired t test on all queries. `ties` exchanges the
systems at random on each query, so that any better or worse is false. `skewed` and `weighted` do the same for rare
large wins and for queries drawn by tier; they have no limit. `cranfield` replays real runs. `seconds` times a verdict
over 500 queries. Peeking at p < 0.05 after every query stands beside each of them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from side_by_side.processes import CouldNotRun
from side_by_side.rows import Row, note, options, print_table

import assay
from assay.sequential.asymptotic import BURN_IN
from assay.sequential.decide import decide_differences

Floats = npt.NDArray[np.float64]
QUERIES, PAIRS, ORDERS, SEED = 200, 300, 5, 20261127
# Shares of the pairs by the size of their true difference, and the range of their standard deviations.
SIZES = {(0.0, 0.02): 0.12, (0.02, 0.05): 0.18, (0.05, 0.1): 0.22, (0.1, 0.35): 0.48}
DEVIATIONS = (0.11, 0.23)
# A query needs this many judgments: 10 if both lists agree, 20 if they share nothing.
JUDGMENTS = (12, 20)
METHODS = {"asymptotic": None, "group": QUERIES, "betting": None}
PEEKING = "p < 0.05 after every query"
# Of what full judging decides: the share decided at least, and the share of the judgments at most.
LIMITS = {"asymptotic": (0.90, 0.25), "group": (0.98, 0.35)}
FALSE_ALARMS = 0.056


@dataclass(frozen=True)
class Outcome:
    """A verdict and the share of the judgments that it used."""

    verdict: str
    share: float


def main() -> int:
    """Replay every case that was asked for."""
    cases = {
        "replay": replay,
        "ties": partial(false_alarms, "ties", FALSE_ALARMS),
        "skewed": partial(false_alarms, "skewed", None),
        "weighted": partial(false_alarms, "weighted", None),
        "cranfield": cranfield,
        "seconds": seconds,
    }
    parser = options(__doc__, cases)
    return print_table(cases, parser.parse_args())


def outcomes(differences: Floats, sizes: Floats, weights: Floats | None = None) -> dict[str, Outcome]:
    """Stop by each method, and by peeking."""
    judged = np.cumsum(sizes) / sizes.sum()
    stopped = {}
    for method, planned in METHODS.items():
        # The betting method is for values between 0 and 1, whose differences these are.
        decision = decide_differences(
            differences.clip(-1, 1), weights, method=method, planned=planned and len(differences), forecast=False
        )
        stopped[method] = Outcome(decision.verdict, float(judged[decision.queries - 1]))
    first = peeked(differences)
    sign = "better" if first is not None and differences[: first + 1].mean() > 0 else "worse"
    stopped[PEEKING] = Outcome("undecided", 1.0) if first is None else Outcome(sign, float(judged[first]))
    return stopped


def peeked(differences: Floats) -> int | None:
    """Return the first query from the burn-in on at which a paired t test is significant."""
    significant = np.flatnonzero(significance(differences)[BURN_IN - 1 :])
    return int(significant[0]) + BURN_IN - 1 if len(significant) else None


def significance(differences: Floats) -> npt.NDArray[np.bool_]:
    """Return whether a paired t test is significant after each query."""
    counts = np.arange(1, len(differences) + 1)
    means = np.cumsum(differences) / counts
    variances = np.maximum(np.cumsum(differences**2) - counts * means**2, 1e-300) / np.maximum(counts - 1, 1)
    result: npt.NDArray[np.bool_] = np.abs(means) / np.sqrt(variances / counts) > critical(len(differences))
    return result


def critical(queries: int) -> Floats:
    """Return the critical values of a two-sided t test at 0.05 for 1 to so many queries."""
    from scipy.stats import t

    freedom = np.maximum(np.arange(queries), 1)
    values: Floats = t.ppf(0.975, freedom)
    return values


def drawn_pairs(random: np.random.Generator, pairs: int) -> list[Floats]:
    """Draw the differences of pairs of systems, and print how they are distributed."""
    chosen = random.choice(len(SIZES), pairs, p=list(SIZES.values()))
    ranges = list(SIZES)
    drawn = []
    for at in chosen.tolist():
        difference = random.uniform(*ranges[at]) * random.choice([-1, 1])
        drawn.append((difference + random.uniform(*DEVIATIONS) * random.standard_normal(QUERIES)).clip(-1, 1))
    means = np.array([abs(one.mean()) for one in drawn])
    deviations = np.array([one.std(ddof=1) for one in drawn])
    for low, high in ranges:
        share = ((means >= low) & (means < high)).mean()
        note(f"differences of {low:.2f} to {high:.2f}: {share:.0%} of the pairs")
    quantiles = ", ".join(f"{value:.2f}" for value in np.quantile(deviations, [0.1, 0.5, 0.9]))
    note(f"standard deviations (10%, 50%, 90%): {quantiles}")
    return drawn


def replay(args: argparse.Namespace) -> Iterator[Row]:
    """Compare each method with judging everything."""
    random = np.random.default_rng(SEED)
    stopped: dict[str, list[Outcome]] = {name: [] for name in (*METHODS, PEEKING)}
    wrong = dict.fromkeys(stopped, 0)
    for differences in drawn_pairs(random, 60 if args.quick else PAIRS):
        full = bool(significance(differences)[-1])
        sign = "better" if differences.mean() > 0 else "worse"
        sizes = random.integers(*JUDGMENTS, len(differences), endpoint=True).astype(np.float64)
        for _ in range(ORDERS):
            order = random.permutation(len(differences))
            for name, outcome in outcomes(differences[order], sizes[order]).items():
                if full:
                    stopped[name].append(outcome)
                opposite = outcome.verdict not in ("undecided", "equivalent", sign)
                wrong[name] += opposite and abs(differences.mean()) > 0.02
    for name, all_of in stopped.items():
        decided = np.mean([one.verdict in ("better", "worse") for one in all_of])
        share = float(np.mean([one.share for one in all_of]))
        least, most = LIMITS.get(name, (None, None))
        what = f"{len(all_of):,} replays; wrong sign for a difference over 0.02: {wrong[name]}"
        missed = None if least is None else (1 - least)
        yield Row(f"replay {name}", "undecided, of what all decide", [1 - float(decided)], missed, None, what)
        yield Row(
            f"replay {name}", "the judgments of all queries", [share], most, None, f"{share:.1%} of the judgments"
        )
        if name in LIMITS and wrong[name]:
            raise CouldNotRun(f"{name} gave {wrong[name]} verdicts with the wrong sign")


def tied(kind: str, random: np.random.Generator) -> tuple[Floats, Floats | None]:
    """Draw differences whose true mean is 0, with weights for queries drawn by tier."""
    if kind == "skewed":
        return np.where(random.random(QUERIES) < 0.2, 0.5, -0.125) + random.normal(0, 0.02, QUERIES), None
    spread = random.uniform(*DEVIATIONS)
    differences = random.uniform(0.0, 0.2) + spread * random.standard_normal(QUERIES)
    differences = differences.clip(-1, 1) * random.choice([-1, 1], QUERIES)
    # Head, torso and tail with a third of the traffic each, of which a quarter, half and quarter were drawn.
    return differences, random.choice(
        [4 / 3, 2 / 3, 4 / 3], QUERIES, p=[0.25, 0.5, 0.25]
    ) if kind == "weighted" else None


def false_alarms(kind: str, limit: float | None, args: argparse.Namespace) -> Iterator[Row]:
    """Count verdicts of better or worse where there is no difference."""
    random = np.random.default_rng(SEED + 1)
    replays = 500 if args.quick else 5_000
    false = dict.fromkeys((*METHODS, PEEKING), 0)
    warned = 0
    for _ in range(replays):
        differences, weights = tied(kind, random)
        for name, outcome in outcomes(differences, np.ones(QUERIES), weights).items():
            false[name] += outcome.verdict in ("better", "worse")
        warned += decide_differences(differences, weights, forecast=False).advises_betting
    note(f"{kind}: betting is advised in {warned / replays:.0%} of the replays")
    for name, count in false.items():
        held = None if name == PEEKING or name == "betting" else limit
        measured = f"{count:,} of {replays:,} replays, {QUERIES} queries"
        yield Row(f"{kind} {name}", "all replays", [count / replays], held, None, measured)


def cranfield(args: argparse.Namespace) -> Iterator[Row]:
    """Replay runs over Cranfield, whose differences are small."""
    folder = (args.data or Path(__file__).resolve().parents[2] / "shared" / "data") / "cranfield"
    runs = sorted(folder.glob("**/*.run*")) or sorted((folder / "runs").glob("*"))
    qrels = next(iter(sorted(folder.glob("*qrels*"))), None)
    if qrels is None or len(runs) < 2:
        raise CouldNotRun(f"no qrels and runs in {folder}")
    scored = assay.evaluate(qrels, runs, "nDCG@10", ranges=False)
    values = [run.per_query["nDCG@10"] for run in scored.runs]
    random = np.random.default_rng(SEED + 2)
    stopped: dict[str, list[Outcome]] = {name: [] for name in (*METHODS, PEEKING)}
    pairs = [(a, b) for a in range(len(values)) for b in range(a)]
    for a, b in pairs:
        differences = values[a] - values[b]
        if not significance(differences)[-1]:
            continue
        for _ in range(ORDERS):
            order = random.permutation(len(differences))
            for name, outcome in outcomes(differences[order], np.ones(len(differences))).items():
                stopped[name].append(outcome)
    for name, all_of in stopped.items():
        decided = float(np.mean([one.verdict in ("better", "worse") for one in all_of]))
        share = float(np.mean([one.share for one in all_of]))
        what = f"{decided:.0%} decided, {len(all_of)} replays of {len(pairs)} pairs"
        yield Row(f"cranfield {name}", "the judgments of all queries", [share], None, None, what)


def seconds(args: argparse.Namespace) -> Iterator[Row]:
    """Time a verdict over 500 queries, with its forecast."""
    random = np.random.default_rng(SEED + 3)
    differences = random.choice([-1, 1], 500) * random.uniform(0, 0.4, 500)
    for name, planned in METHODS.items():
        times = [timed(differences, name, planned and 600) for _ in range(args.reps or 7)]
        limit = 1.0 if name == "asymptotic" else None
        measured = f"{1000 * float(np.median(times)):.1f} ms"
        yield Row(f"seconds {name}", "the limit of 50 ms", [one / 0.05 for one in times], limit, None, measured)


def timed(differences: Sequence[float] | Floats, method: str, planned: int | None) -> float:
    """Return the seconds that one verdict takes."""
    began = time.perf_counter()
    decide_differences(differences, method=method, planned=planned)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
