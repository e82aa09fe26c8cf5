"""File formats that Assay reads and writes, and detection of a file's format.

Each format has one file, with reader and writer together, and one line in the table below.
"""

from __future__ import annotations

from judgments.core.family import Family
from judgments.formats.declaration import Format
from judgments.formats.sniffing import sniff

__all__ = ["FORMATS", "Format", "sniff"]

FORMATS: Family[Format] = Family(
    "format",
    {
        "trec-qrels": "judgments.formats.trec_qrels:FORMAT",
        "judgment-list": "judgments.formats.judgment_list:FORMAT",
        "beir-qrels": "judgments.formats.beir_qrels:FORMAT",
        "qrels-json": "judgments.formats.qrels_json:FORMAT",
        "qrels-jsonl": "judgments.formats.qrels_jsonl:FORMAT",
        "qrels-csv": "judgments.formats.qrels_csv:FORMAT",
        "qrels-parquet": "judgments.formats.qrels_parquet:FORMAT",
        "trec-run": "judgments.formats.trec_run:FORMAT",
        "trec-subtopic-qrels": "judgments.formats.trec_subtopic_qrels:FORMAT",
        "run-json": "judgments.formats.run_json:FORMAT",
        "run-jsonl": "judgments.formats.run_jsonl:FORMAT",
        "run-csv": "judgments.formats.run_csv:FORMAT",
        "msmarco-run": "judgments.formats.msmarco_run:FORMAT",
        "run-parquet": "judgments.formats.run_parquet:FORMAT",
        "documents-jsonl": "judgments.formats.documents_jsonl:FORMAT",
        "documents-csv": "judgments.formats.documents_csv:FORMAT",
        "queries-csv": "judgments.formats.queries_csv:FORMAT",
        "queries-jsonl": "judgments.formats.queries_jsonl:FORMAT",
        "queries-tsv": "judgments.formats.queries_tsv:FORMAT",
        "query-log-csv": "judgments.formats.query_log_csv:FORMAT",
        "query-log-jsonl": "judgments.formats.query_log_jsonl:FORMAT",
        "query-log-ubi": "judgments.formats.query_log_ubi:FORMAT",
        "click-log-csv": "judgments.formats.click_log_csv:FORMAT",
        "click-log-jsonl": "judgments.formats.click_log_jsonl:FORMAT",
        "click-log-ubi": "judgments.formats.click_log_ubi:FORMAT",
        "ratings-csv": "judgments.formats.ratings_csv:FORMAT",
        "pairs-csv": "judgments.formats.pairs_csv:FORMAT",
        "pairs-jsonl": "judgments.formats.pairs_jsonl:FORMAT",
        "labels-jsonl": "judgments.formats.labels_jsonl:FORMAT",
        "battles-jsonl": "judgments.formats.battles_jsonl:FORMAT",
        "scores-jsonl": "judgments.formats.scores_jsonl:FORMAT",
        "samples-jsonl": "assay.rag.samples_jsonl:FORMAT",
        "outputs-jsonl": "assay.rag.outputs_jsonl:FORMAT",
        "zbench-dataset": "judgments.formats.zbench_dataset:FORMAT",
        "zbench-annotated": "judgments.formats.zbench_annotated:FORMAT",
        "zbench-ai-scores": "judgments.formats.zbench_ai_scores:FORMAT",
        "document-hashes-csv": "judgments.formats.document_hashes_csv:FORMAT",
        "manifest": "judgments.formats.manifest:FORMAT",
    },
    group="assay.formats",
)
