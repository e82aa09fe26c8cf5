"""Runs of a collection: check, store, read, rename, and set as baseline."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction

from assay.core.errors import AssayError, Conflict
from assay.core.run import run_names, stem
from assay.formats.row_types import RunRow
from assay.llm.judges.model_families import FAMILIES, LONGEST, NO_MODEL, System, declared_family
from judgments.imports.kinds import Checked, Finding, ImportKind, stored_as
from judgments.imports.queries import with_query_ids
from judgments.models import Collection, Upload, User, audit
from judgments.models.fields import checked_name
from judgments.web.access import STAFF
from pooling.hooks import RUN_LISTENERS
from pooling.models import Run

if TYPE_CHECKING:
    from assay.core.run import Run as RankedRun
    from assay.formats.stored_run import Figures, RunTable
    from assay.formats.trec_run import RunFile

HELP = (
    f"The family of the language model in this system: {', '.join(FAMILIES)}, or another vendor’s name; {NO_MODEL} if "
    "it uses none. Leave empty to derive the family from the run’s name."
)


@transaction.atomic
def declare(run: Run, *, family: str, actor: User) -> None:
    """Declare the family of the system's language model, so that Assay can warn about judges of the same family."""
    declared = declared_family(family)
    if declared == run.generator_family:
        return
    before, run.generator_family = run.generator_family, declared
    run.save(update_fields=["generator_family"])
    sentence = f"{actor} declared the model family of run {run}: {declared or 'unknown'}"
    names = {"before": before, "after": declared}
    audit.record("run_families.declare", sentence, actor=actor, target=run, **names)


def systems(collection: Collection) -> list[System]:
    """Return the collection's runs in the format of `judgments.machines.judge_runs.judge_settings`."""
    rows = collection.runs.order_by("name").values_list("name", "generator_family", "description")
    return [System(*row) for row in rows]


def family_field() -> forms.CharField:
    """Return the form field of the model family."""
    label = "Language model family (optional)"
    return forms.CharField(label=label, required=False, max_length=LONGEST, help_text=HELP)


def questions(upload: Upload) -> dict[str, forms.Field]:
    """Return the form fields that a run upload needs before it is stored."""
    return {"generator_family": family_field()}


TOP = 10


def compact(rows: Sequence[RunRow]) -> RunTable | None:
    """Return the run as a table, unless its queries still need the ids of the collection."""
    from assay.formats.stored_run import RunTable

    return None if rows and rows[0].by_text else RunTable.of(rows)


def check(collection: Collection, rows: Sequence[RunRow], upload: Upload) -> Checked:
    """Compare a run with the collection; unknown queries and documents are reported, and stored unchanged."""
    from assay.formats.stored_run import RunTable
    from assay.formats.stored_run import figures as figures_of

    earlier = collection.runs.filter(sha256=upload.sha256).first()
    if earlier is not None:
        raise Conflict(f"{upload.filename} is already stored as the run {earlier}. Nothing was stored again.")
    # All rows of a file identify queries in the same way.
    rows, ambiguous = with_query_ids(collection, rows) if rows and rows[0].by_text else (rows, [])
    table = RunTable.of(rows)
    queries = set(collection.queries.values_list("query_id", flat=True))
    documents = set(collection.documents.filter(stub=False).values_list("doc_id", flat=True))
    findings = [*ambiguous]
    strange_queries, at = table.query_ids.unknown(queries)
    if strange_queries and queries:
        first = table[at]
        what = f"{strange_queries:,} queries that are not in this collection; the first is {first.query_id}"
        findings.append(
            _warning(
                first, "W57", what, "stored, not scored", "Import these queries if they belong to this collection."
            )
        )
    strange_documents, at = table.doc_ids.unknown(documents)
    if strange_documents and documents:
        first = table[at]
        what = f"{strange_documents:,} documents without content in this collection; the first is {first.doc_id}"
        findings.append(_warning(first, "W38", what, "stored; raters see no text", "Import these documents."))
    figures = figures_of(table.rows())
    if figures.mostly_tied:
        findings.append(_mostly_tied(figures))
    known = figures.queries - strange_queries
    return Checked(table, findings, health(figures, known, len(queries) - known))


