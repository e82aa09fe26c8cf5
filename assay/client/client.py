"""Python client of an Assay server."""

from __future__ import annotations

import io
import json
import tempfile
import time
import uuid as uuid_module
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from assay.client.connection import Connection, Patience, ServerFault
from assay.client.credentials import login_for
from assay.client.uploads import Outcome, send
from assay.core.errors import AssayError, NotFound, NotValid

if TYPE_CHECKING:
    from assay.core.qrels import Qrels
    from assay.core.run import Run

NEWEST = "newest"
# What `push` accepts, with the path of the API and the kind of upload.
KINDS = {
    "run": ("runs/", "runs"),
    "samples": ("rag/samples/", "samples"),
    "outputs": ("rag/outputs/", "outputs"),
    "documents": ("documents/", "documents"),
    "queries": ("queries/", "queries"),
    "labels": ("qrels/", "qrels"),
    "bundle": ("bundles/", "bundles"),
}
# Seconds between two looks at a job, at first and at most.
FIRST_LOOK, LAST_LOOK = 0.2, 2.0
BUNDLE = "manifest.json"


class Client:
    """Client of a server for one collection.

    Parameters
    ----------
    url : str, optional
        Address of the server; by default ``ASSAY_SERVER``, then the server of the last ``assay login``.
    token : str, optional
        An API token; by default ``ASSAY_TOKEN``, then the token that ``assay login`` stored.
    collection : str, optional
        Slug of the collection; by default ``ASSAY_COLLECTION``, then that of the login, then the only collection.
    patience : Patience, optional
        Limits of retries.
    notice : callable, optional
        Receives a sentence before each retry.

    Raises
    ------
    NotValid
        When the server or the token is missing or malformed.

    Examples
    --------
    >>> Client("https://assay.example.com/", "assay_secret", collection="shop")
    Client('https://assay.example.com', collection='shop')
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        collection: str | None = None,
        patience: Patience | None = None,
        notice: Callable[[str], None] = lambda text: None,
    ) -> None:
        login = login_for(url or "", token or "", collection or "")
        self.connection = Connection(login.url, login.token, patience, notice)
        self._collection = login.collection

    def __repr__(self) -> str:
        return f"Client({self.connection.url!r}, collection={self._collection!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.connection.close()

    @property
    def collection(self) -> str:
        """Return the slug of the collection; the only one of the token's user if none was given."""
        if not self._collection:
            slugs = [row["slug"] for row in self.collections()]
            if len(slugs) != 1:
                which = f"your collections: {', '.join(slugs[:20])}" if slugs else "you are a member of no collection"
                raise NotValid(f"no collection was given; use --collection SLUG ({which})")
            self._collection = slugs[0]
        return self._collection

    def collections(self) -> list[dict[str, Any]]:
        """Return the collections of the token's user."""
        return self._rows("collections/")

    def snapshots(self) -> list[dict[str, Any]]:
        """Return the snapshots with labels of documents, newest first."""
        return self._rows(self.path("snapshots/"), labels="documents")

    def runs(self) -> list[dict[str, Any]]:
        """Return the runs."""
        return self._rows(self.path("runs/"))

    def snapshot(self, name: str = NEWEST) -> dict[str, Any]:
        """Return the description of a snapshot by name or id.

        Raises
        ------
        NotFound
            When the collection has no such snapshot.
        """
        query = {} if name == NEWEST or _is_id(name) else {"name": name}
        rows = self._rows(self.path("snapshots/"), most=1000 if _is_id(name) else 1, labels="documents", **query)
        matching = [row for row in rows if not _is_id(name) or row["id"] == name]
        if not matching:
            raise NotFound(
                f"{self.collection} has no snapshot"
                + ("; freeze one first" if name == NEWEST else f" {name!r}; assay pull snapshot takes a name or newest")
            )
        return matching[0]

    def run(self, name: str) -> dict[str, Any]:
        """Return the description of a run by name.

        Raises
        ------
        NotFound
            When the collection has no such run.
        """
        matching = self._rows(self.path("runs/"), most=1, name=name)
        if not matching:
            raise NotFound(f"{self.collection} has no run named {name!r}")
        return matching[0]

    def download_snapshot(
        self, name: str = NEWEST, folder: str | Path = ".", progress: Callable[[int], None] = lambda done: None
    ) -> tuple[Path, dict[str, Any]]:
        """Download the files of a snapshot, and check them against their manifest.

        Parameters
        ----------
        name : str
            Name or id of the snapshot, or ``newest``.
        folder : str or Path
            Folder for the files. A folder that already contains the snapshot is not downloaded again.
        progress : callable
            Receives the number of bytes downloaded so far.

        Returns
        -------
        tuple of Path and dict
            The folder, and the description of the snapshot.
        """
        from assay.formats.manifest import contents, verify

        snapshot, target = self.snapshot(name), Path(folder)
        if (target / BUNDLE).exists() and _holds(target, snapshot):
            return target, snapshot
        archive = target / f".{snapshot['id']}.zip"
        self.connection.download(f"snapshots/{snapshot['id']}/export/bundle/", archive, progress)
        try:
            if not verify(archive).ok:
                raise ServerFault(f"snapshot {snapshot['name']} arrived damaged; pull it again")
            for path, read in contents(archive).items():
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                (target / path).write_bytes(read())
        finally:
            archive.unlink(missing_ok=True)
        return target, snapshot

    def pull_snapshot(self, name: str = NEWEST) -> Qrels:
        """Return the labels of a snapshot.

        Parameters
        ----------
        name : str
            Name or id of the snapshot, or ``newest``.
        """
        from assay.formats.qrels_and_runs import read_qrels

        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            return read_qrels(self.download_snapshot(name, folder)[0] / "qrels.txt")

    def download_run(
        self, name: str, target: str | Path, progress: Callable[[int], None] = lambda done: None
    ) -> dict[str, Any]:
        """Download a run as a TREC file, and return its description."""
        run, path = self.run(name), Path(target)
        self.connection.download(self.path(f"runs/{run['id']}/export/trec-run/"), path, progress)
        with path.open("rb") as file:
            rows = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
        if rows != run["rows"]:
            path.unlink()
            raise ServerFault(f"run {name} arrived damaged: {rows:,} of {run['rows']:,} rows; pull it again")
        return run

    def pull_run(self, name: str) -> Run:
        """Return a run."""
        from assay.formats.qrels_and_runs import read_run

        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            path = Path(folder) / "run"
            self.download_run(name, path)
            return read_run(path, name, format="trec-run")

    def push(
        self,
        kind: str,
        file: str | Path,
        *,
        wait: bool = True,
        progress: Callable[[int], None] = lambda done: None,
        **options: Any,
    ) -> Outcome:
        """Send a file in chunks and store it; an interrupted upload continues, and a stored file is not sent again.

        Parameters
        ----------
        kind : str
            ``run``, ``samples``, ``outputs``, ``documents``, ``queries``, ``labels`` or ``bundle``.
        file : str or Path
            The file, in any format of its kind; or the folder of a bundle.
        wait : bool
            Whether to wait until a large file is stored.
        progress : callable
            Receives the number of bytes sent so far.
        **options
            Fields of the import, such as ``name``, ``format`` and ``accept_errors`` (docs/api.md).

        Raises
        ------
        Refused
            When the server cannot use the file; ``report`` lists its issues.
        """
        if kind not in KINDS:
            raise NotValid(f"unknown kind {kind!r}; known: {', '.join(KINDS)}")
        path, of = KINDS[kind]
        given = {name: value for name, value in options.items() if value not in (None, "", False)}
        with _packed(Path(file)) if kind == "bundle" else nullcontext(Path(file)) as one:
            outcome = send(self.connection, self.path("uploads/"), self.path(path), of, one, given, progress)
        if outcome.job and wait:
            job = self.wait(outcome.job)
            return Outcome(stored=job["result"] or {}, job=outcome.job)
        return outcome

    def push_run(self, run: Any, name: str | None = None, **options: Any) -> dict[str, Any]:
        """Store a run, and return its id, name and number of rows.

        Parameters
        ----------
        run : path, dict, DataFrame or Run
            Anything that `assay.read_run` reads.
        name : str, optional
            Name of the run; by default derived from the file's name.
        **options
            Further fields of the import, such as ``description``.
        """
        if isinstance(run, str | Path):
            return self.push("run", run, name=name, **options).stored
        from assay.formats.qrels_and_runs import read_run
        from assay.formats.row_types import RunRow
        from assay.formats.trec_run import write

        table = read_run(run, name or "")
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            path = Path(folder) / f"{table.name}.run".replace("/", "-")
            rows = [
                RunRow(query_id, doc_id, score, rank)
                for query_id, documents in table.to_dict().items()
                for rank, (doc_id, score) in enumerate(documents.items(), 1)
            ]
            stream = io.BytesIO()
            write(rows, stream)
            path.write_bytes(stream.getvalue())
            return self.push("run", path, name=table.name, **options).stored

    def scores(
        self, run: str | Mapping[str, Any], snapshot: str = NEWEST, metrics: Sequence[str] | None = None
    ) -> dict[str, dict[str, Any]]:
        """Compute the scores of a run on a snapshot, and wait for them.

        Parameters
        ----------
        run : str or dict
            Name of the run, or what `push_run` returned.
        snapshot : str
            Name or id of the snapshot, or ``newest``.
        metrics : sequence of str, optional
            Metrics; by default those of ``assay evaluate``.

        Returns
        -------
        dict
            By metric: ``mean``, ``queries``, ``low``, ``high`` and ``weighted``, as ``assay evaluate --format json``.
        """
        of = self.run(run) if isinstance(run, str) else run
        scored = self.score([of], snapshot, metrics)
        values: dict[str, dict[str, Any]] = next(row["metrics"] for row in scored["runs"] if row["name"] == of["name"])
        return values if metrics is None else {name: values[name] for name in values if name in set(metrics)}

    def score(
        self, runs: Sequence[Mapping[str, Any]], snapshot: str = NEWEST, metrics: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Compute the scores of several runs on a snapshot, and return the server's whole report.

        Parameters
        ----------
        runs : sequence of dict
            What `run` or `push_run` returned.
        snapshot : str
            Name or id of the snapshot, or ``newest``.
        metrics : sequence of str, optional
            Metrics; by default those of ``assay evaluate``.
        """
        on = self.snapshot(snapshot)
        body: dict[str, Any] = {"snapshot": on["id"], "runs": [run["id"] for run in runs]}
        if metrics is not None:
            body["metrics"] = list(metrics)
        scored: dict[str, Any] = self.connection.json("POST", self.path("scores/"), body)
        if "job" in scored:
            self.wait(scored["job"])
            (scored,) = self._rows(self.path("scores/"), most=1, snapshot=on["id"])
        return scored

    def push_verdict(self, verdict: Mapping[str, Any]) -> dict[str, Any]:
        """Record the verdict of a gate.

        Parameters
        ----------
        verdict : dict
            The content of ``assay gate --format json``, with ``snapshot`` (its id), and optionally ``label`` and
            ``link``, which name the change that was checked.
        """
        body = {"client_id": str(uuid_module.uuid4()), **verdict}
        recorded: dict[str, Any] = self.connection.json("POST", self.path("gates/"), body)
        return recorded

    def wait(self, job: str) -> dict[str, Any]:
        """Wait for a job, and return it.

        Raises
        ------
        AssayError
            When the job failed, was canceled, or takes longer than the patience allows.
        """
        pause, began = FIRST_LOOK, time.monotonic()
        while True:
            row: dict[str, Any] = self.connection.get(f"jobs/{quote(job, safe='')}/")
            if row["state"] not in ("queued", "running"):
                break
            if time.monotonic() - began > self.connection.patience.longest_job:
                raise ServerFault(f"{row['title']}: the job {job} is still {row['state']}; ask again later")
            time.sleep(pause)
            pause = min(LAST_LOOK, 1.2 * pause)
        if row["state"] != "done":
            raise AssayError(f"{row['title']}: {row['error'] or row['state']}")
        return row

    def path(self, rest: str) -> str:
        """Return a path of the API below the collection."""
        return f"collections/{quote(self.collection, safe='')}/{rest}"

    def _rows(self, path: str, most: int | None = None, **query: str) -> list[dict[str, Any]]:
        """Return the rows of a list, page by page."""
        rows: list[dict[str, Any]] = []
        number = 1
        while True:
            sizes = {"page_size": str(most)} if most else {}
            page = self.connection.get(path, **query, **sizes, page=str(number))
            rows += page["results"]
            if page["next"] is None or (most is not None and len(rows) >= most):
                return rows
            number += 1


@contextmanager
def _packed(bundle: Path) -> Iterator[Path]:
    """Yield a bundle as a zip file; a folder, as `download_snapshot` writes it, becomes a temporary one."""
    if not bundle.is_dir():
        yield bundle
        return
    from assay.formats.manifest import contents, write_zip

    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        path = Path(folder) / f"{bundle.resolve().name}.zip"
        with path.open("wb") as stream:
            write_zip({name: read() for name, read in contents(bundle).items()}, stream)
        yield path


def _is_id(name: str) -> bool:
    try:
        return str(uuid_module.UUID(name)) == name
    except ValueError:
        return False


def _holds(folder: Path, snapshot: Mapping[str, Any]) -> bool:
    """Return whether a folder contains the snapshot's files, unchanged."""
    from assay.formats.manifest import verify

    try:
        manifest = json.loads((folder / BUNDLE).read_bytes())
        same = manifest.get("content_sha256") == snapshot["content_sha256"] is not None
        return bool(same and manifest.get("name", snapshot["name"]) == snapshot["name"] and verify(folder).ok)
    except (ValueError, AttributeError, OSError, NotValid):
        return False
