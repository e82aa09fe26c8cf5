"""Import of pairwise comparisons made elsewhere, from a file of ``assay zelo`` or of zbench."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max

from judgments import audit, audit_slice, battle_draws
from judgments.core.amounts import amount
from judgments.core.errors import NotValid
from judgments.core.report import Report
from judgments.formats import battles_jsonl, zbench_ai_scores
from judgments.formats.battles_jsonl import Battle as Row
from judgments.models import Battle, BattleRun, Round, User
from judgments.upload_reading import read_at_once

LARGEST = 20_000_000
MOST_TOLD = 5


def take_in(round_: Round, content: bytes, *, filename: str, actor: User, audit_share: float = 0.1) -> BattleRun:
    """Store the battles of a file beside those that were fought here; no model is asked about them any more.

    Parameters
    ----------
    round_ : Round
        Whose queries and documents the file names.
    content : bytes
        battles-jsonl, or zbench's ``ai_scores.json``, told apart by how it begins.
    filename : str
        As the user named it.
    actor : User
        The lead who does it.
    audit_share : float
        The share of all pairs of the round that people judge whatever comes of the battles.

    Raises
    ------
    NotValid
        Too large, unreadable, without an answer, or about documents that the round has not: nothing is taken then.
    """
    audit_slice.check(audit_share)
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
        said=_said(report, filename),
        ensemble=[],
        told={**battle_draws.told_of(round_, 0), "file": filename[:200], "sha256": report.sha256},
        cycles=0,
        both=0.0,
        seed=round_.seed,
        audit_share=audit_share,
        drawn=[[a, b, int(turned)] for a, b, turned in drawn],
        battles=len(drawn),
        # It asks nobody and spends nothing.
        cap_usd=0.0,
        created_by=actor,
    )
    Battle.objects.bulk_create((_battle(run, pairs, row, at) for at, row in enumerate(rows)), batch_size=500)
    sentence = f"{actor} took {amount(len(rows), 'answer')} of battles from {filename[:80]} into round {round_}"
    audit.record("battle_files.take_in", sentence, actor=actor, collection=round_.collection, target=run)
    return run


def _read(content: bytes, filename: str) -> tuple[Sequence[Row], Report]:
    plain = _unpacked(content)
    if len(plain) > LARGEST:
        said = f"The file is larger than {LARGEST // 1_000_000} MB. Give some of its queries."
        raise NotValid(said, {"file": said})
    whole = b'"scored_pairs"' in plain[:200]
    try:
        found = (zbench_ai_scores if whole else battles_jsonl).read(content, path=filename)
        found.report.raise_if_errors()
    except NotValid as error:
        raise NotValid(str(error), {"file": str(error)}) from error
    rows = [row for row in found.rows if row.score is not None or row.model]
    if not rows:
        said = "No battle of it was answered yet: a row has a score from -1 to 1, or a model whose call failed."
        raise NotValid(said, {"file": said})
    if len(rows) > battle_draws.MOST_BATTLES:
        said = f"{len(rows):,} answers are more than one run holds ({battle_draws.MOST_BATTLES:,})."
        raise NotValid(said, {"file": said})
    return rows, found.report


def _unpacked(content: bytes) -> bytes:
    """What a compressed file holds, one byte more than may be at most; any other file as it is."""
    if content[:2] != b"\x1f\x8b":
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            return stream.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error):
        return content  # its reader says what is wrong with it


def _pairs(round_: Round, rows: Sequence[Row], filename: str) -> dict[tuple[str, str], int]:
    """The round's pairs by their ids; every document of the file has to be among them."""
    known = round_.pairs.values_list("pk", "query__query_id", "document__doc_id")
    pairs = {(query_id, doc_id): pk for pk, query_id, doc_id in known}
    strange = [
        f"line {row.line}: {doc_id!r} for the query {row.query_id!r}"
        for row in rows
        for doc_id in (row.a, row.b)
        if (row.query_id, doc_id) not in pairs
    ]
    if strange:
        more = f", and {len(strange) - MOST_TOLD:,} more" if len(strange) > MOST_TOLD else ""
        said = f"{filename} names documents that this round does not hold: {'; '.join(strange[:MOST_TOLD])}{more}."
        said = f"{said} Take them out of the file, or choose their round."
        raise NotValid(said, {"file": said})
    return pairs


def _battle(run: BattleRun, pairs: dict[tuple[str, str], int], row: Row, at: int) -> Battle:
    # Several answers of one model to one battle are several votes: the place in the file tells them apart.
    key = hashlib.sha256(f"{run.uuid} {at}".encode()).hexdigest()
    return Battle(
        run=run,
        a_id=pairs[row.query_id, row.a],
        b_id=pairs[row.query_id, row.b],
        swapped=row.swapped,
        key=key,
        prompt_sha256="",
        model_asked=(row.model or "not named")[:200],
        outcome="graded" if row.score is not None else "transport_error",
        score=row.score,
        reason=row.reason.replace("\0", "\N{REPLACEMENT CHARACTER}"),
    )


def _said(report: Report, filename: str) -> str:
    """What the reader remarked on, so that nothing odd is taken in silence."""
    if not report.warning_count:
        return ""
    told = "; ".join(
        f"line {one.line}: {one.what}" + (f", {one.done}" if one.done else "") for one in report.warnings[:MOST_TOLD]
    )
    return f"{filename} was read with {amount(report.warning_count, 'remark')}: {told}"[:2_000]
