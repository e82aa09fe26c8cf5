"""Labels and runs of a tool call: by name from the server, or from files as ``file:PATH``."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from assay.mcp.connections import Connections

if TYPE_CHECKING:
    from assay.client.client import Client
    from assay.core.qrels import Qrels
    from assay.core.read_report import Report
    from assay.formats.trec_run import RunFile

FILE = "file:"


def is_file(name: str) -> bool:
    """Return whether a name stands for a file and not for an object of the server.

    Examples
    --------
    >>> is_file("file:neural.run"), is_file("neural")
    (True, False)
    """
    return name.startswith(FILE)


@dataclass(frozen=True)
class Labels:
    """Labels, with the snapshot that they come from if it is one of the server."""

    qrels: Qrels
    report: Report
    snapshot: dict[str, Any] | None

    def about(self) -> dict[str, Any]:
        """Return the source and size of the labels, and whether a machine gave them."""
        name = {"snapshot": self.snapshot["name"]} if self.snapshot else {"file": Path(self.report.path).name}
        machine = {"machine": self.qrels.machine.judge} if self.qrels.machine else {}
        return name | machine | {"queries": self.qrels.queries, "judgments": len(self.qrels)}


class Inputs:
    """The labels and runs of one call; what is pulled from the server is deleted afterwards.

    Nothing is kept between calls, because the next caller may have fewer rights.
    """

    def __init__(self, connections: Connections, collection: str = "") -> None:
        self._connections, self._collection = connections, collection
        self._stack = ExitStack()
        self._client: Client | None = None

    def __enter__(self) -> Inputs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def client(self) -> Client:
        """Return the client of the call."""
        if self._client is None:
            self._client = self._stack.enter_context(self._connections.client(self._collection))
        return self._client

    def labels(self, name: str) -> Labels:
        """Return labels."""
        from assay.formats.qrels_and_runs import load_labels

        if is_file(name):
            return Labels(*load_labels(str(self.file(name))), None)
        folder, snapshot = self.client.download_snapshot(name, self._temporary())
        return Labels(*load_labels(str(folder / "qrels.txt")), snapshot)

    def runs(self, names: Sequence[str]) -> list[RunFile]:
        """Return runs with distinct names."""
        from assay.core.run import run_names
        from assay.formats.qrels_and_runs import open_run

        files = [name.removeprefix(FILE) for name in names if is_file(name)]
        taken = [name for name in names if not is_file(name)]
        short = dict(zip(files, run_names(files), strict=True))
        opened = []
        for name in names:
            if is_file(name):
                path, file = self.file(name), name.removeprefix(FILE)
                opened.append(open_run(path, file, name if short[file] in taken else short[file]))
                continue
            path = self._temporary() / "run"
            self.client.download_run(name, path)
            opened.append(open_run(path, name, name, "trec-run"))
        return opened

    def file(self, name: str) -> Path:
        """Return the path of a file, with or without ``file:`` before it."""
        return self._connections.file(name.removeprefix(FILE))

    def _temporary(self) -> Path:
        return Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-mcp-")))
