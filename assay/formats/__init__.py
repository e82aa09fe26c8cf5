"""File formats that Assay reads and writes, and detection of a file's format.

Each format has a file with its reader and writer, and a line in the table below.
"""

from __future__ import annotations

from assay.core.registry import Family
from assay.formats.detection import sniff
from assay.formats.format import Format

__all__ = ["FORMATS", "Format", "sniff"]

FORMATS: Family[Format] = Family(
    "format",
    {
        "trec-qrels": "assay.formats.trec_qrels:FORMAT",
        "judgment-list": "assay.formats.judgment_list:FORMAT",
        "beir-qrels": "assay.formats.pair_files:BEIR_QRELS",
        "qrels-json": "assay.formats.pair_files:QRELS_JSON",
        "qrels-jsonl": "assay.formats.pair_files:QRELS_JSONL",
        "qrels-csv": "assay.formats.pair_files:QRELS_CSV",
        "qrels-parquet": "assay.formats.pair_files:QRELS_PARQUET",
        "trec-run": "assay.formats.trec_run:FORMAT",
        "trec-subtopic-qrels": "assay.formats.trec_qrels:SUBTOPIC_FORMAT",
        "run-json": "assay.formats.pair_files:RUN_JSON",
        "run-jsonl": "assay.formats.pair_files:RUN_JSONL",
        "run-csv": "assay.formats.pair_files:RUN_CSV",
        "msmarco-run": "assay.formats.pair_files:MSMARCO_RUN",
        "run-parquet": "assay.formats.pair_files:RUN_PARQUET",
        "documents-jsonl": "assay.formats.documents:JSONL",
        "documents-csv": "assay.formats.documents:CSV",
        "documents-parquet": "assay.formats.documents:PARQUET",
        "queries-csv": "assay.formats.queries:CSV",
        "queries-jsonl": "assay.formats.queries:JSONL",
        "queries-tsv": "assay.formats.queries:TSV",
        "queries-parquet": "assay.formats.queries:PARQUET",
        "query-log-csv": "assay.formats.query_log_csv:FORMAT",
        "query-log-jsonl": "assay.formats.query_log_jsonl:FORMAT",
        "query-log-ubi": "assay.formats.query_log_ubi:FORMAT",
        "click-log-csv": "assay.formats.click_logs:CSV",
        "click-log-jsonl": "assay.formats.click_logs:JSONL",
        "click-log-ubi": "assay.formats.click_log_ubi:FORMAT",
        "ratings-csv": "assay.formats.ratings_csv:FORMAT",
        "ratings-xlsx": "assay.formats.ratings_xlsx:FORMAT",
        "quepid-book": "assay.formats.quepid.book_json:FORMAT",
        "quepid-book-csv": "assay.formats.quepid.csv_files:BOOK_FORMAT",
        "quepid-basic-csv": "assay.formats.quepid.csv_files:BASIC_FORMAT",
        "quepid-needs-csv": "assay.formats.quepid.csv_files:NEEDS_FORMAT",
        "quepid-case-csv": "assay.formats.quepid.case_csv:CASE_FORMAT",
        "quepid-detailed-csv": "assay.formats.quepid.case_csv:DETAILED_FORMAT",
        "quepid-snapshot-csv": "assay.formats.quepid.case_csv:SNAPSHOT_FORMAT",
        "quepid-ratings-json": "assay.formats.quepid.case_json:RATINGS_FORMAT",
        "quepid-case": "assay.formats.quepid.case_json:CASE_FORMAT",
        "quepid-case-queries": "assay.formats.quepid.case_json:QUERIES_FORMAT",
        "quaerite-csv": "assay.formats.quepid.csv_files:QUAERITE_FORMAT",
        "pairs-csv": "assay.formats.pairs_csv:FORMAT",
        "pairs-jsonl": "assay.formats.pairs_jsonl:FORMAT",
        "labels-jsonl": "assay.formats.labels_jsonl:FORMAT",
        "battles-jsonl": "assay.formats.battles_jsonl:FORMAT",
        "scores-jsonl": "assay.formats.scores_jsonl:FORMAT",
        "samples-jsonl": "assay.rag.samples_jsonl:FORMAT",
        "outputs-jsonl": "assay.rag.outputs_jsonl:FORMAT",
        "zbench-dataset": "assay.formats.zbench_dataset:FORMAT",
        "zbench-annotated": "assay.formats.zbench_dataset:ANNOTATED_FORMAT",
        "zbench-ai-scores": "assay.formats.zbench_ai_scores:FORMAT",
        "trec-topics": "assay.formats.trec_topics:SGML_FORMAT",
        "trec-topics-xml": "assay.formats.trec_topics:XML_FORMAT",
        "ltr": "assay.formats.learning_to_rank:FORMAT",
        "rre": "assay.formats.rre:FORMAT",
        "quepid-rre": "assay.formats.rre:QUEPID_FORMAT",
        "srw-judgments": "assay.formats.opensearch.workbench:JUDGMENTS_FORMAT",
        "srw-query-set": "assay.formats.opensearch.workbench:QUERY_SET_FORMAT",
        "srw-queries": "assay.formats.opensearch.workbench:QUERIES_FORMAT",
        "rank-eval-request": "assay.formats.opensearch.rank_eval:REQUEST_FORMAT",
        "rank-eval-reply": "assay.formats.opensearch.rank_eval:REPLY_FORMAT",
        "rank-eval-unrated": "assay.formats.opensearch.rank_eval:UNRATED_FORMAT",
        "document-hashes-csv": "assay.formats.document_hashes_csv:FORMAT",
        "manifest": "assay.formats.manifest:FORMAT",
    },
    group="assay.formats",
)
