"""A collection brought as far along the way as a test needs it, by its verbs."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

from judgments.guidelines import guidelines
from judgments.imports import ingestion
from judgments.models import Collection, Pair, Round, Snapshot, User
from judgments.rating import assignment
from judgments.rounds import rounds
from judgments.snapshots import snapshots
from pooling.logs import query_logs
from pooling.pools import pools
from tests.cached_rows import cached
from tests.world import grade_together

GUIDELINES = (
    '# Grades\n\n- 3: "tent" and a tent\n- 2: "tent" and a tarp\n- 1: "tent" and a peg\n- 0: "tent" and a mug\n'
)


class Stage:
    """The steps of the way as methods; each does one step for the collection."""

    def __init__(self, collection: Collection, lead: User, raters: list[User]) -> None:
        self.collection, self.lead, self.raters = collection, lead, raters

    def store(self, kind: str, content: str, filename: str) -> dict[str, Any]:
        upload = ingestion.receive(
            self.collection, kind=kind, file=io.BytesIO(content.encode()), filename=filename, actor=self.lead
        )
        return ingestion.store(upload, actor=self.lead)

    def queries(self, number: int = 12, *, narrative: str = "", tier: str = "") -> None:
        lines = [f"q{n:02d},query {n},{narrative},{tier}" for n in range(number)]
        self.store("queries", "query_id,query,narrative,tier\n" + "\n".join(lines) + "\n", "queries.csv")

    def drawn(self, **sizes: int) -> None:
        """Queries from a log of twenty, the first of which is half of the traffic."""
        self.store(
            "query-logs", "query,count\n" + "".join(f"word {n},{60 // n**2 + 1}\n" for n in range(1, 21)), "l.csv"
        )
        query_logs.draw(self.collection.query_logs.get(), actor=self.lead, sizes=sizes, seed=17)

    def documents(self, number: int = 8) -> None:
        lines = [f'{{"doc_id": "d{n}", "title": "Thing {n}", "text": "Text {n}"}}\n' for n in range(number)]
        self.store("documents", "".join(lines), "documents.jsonl")

    def run(self, name: str, order: str, queries: int = 12) -> None:
        """A run that answers every query with the same documents, named by their digits."""
        rows = [
            f"q{n:02d} Q0 d{digit} {rank} {99 - rank} {name}\n"
            for n in range(queries)
            for rank, digit in enumerate(order, 1)
        ]
        self.store("runs", "".join(rows), f"{name}.run")

    def systems(self, queries: int = 12) -> None:
        """Queries, documents, and the runs of two systems."""
        self.queries(queries)
        self.documents()
        self.run("bm25", "0123", queries)
        self.run("neural", "1045", queries)

    def listed(self) -> Round:
        """An open round over three documents of each query, in a collection without runs."""
        self.queries()
        self.documents()
        return self.round(runs=0)

    def round(
        self,
        *,
        runs: int = 2,
        depth: int = 3,
        pairs: Sequence[tuple[str, str]] = (),
        raters: int = 2,
        name: str = "Round 1",
        **options: Any,
    ) -> Round:
        """An open round over a pool of so many runs or over given pairs; without runs, three pairs of each query."""
        if not runs:
            pairs = [(query.query_id, f"d{n}") for query in self.collection.queries.all() for n in range(3)]
        chosen = [] if pairs else list(self.collection.runs.order_by("name")[:runs])
        parameters: dict[str, Any] = {"pairs": pairs} if pairs else {"depth": depth}
        strategy = "list" if pairs else "depth"
        pool = pools.draw_pool(self.collection, strategy=strategy, runs=chosen, parameters=parameters, actor=self.lead)
        version = guidelines.latest(self.collection)
        version = version or guidelines.add_version(self.collection, markdown=GUIDELINES, actor=self.lead)
        made = pools.make_round(
            pool, actor=self.lead, name=name, guidelines=version, raters=self.raters[:raters], **options
        )
        return rounds.open_round(made, actor=self.lead)

    def graded(self, round_: Round, grade: Callable[[Pair, int], int], *, raters: int = 2) -> None:
        """Every rater grades what they get; ``grade`` is told the pair and the rater's place."""
        for place, rater in enumerate(self.raters[:raters]):
            while batch := assignment.claim_batch(round_, rater=rater, size=50):
                grade_together(round_, rater, {pair.uuid: grade(pair, place) for pair in batch})

    def frozen(self, round_: Round, name: str = "first") -> Snapshot:
        return snapshots.freeze(self.collection, name=name, rounds=[round_], actor=self.lead)

    def whole_way(self) -> Snapshot:
        """Everything up to a snapshot: two systems, three documents deep, two raters who agree."""
        return cached("whole way", self._whole_way)

    def _whole_way(self) -> Snapshot:
        self.systems()
        round_ = self.round()
        self.graded(round_, by_digit)
        return self.frozen(rounds.close_round(round_, actor=self.lead))


def by_digit(pair: Pair, place: int) -> int:
    """Document d0 is perfect, d1 good, the others fair or poor; queries differ a little, raters do not."""
    return {"d0": 3, "d1": 2}.get(pair.document.doc_id, int(pair.query.query_id[1:]) % 2)
