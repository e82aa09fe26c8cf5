"""What do other systems call the columns of qrels and runs?"""

from __future__ import annotations

QUERY_ID = ("qid", "q_id", "query-id", "queryid", "topic", "topic_id")
DOC_ID = ("docid", "docno", "doc-id", "document_id", "corpus-id", "corpus_id", "pid", "passage_id")
GRADE = ("rating", "label", "relevance", "rel", "score")
SCORE = ("similarity",)
RANK = ("position",)
TAG = ("run", "system", "run_id", "runid")

# Each column with the other names that are read for it.
LABEL_COLUMNS = {"query_id": QUERY_ID, "doc_id": DOC_ID, "grade": GRADE}
RESULT_COLUMNS = {"query_id": QUERY_ID, "doc_id": DOC_ID, "score": SCORE, "rank": RANK, "tag": TAG}

# Columns that say nothing here and are passed over without a word.
SILENT = frozenset({"q0", "iter", "iteration", "query", "query_text"})
