"""Cells of Assay's own CSV files: escape texts that a spreadsheet would run as a formula.

Spreadsheets run a cell that begins with ``= + - @`` as a formula, and so do some with the full-width forms of these
characters (U+FF1D, U+FF0B, U+FF0D, U+FF20). Such a cell gets one apostrophe in front when it
is written and loses one when it is read, which is reversible for every text, including one that begins with ``'=``.
"""

from __future__ import annotations

import re

# The beginning of an escaped text; polars also uses this expression.
DANGEROUS = r"^'*[=+\-@＝＋－＠\t\r]"
_DANGEROUS = re.compile(DANGEROUS)
_PLAIN = re.compile(r"[^'=+\-@＝＋－＠\t\r\n,\"][^,\"\n\r]*")
_QUOTED = re.compile(r'[,"\n\r]')
_ESCAPED = re.compile(r"'+[=+\-@＝＋－＠\t\r]")


def escape(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet might run.

    Examples
    --------
    >>> escape("=sum of shoes"), escape("shoes"), escape("'=x")
    ("'=sum of shoes", 'shoes', "''=x")
    """
    return f"'{text}" if _DANGEROUS.match(text) else text


def unescape(text: str) -> str:
    """Remove the apostrophe added by `escape`.

    Examples
    --------
    >>> unescape("'=sum of shoes"), unescape("'tis"), unescape("''=x")
    ('=sum of shoes', "'tis", "'=x")
    """
    return text[1:] if _ESCAPED.match(text) else text


def csv_cell(text: str) -> str:
    """Return an escaped text as `csv_row` writes it.

    Examples
    --------
    >>> csv_cell("d1"), csv_cell("=sum"), csv_cell("a, b")
    ('d1', "'=sum", '"a, b"')
    """
    return text if _PLAIN.fullmatch(text) else quoted(escape(text))


def csv_row(cells: list[str]) -> str:
    """Return a line of RFC 4180 with LF; cells are quoted only if necessary, empty cells never.

    Examples
    --------
    >>> csv_row(["q1", "", 'a "b", c'])
    'q1,,"a ""b"", c"\\n'
    """
    return ",".join(map(quoted, cells)) + "\n"


def quoted(cell: str) -> str:
    """Return a cell in quotation marks if it needs them.

    Examples
    --------
    >>> quoted("a"), quoted("a, b")
    ('a', '"a, b"')
    """
    if _QUOTED.search(cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell
