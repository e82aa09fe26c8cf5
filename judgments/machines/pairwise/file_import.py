"""Import of pairwise comparisons made elsewhere, from a file of ``assay zelo`` or of zbench."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max

from assay.core.errors import NotValid
from assay.core.read_report import Report
from assay.core.text_rules import amount
from assay.formats import battles_jsonl, zbench_ai_scores
from assay.formats.battles_jsonl import Battle as Row
from judgments.jobs.limited_process import read_at_once
from judgments.machines.calibration import audit_sample
from judgments.machines.pairwise import pair_selection
from judgments.models import Battle, BattleRun, Round, User, audit

LARGEST = 20_000_000
MOST_LISTED = 5


def import_battles(round_: Round, content: bytes, *, filename: str, actor: User, audit_share: float = 0.1) -> BattleRun:
    """Store the comparisons of a file as a finished run without calling a model."""
    audit_sample.check(audit_share)
    rows, report = read_at_once(_read, content, filename[:200] or "the file", most=LARGEST)
    return _store(round_, rows, report, filename, actor, audit_share)


@transaction.atomic
def _store(
    round_: Round, rows: Sequence[Row], report: Report, filename: str, actor: User, audit_share: float
) -> BattleRun:
    pairs = _pairs(round_, rows, filename)
    Round.objects.select_for_update(of=("self",)).get(pk=round_.pk)
    last = round_.battle_runs.aggregate(last=Max("number"))["last"] or 0
    drawn = dict.fromkeys((pairs[row.query_id, row.a], pairs[row.query_id, row.b], row.swapped) for row in rows)
    run = BattleRun.objects.create(
        round=round_,
        number=last + 1,
        state=BattleRun.State.DONE,
        end_message=_remarks(report, filename),
        ensemble=[],
        inputs={**pair_selection.prompt_record(round_, 0), "file": filename[:200], "sha256": report.sha256},
        cycles=0,
        both=0.0,
        seed=round_.seed,
        audit_share=audit_share,
        drawn=[[a, b, int(turned)] for a, b, turned in drawn],
        battles=len(drawn),
        # The run makes no calls.
        cap_usd=0.0,
        created_by=actor,
    )
    Battle.objects.bulk_create((_battle(run, pairs, row, at) for at, row in enumerate(rows)), batch_size=500)
    sentence = f"{actor} imported {amount(len(rows), 'comparison')} from {filename[:80]} into round {round_}"
    audit.record("battle_files.take_in", sentence, actor=actor, target=run)
    return run


def _read(content: bytes, filename: str) -> tuple[Sequence[Row], Report]:
    plain = _unpacked(content)
    if len(plain) > LARGEST:
        raise NotValid(f"The file is larger than {LARGEST // 1_000_000} MB. Split it by query.", "file")
    whole = b'"scored_pairs"' in plain[:200]
    try:
        table = (zbench_ai_scores if whole else battles_jsonl).read(content, path=filename)
        table.report.raise_if_errors()
    except NotValid as error:
        raise NotValid(str(error), "file") from error
    rows = [row for row in table.rows if row.score is not None or row.model]
    if not rows:
        problem = "The file contains no answers. Each row requires a score from -1 to 1, or a model whose call failed."
        raise NotValid(problem, "file")
    if len(rows) > pair_selection.MOST_BATTLES:
        most = pair_selection.MOST_BATTLES
        raise NotValid(f"{len(rows):,} answers exceed the limit of {most:,} per run. Split the file by query.", "file")
    return rows, table.report


def _unpacked(content: bytes) -> bytes:
    """Return the content of a compressed file, up to one byte above the limit; any other file unchanged."""
    if content[:2] != b"\x1f\x8b":
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            return stream.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error):
        return content  # the reader reports the problem


def _pairs(round_: Round, rows: Sequence[Row], filename: str) -> dict[tuple[str, str], int]:
    """Return the round's pairs by their ids. Refuse a file with other documents."""
    known = round_.pairs.values_list("pk", "query__query_id", "document__doc_id")
    pairs = {(query_id, doc_id): pk for pk, query_id, doc_id in known}
    strange = [
        f"line {row.line}: {doc_id!r} for the query {row.query_id!r}"
        for row in rows
        for doc_id in (row.a, row.b)
        if (row.query_id, doc_id) not in pairs
    ]
    if strange:
        more = f", and {len(strange) - MOST_LISTED:,} more" if len(strange) > MOST_LISTED else ""
        problem = f"{filename} contains documents that are not in this round: {'; '.join(strange[:MOST_LISTED])}{more}."
        raise NotValid(f"{problem} Remove them from the file, or import the file into their round.", "file")
    return pairs


def _battle(run: BattleRun, pairs: dict[tuple[str, str], int], row: Row, at: int) -> Battle:
    # Several answers of a model to one comparison all count, so the position in the file is part of the key.
    key = hashlib.sha256(f"{run.uuid} {at}".encode()).hexdigest()
    return Battle(
        run=run,
        a_id=pairs[row.query_id, row.a],
        b_id=pairs[row.query_id, row.b],
        swapped=row.swapped,
        key=key,
        prompt_sha256="",
        requested_model=(row.model or "unnamed")[:200],
        outcome="graded" if row.score is not None else "transport_error",
        score=row.score,
        reason=row.reason.replace("\0", "\N{REPLACEMENT CHARACTER}"),
    )


def _remarks(report: Report, filename: str) -> str:
    """Return a summary of the reader's warnings."""
    if not report.warning_count:
        return ""
    remarks = "; ".join(
        f"line {one.line}: {one.what}" + (f", {one.done}" if one.done else "") for one in report.warnings[:MOST_LISTED]
    )
    return f"{filename} was read with {amount(report.warning_count, 'warning')}: {remarks}"[:2_000]