def health(figures: Figures, known: int, left_out: int) -> dict[str, Any]:
    """Return rows, queries, depth, ties and ranks of a run for its import report."""
    return {
        "rows": figures.rows,
        "queries": figures.queries,
        "of them in this collection": known,
        "queries left out": left_out,
        "median depth": figures.median,
        "smallest depth": figures.smallest,
        "largest depth": figures.largest,
        "tied rows": figures.tied_rows,
        "queries with ties": figures.tied_queries,
        "rows with a rank": figures.ranked_rows,
        "ranks against scores": figures.against_rows,
        "queries with ranks against scores": figures.against_queries,
        "ties in another order by rank": figures.reordered_rows,
        "infinite scores": figures.infinite,
    }


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Store the run under a unique name."""
    if checked.stored is None:
        raise AssertionError("a run file is written before the run is stored")
    name = free_name(collection, str(options.get("name") or default_name(collection, upload.filename)))
    family = str(options.get("generator_family") or "")
    figures = checked.figures
    content_sha256, stored_sha256 = checked.hashes
    run = Run.objects.create(
        collection=collection,
        name=name,
        description=str(options.get("description") or "")[:300],
        generator_family=family and declared_family(family),
        filename=upload.filename,
        path=checked.stored[0],
        sha256=upload.sha256,
        content_sha256=content_sha256,
        stored_sha256=stored_sha256,
        rows=len(checked.rows),
        queries=figures["queries"],
        depth=figures["largest depth"],
        health=figures,
        report={"bins": upload.report.get("bins", {}), "codes": upload.report.get("codes", {})},
        created_by=actor,
    )
    announce(run, actor)
    return {"rows": len(checked.rows), "id": str(run.uuid), "name": name}


def prepare(checked: Checked, upload: Upload, *, progress: object = None) -> Checked:
    """Write the rows as Parquet before the transaction, because a large run takes long and would block writers."""
    from assay.formats.stored_run import write_stored

    body, content_sha256 = write_stored(checked.rows)
    written = default_storage.save(f"runs/{upload.uuid.hex}.parquet", ContentFile(body)), "parquet"
    return replace(checked, stored=written, hashes=(content_sha256, hashlib.sha256(body).hexdigest()))


def announce(run: Run, actor: User) -> None:
    """Notify upper apps about a new run after the transaction is committed."""
    for tell in RUN_LISTENERS:
        transaction.on_commit(partial(tell, run, actor))


def free_name(collection: Collection, wanted: str) -> str:
    """Return the wanted name if it is free."""
    name = checked_name(wanted.strip()[:120] or "run")
    if collection.runs.filter(name=name).exists():
        raise _taken(name)
    return name


def _taken(name: str) -> Conflict:
    return Conflict(f"Another run is already called {name}. Choose another name, for example {name}-2.")


def default_name(collection: Collection, filename: str) -> str:
    """Return the default name of a run, as ``assay evaluate`` would name it among the existing runs."""
    files = dict(collection.runs.values_list("name", "filename"))
    alike = [file for file in files.values() if stem(file) == stem(filename)]
    others = [name for name, file in files.items() if stem(file) != stem(filename)]
    return run_names([*alike, filename], others)[-1] or "run"


def default_names(collection: Collection, filenames: Sequence[str]) -> list[str]:
    """Return the default names of runs uploaded together, distinct from the existing runs."""
    others = list(collection.runs.values_list("name", flat=True))
    return run_names(list(filenames), others)


def ranked(run: Run, *, by: str = "score") -> RankedRun:
    """Return the run's ranked documents; cached, because pools and scores read the same runs repeatedly."""
    key = f"run:{by}:{run.sha256}:{run.path}"
    table = cache.get(key)
    if table is None:
        table = _by_rank(run) if by == "rank" else _by_score(run)
        if run.rows <= 200_000:
            cache.set(key, table, 600)
    return table.named(run.name)


