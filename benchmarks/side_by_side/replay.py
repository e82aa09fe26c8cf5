"""Replay of every pool strategy on known labels with 50 judgments per query.

    python benchmarks/side_by_side/replay.py {2019,2020,2021,cranfield} [--folder CRANFIELD] [--seeds N] [--batch N]

As soon as a strategy chooses a pair, its judgment is looked up in the known labels. Learning strategies choose
``--batch`` pairs at a time. Prints JSON with these values per strategy, each a mean over seeds: the relevant
documents found, their mean share of a query's relevant documents, the judgments spent per query, and Kendall's tau
between the ranking of the systems by nDCG@10 under the resulting labels and under all labels.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import kendalltau
from simulated import WORLDS, collection

from assay.core.qrels import Qrels
from assay.core.run import Run
from assay.strategies import STRATEGIES
from assay.strategies.candidates import Candidates
from assay.strategies.strategy import UNKNOWN, Task, Wording
from evaluation import evaluate

BUDGET = 50
METRIC = "nDCG@10"


@dataclass(frozen=True, eq=False)
class Known:
    """Runs whose labels are known: the candidates with the grade of each."""

    runs: list[Run]
    table: Candidates
    grades: npt.NDArray[np.float64]
    relevant: npt.NDArray[np.int8]
    wording: Wording | None

    @classmethod
    def of(
        cls, runs: list[Run], grades: dict[str, dict[str, float]], from_grade: float, wording: Wording | None
    ) -> Known:
        """Look every candidate up; one without a label is not relevant."""
        table = Candidates.of(runs)
        names = [table.query_ids[query] for query in table.query_of.tolist()]
        pair_grades = [
            grades.get(query_id, {}).get(doc_id, 0) for query_id, doc_id in zip(names, table.doc_ids, strict=True)
        ]
        values = np.array(pair_grades, dtype=np.float64)
        return cls(runs, table, values, (values >= from_grade).astype(np.int8), wording)

    def replay(self, name: str, batch: int, seed: int) -> npt.NDArray[np.bool_]:
        """Say which candidates a strategy has judged in the end."""
        member = STRATEGIES[name]
        params = {**member.checked({}), "depth": int(self.table.ranks.max())}
        state = np.full(len(self.table), UNKNOWN, dtype=np.int8)
        step = batch if member.adaptive else BUDGET
        for begin in range(0, BUDGET, step):
            size = min(step, BUDGET - begin)
            chosen = member.choose(Task(self.table, state, seed, size, self.wording), params).rows
            state[chosen] = self.relevant[chosen]
        judged: npt.NDArray[np.bool_] = state != UNKNOWN
        return judged

    def best(self) -> npt.NDArray[np.bool_]:
        """What who knows all labels would judge."""
        order = np.lexsort((-self.relevant, self.table.query_of))
        judged = np.zeros(len(self.table), dtype=np.bool_)
        judged[order[np.arange(len(order)) - self.table.offsets[self.table.query_of] < BUDGET]] = True
        return judged

    def scores(self, judged: npt.NDArray[np.bool_]) -> list[float]:
        """Every system's mean by the labels of these candidates."""
        rows = np.flatnonzero(judged)
        names, doc_ids = self.table.query_of[rows].tolist(), self.table.doc_ids.take(rows).tolist()
        labels: dict[str, dict[str, float]] = {}
        for query, doc_id, grade in zip(names, doc_ids, self.grades[rows].tolist(), strict=True):
            labels.setdefault(self.table.query_ids[query], {})[doc_id] = grade
        scored = evaluate(Qrels.from_dict(labels), self.runs, [METRIC])
        return [run.metrics[METRIC].mean or 0.0 for run in scored.runs]

    def recall_at_effort(self, judged: npt.NDArray[np.bool_], truth: list[float]) -> dict[str, float]:
        """Describe what was found."""
        queries = len(self.table.query_ids)
        relevant_judged = np.bincount(self.table.query_of, weights=judged & (self.relevant == 1), minlength=queries)
        there = np.bincount(self.table.query_of, weights=self.relevant == 1, minlength=queries)
        some = there > 0
        return {
            "found": float(relevant_judged.sum()),
            "share": float(np.mean(relevant_judged[some] / there[some])),
            "judged": float(judged.sum() / queries),
            "tau": float(kendalltau(self.scores(judged), truth).statistic),
        }


def cranfield(folder: Path) -> Known:
    """Cranfield's eight runs with its texts; what its labels leave out counts as not relevant."""
    from assay.formats.qrels_and_runs import load_qrels, load_run

    paths = sorted((folder / "runs").glob("*.run.gz"))
    runs = [load_run(path, str(path), path.name.split(".")[0])[0] for path in paths]
    documents = {}
    for line in (folder / "documents.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        documents[row["doc_id"]] = f"{row['title']} {row['text']}"
    lines = (folder / "queries.tsv").read_text(encoding="utf-8").splitlines()
    queries = {line.split("\t")[0]: line.split("\t")[1] for line in lines}
    labels = load_qrels(folder / "qrels.txt")[0].to_dict()
    return Known.of(runs, labels, 1, Wording.of(queries, documents))


def worlds(name: str, folder: Path, seeds: int) -> Iterator[tuple[int, Known]]:
    """Yield a seed with a collection."""
    if name == "cranfield":
        known = cranfield(folder)
        yield from ((seed, known) for seed in range(1, seeds + 1))
        return
    for seed in range(1, seeds + 1):
        runs, grades = collection(WORLDS[name], seed)
        yield seed, Known.of(runs, {query: dict(documents) for query, documents in grades.items()}, 2, None)


def main() -> None:
    """Replay every strategy and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", choices=[*WORLDS, "cranfield"])
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--batch", type=int, default=5)
    args = parser.parse_args()
    summaries: dict[str, list[dict[str, float]]] = {}
    for seed, known in worlds(args.world, args.folder, args.seeds):
        truth = known.scores(np.ones(len(known.table), dtype=np.bool_))
        for name in STRATEGIES:
            if STRATEGIES[name].given is None and (known.wording or not STRATEGIES[name].reads):
                judged = known.replay(name, args.batch, seed)
                summaries.setdefault(name, []).append(known.recall_at_effort(judged, truth))
        summaries.setdefault("oracle", []).append(known.recall_at_effort(known.best(), truth))
    means = {
        name: {key: float(np.mean([one[key] for one in rows])) for key in rows[0]} for name, rows in summaries.items()
    }
    print(json.dumps(means))


if __name__ == "__main__":
    main()
