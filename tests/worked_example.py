"""The example of design.md section 0 as data: one query, two runs, five documents, two raters, and every number."""

from __future__ import annotations

QUERY = ("q1", "rain jacket")
DOCUMENTS = ("d1", "d2", "d3", "d4", "d5")
BM25 = "q1 Q0 d1 1 9.1 bm25\nq1 Q0 d2 2 8.7 bm25\nq1 Q0 d3 3 8.7 bm25\n"
NEURAL = "q1 Q0 d4 1 3.0 neural\nq1 Q0 d1 2 2.0 neural\nq1 Q0 d5 3 1.0 neural\n"
NEWCOMER = "q1 Q0 d1 1 3.0 newcomer\nq1 Q0 d9 2 2.0 newcomer\nq1 Q0 d4 3 1.0 newcomer\n"
GRADES = {
    "r01": dict(zip(DOCUMENTS, (3, 1, 0, 2, 0), strict=True)),
    "r02": dict(zip(DOCUMENTS, (3, 1, 1, 2, 0), strict=True)),
}
LABELS = dict(zip(DOCUMENTS, (3, 1, 0, 2, 0), strict=True))
QRELS = "q1 0 d1 3\nq1 0 d2 1\nq1 0 d3 0\nq1 0 d4 2\nq1 0 d5 0\n"
NDCG_AT_3 = {"bm25": 0.7350, "neural": 0.8175}
KAPPA, KAPPA_QUADRATIC, ALPHA_ORDINAL = 0.7368, 0.9180, 0.8955