def opened(run: Run) -> RunFile:
    """Return the run's file, for reading it completely or query by query."""
    try:
        with default_storage.open(run.path) as stored:
            body = stored.read()
    except FileNotFoundError as error:
        raise AssayError(f"The file of run {run} is missing in storage. Restore it from a backup.") from error
    if not run.stored_sha256:
        from assay.formats.qrels_and_runs import open_run

        return open_run(body, run.filename, run.name)
    if hashlib.sha256(body).hexdigest() != run.stored_sha256:
        raise AssayError(f"The file of run {run} has changed: its hash differs. Restore it from a backup.")
    from assay.formats.stored_run import StoredRun

    return StoredRun(body, run.name)


def _by_score(run: Run) -> RankedRun:
    return opened(run).whole()


def _by_rank(run: Run) -> RankedRun:
    """Return the run ordered by rank if the ranks add information without contradicting the scores."""
    file = opened(run)
    rows = file.rows()
    return rows.by_rank(run.name) if rows.ranks_agree() else file.whole()


@transaction.atomic
def rename(run: Run, *, name: str, actor: User) -> None:
    """Rename a run. Snapshots and pools refer to it by its hash."""
    if name.strip() == run.name:
        return
    before, run.name = run.name, free_name(run.collection, name)
    try:
        with transaction.atomic():
            run.save(update_fields=["name"])
    except IntegrityError as error:
        raise _taken(run.name) from error  # a concurrent request took the name
    sentence = f"{actor} renamed run {before} to {run.name}"
    names = {"before": before, "after": run.name}
    audit.record("runs.rename", sentence, actor=actor, target=run, **names)


@transaction.atomic
def set_baseline(collection: Collection, run: Run | None, *, actor: User) -> None:
    """Set the run that others are compared with; None removes the baseline."""
    # Locked, so that concurrent requests run one after the other.
    Collection.objects.select_for_update().get(pk=collection.pk)
    before = collection.runs.filter(baseline=True).first()
    if before == run:
        return
    collection.runs.filter(baseline=True).update(baseline=False)
    if run is not None:
        run.baseline = True
        run.save(update_fields=["baseline"])
    names = {"before": str(before) if before else None, "after": str(run) if run else None}
    sentence = f"{actor} made {run} the baseline" if run else f"{actor} removed the baseline {before}"
    audit.record("runs.set_baseline", sentence, actor=actor, collection=collection, target=run or before, **names)


def needed_by(run: Run) -> str:
    """Return why a run cannot be deleted: pools use it. Empty if it can."""
    pools = run.pools.count()
    return f"{pools} pool{' uses' if pools == 1 else 's use'} this run." if pools else ""


def _warning(row: RunRow, code: str, what: str, done: str, fix: str) -> Finding:
    return Finding(row.line, code, f"{row.query_id} Q0 {row.doc_id}", what, done, fix)


def _mostly_tied(figures: Figures) -> Finding:
    """An issue of the whole file: no single line is wrong, but its order is unlikely to be the system's."""
    what = f"{figures.tied_rows:,} of {figures.rows:,} rows share their score with another row of the same query"
    done = "stored; metrics order them by document id, descending, as trec_eval does"
    return Finding(None, "W58", "", what, done, "Export the scores with all digits.")


RUNS = ImportKind(
    name="runs",
    title="Run",
    format_kind="run",
    default_format="trec-run",
    compact=compact,
    check=check,
    store=store,
    prepare=prepare,
    roles=STAFF,
    columns=("query_id", "doc_id", "rank", "score"),
    asks=("name", "description", "generator_family"),
    questions=questions,
    names=default_names,
    existing=lambda collection, sha256: stored_as(collection.runs, sha256),
    quiet=frozenset(
        (
            "tied rows",
            "queries with ties",
            "rows with a rank",
            "ranks against scores",
            "queries with ranks against scores",
            "ties in another order by rank",
            "infinite scores",
        )
    ),
)
