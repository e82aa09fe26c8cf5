"""Text learning: documents that resemble relevant documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.core.errors import NotValid
from assay.core.parameters import Parameter
from assay.core.text_column import Places
from assay.strategies.list_walk import one_query
from assay.strategies.rbp import weights
from assay.strategies.strategy import NOT_RELEVANT, RELEVANT, UNKNOWN, Choice, Strategy, Task, Wording

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

PERSISTENCE = 0.8
# Words in more than half of the documents distinguish nothing, in any language.
MOST_SHARED = 0.5
# How closely the model follows the few judgments.
TRUST = 10.0
WHY = ("text-learning", "text-learning/rbp")


class Reading:
    """The words of a task's documents and queries as a table of weights."""

    def __init__(self, task: Task) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        names = task.candidates.doc_ids.tolist()
        row_of = {doc_id: row for row, doc_id in enumerate(sorted(set(names)))}
        wording = task.wording or Wording.of({}, {})
        texts = wording.documents(list(row_of))
        reader = TfidfVectorizer(sublinear_tf=True, max_df=MOST_SHARED if len(texts) > 2 else 1.0)
        try:
            self.documents: csr_matrix = reader.fit_transform(texts)
        except ValueError:
            message = (
                "The documents of these runs have no text to learn from. Store their texts, or use another strategy."
            )
            raise NotValid(message, "strategy") from None
        queries = [wording.queries.get(query_id, "") for query_id in task.candidates.query_ids]
        self.queries: csr_matrix = reader.transform(queries)
        self.row_of = np.array([row_of[doc_id] for doc_id in names], dtype=np.int64)


def choose(task: Task, params: Mapping[str, Any]) -> Choice:
    """Choose the documents that a text classifier, trained on a query's judgments, predicts as relevant."""
    reading = Reading(task)
    start = task.candidates.sums(weights(PERSISTENCE, params["depth"]))
    chosen: list[Places] = []
    reasons: list[npt.NDArray[np.int8]] = []
    passed = over = 0
    for query in range(len(task.candidates.query_ids)):
        own = np.arange(task.candidates.offsets[query], task.candidates.offsets[query + 1])
        state = task.state[own]
        begun = RELEVANT in state and NOT_RELEVANT in state
        one = one_query(task, query)
        score = _likeness(reading, query, own, state, params, one.rng) if begun else start[own]
        order = own[np.lexsort((np.array(one.lots), -score))]
        fresh = order[task.state[order] == UNKNOWN]
        chosen.append(fresh[: task.size])
        reasons.append(np.full(len(chosen[-1]), 0 if begun else 1, dtype=np.int8))
        passed += len(order) - len(fresh)
        over += len(fresh) - len(chosen[-1])
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *chosen])
    return Choice(rows, WHY, np.concatenate([np.zeros(0, dtype=np.int8), *reasons]), passed, over)


def _likeness(
    reading: Reading,
    query: int,
    own: Places,
    state: npt.NDArray[np.int8],
    params: Mapping[str, Any],
    rng: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """Return how much each of a query's documents resembles its relevant ones."""
    from scipy.sparse import vstack
    from sklearn.linear_model import LogisticRegression

    judged = np.flatnonzero(state >= 0)
    size = min(params["negatives"], reading.documents.shape[0])
    presumed = rng.choice(reading.documents.shape[0], size, replace=False)
    rows = vstack([reading.queries[query], reading.documents[reading.row_of[own[judged]]], reading.documents[presumed]])
    labels = np.concatenate([[1], state[judged] == RELEVANT, np.zeros(size)])
    model = LogisticRegression(C=TRUST, solver="liblinear", random_state=0).fit(rows, labels)
    scores: npt.NDArray[np.float64] = model.decision_function(reading.documents[reading.row_of[own]])
    return scores


TEXT_LEARNING = Strategy(
    name="text-learning",
    title="Text learning",
    description="Documents that resemble relevant documents; uses their texts, and helps if few systems are similar.",
    parameters=(
        Parameter("depth", "Depth", "Number of documents to consider from each run.", 100, minimum=1),
        Parameter("negatives", "Presumed", "Number of random documents presumed not relevant.", 100, minimum=1),
    ),
    choose=choose,
    adaptive=True,
    reads=True,
)
