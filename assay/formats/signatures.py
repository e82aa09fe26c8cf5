"""Patterns that only the files of one other tool match at their beginning."""

from __future__ import annotations

import re

_LABEL_STUDIO = re.compile(
    r'\[\s*\{(?=.*"data"\s*:\s*\{)(?=.*"(?:annotations|completions|predictions)"\s*:\s*\[)', re.S
)
_ARGILLA = re.compile(r'\[\s*\{(?=.*"fields"\s*:\s*\{)(?=.*"(?:responses|suggestions)"\s*:\s*\{)', re.S)
_LARA = re.compile(r"(?=[^\r\n]*\bannotation\b)[^\r\n]*\bprob_(?:\d+|yes|no)\b", re.I)
_CASE = re.compile(r'\{\s*(?:"case"\s*:\s*\{\s*)?"case_name"\s*:')

# Format names with patterns for the decoded text without leading white space, checked before all other formats. A
# pattern must not match a file of another format; text beyond the first 64 KiB is not available.
SIGNATURES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("quepid-book", re.compile(r'\{(?=[^{]{0,2000}"(?:scale|scorer|name)"\s*:)(?=.*"query_doc_pairs"\s*:)', re.S)),
    # One file with ratings of people and labels of models: the kind decides.
    ("label-studio-json", _LABEL_STUDIO),
    ("label-studio-predictions-json", _LABEL_STUDIO),
    ("argilla-json", _ARGILLA),
    ("argilla-suggestions-json", _ARGILLA),
    (
        "label-studio-min-json",
        re.compile(r'\[\s*\{(?=.*"annotation_id"\s*:)(?=.*"annotator"\s*:)(?=.*"lead_time"\s*:)', re.S),
    ),
    ("label-studio-csv", re.compile(r"(?=[^\r\n]*\bannotation_id\b)(?=[^\r\n]*\bannotator\b)[^\r\n]*\blead_time\b")),
    ("lara-csv", _LARA),
    ("lara-probabilities-csv", _LARA),
    ("umbrela-requests-jsonl", re.compile(r'\{(?=.{0,5000}"candidates"\s*:\s*\[)\s*"(?:query|candidates)"\s*:', re.S)),
    ("nugget-assignments-jsonl", re.compile(r'\{(?=[^\n]*"nuggets"\s*:)(?=[^\n]*"(?:assignment|docid|run_id)"\s*:)')),
    ("nuggets-jsonl", re.compile(r'\{[^\n]*"nuggets"\s*:')),
    (
        "srw-experiment",
        re.compile(
            r'[\[{](?=.*"searchConfiguration(?:Id|List)"\s*:)(?=.*"(?:docIds|documentIds|pairwiseComparison|evaluationId)"\s*:)',
            re.S,
        ),
    ),
    ("srw-judgments", re.compile(r'[\[{].*"judgmentRatings"\s*:', re.S)),
    ("srw-query-set", re.compile(r'\{.*"querySetQueries"\s*:', re.S)),
    ("srw-queries", re.compile(r'\{\s*"queryText"\s*:')),
    ("rank-eval-request", re.compile(r'\{\s*"(?:requests|metric|templates)"\s*:.*"ratings"\s*:\s*\[', re.S)),
    ("rank-eval-reply", re.compile(r'\{.*"details"\s*:\s*\{.*"hits"\s*:\s*\[\s*\{\s*"hit"', re.S)),
    ("rank-eval-unrated", re.compile(r'\{.*"details"\s*:\s*\{.*"(?:unrated|unknown)_docs"\s*:', re.S)),
    (
        "trec-topics-xml",
        re.compile(r"(?:<\?(?:(?!\?>).)*\?>\s*|<!--(?:(?!-->).)*-->\s*)*<topics?\s*[\s>]", re.S | re.I),
    ),
    ("trec-topics", re.compile(r"<top(?:ic)?>", re.I)),
    ("ltr", re.compile(r"(?:#[^\n]*\n\s*)*[+-]?[\d.]+\s+qid:\S+")),
    # Quepid's shape lists the documents of each grade.
    ("quepid-rre", re.compile(r'\{(?!.*"topics"\s*:).*"relevant_documents"\s*:\s*\{\s*"[^"]*"\s*:\s*\[', re.S)),
    ("rre", re.compile(r'\{.*"relevant_documents"\s*:\s*\{', re.S)),
    ("quepid-basic-csv", re.compile(r'"?query"?,"?docid"?,"?rating"?\s*(?:[\r\n]|$)', re.I)),
    (
        "quaerite-csv",
        re.compile(
            r"(?=[^\r\n]*\bquery\b)(?!query_id|query,docid)(?=[^\r\n]*\bdocid\b)rating,[\w,]+\s*(?:[\r\n]|$)", re.I
        ),
    ),
    ("quepid-needs-csv", re.compile(r'"?query"?,"?information_need"?\s*(?:[\r\n]|$)', re.I)),
    (
        "quepid-ratings-json",
        re.compile(r'\{\s*"queries"\s*:\s*\[\s*(?:\]|\{\s*"query"\s*:\s*"[^{]*"ratings"\s*:\s*\{)', re.S),
    ),
    # One file with labels and queries: the kind decides.
    ("quepid-case", _CASE),
    ("quepid-case-queries", _CASE),
    ("quepid-detailed-csv", re.compile(r"Team Name,Case Name,Case ID,Query Text,Doc ID,", re.I)),
    ("quepid-case-csv", re.compile(r"Team Name,Case Name,Case ID,Query Text,(?!Doc ID,)", re.I)),
    ("quepid-snapshot-csv", re.compile(r"Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,", re.I)),
    # One column for each rater, whose names may be any.
    (
        "quepid-book-csv",
        re.compile(
            r'"?query(?:_text)?"?,"?doc_?id"?,(?!.*\b(?:grade|rating|label|relevance|rel|score|rank|position|clicks|'
            r"clicked|impressions|rater|rater_id|judge|state|outcome|narrative|expected|count|runs)\b)[^\r\n]+(?:[\r\n]|$)",
            re.I,
        ),
    ),
)
