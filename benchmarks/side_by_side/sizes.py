"""Sizes at which the evaluation engine is measured, with the limits for each."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Case:
    """A size, and what is asked of us there.

    Parameters
    ----------
    shape : str
        Of the data, see side_by_side/data.py.
    queries, depth, runs : int
        The size.
    quick : tuple of int
        Queries and runs of the small form.
    wall, aim, peak : float, optional
        Shares of pytrec_eval's wall time and peak memory: the most, what we would like, the most.
    trec_eval, ir_measures : float, optional
        The most of the wall time of peers that need not be there.
    reps : int
        Repetitions.
    control : bool
        Whether the control is computed; it costs as much as the peer.
    per_query : bool
        Whether printing the value of every query is a row of its own.
    """

    shape: str
    queries: int
    depth: int
    runs: int
    quick: tuple[int, int]
    wall: float | None = None
    aim: float | None = None
    peak: float | None = None
    trec_eval: float | None = None
    ir_measures: float | None = None
    reps: int = 5
    control: bool = True
    per_query: bool = False

    @property
    def title(self) -> str:
        """The size in words."""
        runs = f" x {self.runs} runs" if self.runs > 1 else ""
        return f"{self.queries:,} queries x {self.depth:,}{runs}"

    def small(self) -> Case:
        """The same without limits, in little time."""
        queries, runs = self.quick
        small = replace(self, queries=queries, runs=runs)
        return replace(small, wall=None, aim=None, peak=None, trec_eval=None, ir_measures=None)


CASES = {
    "small": Case("pages", 50, 1000, 1, (20, 1), wall=1.0, aim=0.8),
    "shallow": Case("passages", 6980, 100, 1, (500, 1), wall=0.70, aim=0.50),
    "runs": Case("pages", 43, 1000, 60, (10, 4), wall=0.65, aim=0.40, reps=3),
    "large": Case(
        "passages",
        6980,
        1000,
        1,
        (300, 1),
        wall=0.30,
        aim=0.20,
        peak=0.25,
        trec_eval=0.30,
        ir_measures=0.10,
        reps=3,
        control=False,
        per_query=True,
    ),
}
# Here the question is not the peer's time but what a run more costs.
MILLION = Case("passages", 1000, 1000, 10, (50, 10), reps=3)
