"""Which file formats does Assay know, and which one is this file in?

One file for each format, reader and writer together, and one line for each in the table below.
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
        "trec-run": "judgments.formats.trec_run:FORMAT",
    },
    group="assay.formats",
)
