"""Plain text tables with left-aligned names and right-aligned numbers."""

from __future__ import annotations

from collections.abc import Sequence


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Align the cells of a table.

    Examples
    --------
    >>> print(text_table(["run", "AP"], [["bm25", "0.5000"]]), end="")
    run       AP
    bm25  0.5000
    """
    table = [list(header), *map(list, rows)]
    widths = [max(len(row[at]) for row in table) for at in range(len(header))]
    return "".join(
        "  ".join(
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        + "\n"
        for row in table
    )


def counted(number: int, one: str, many: str = "") -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "query", "queries"), counted(2, "pair")
    ('1 query', '2 pairs')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with a fixed number of decimals, or ``-`` if undefined.

    Examples
    --------
    >>> number(0.5), number(None)
    ('0.5000', '-')
    """
    return "-" if value is None else f"{value:.{digits}f}"
