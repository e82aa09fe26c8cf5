"""Base of results: as rows, as data frames and as a table in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

# Maximum number of rows of a result in a notebook.
MOST_SHOWN = 50


class Result:
    """A result that lists its numbers as `to_rows`."""

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dict per row; all rows have the same keys."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the result as the command's JSON."""
        raise NotImplementedError

    def to_polars(self) -> Any:
        """Return `to_rows` as a polars data frame."""
        import polars

        return polars.DataFrame(self.to_rows(), infer_schema_length=None)

    def to_pandas(self) -> Any:
        """Return `to_rows` as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self.to_rows())

    def _repr_html_(self) -> str:
        rows = self.to_rows()
        if not rows:
            return f"<p>{type(self).__name__} without rows</p>"
        head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row.values()) + "</tr>"
            for row in rows[:MOST_SHOWN]
        )
        more = f"<p>{len(rows) - MOST_SHOWN} more rows</p>" if len(rows) > MOST_SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return escape(f"{value:.4f}" if isinstance(value, float) else str(value))
