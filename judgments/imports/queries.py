"""Import of queries: find new ones and conflicts, store them, and match queries of files that have only a text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any, TypeVar

from django import forms

from assay.core.redaction import redact
from assay.formats.queries import PERSONAL
from assay.formats.row_types import LabelRow, QueryRow, RatingRow, RunRow
from judgments.imports.kinds import Checked, Finding, ImportKind
from judgments.models import Collection, Place, Query, Round, Stratum, Upload, User
from judgments.queries import groups
from judgments.queries.narratives import LONGEST
from judgments.rating.pair_state import follow_languages
from judgments.web.access import LEADS

# Columns that a file can change in an existing query. Its text never changes, because people have judged it.
FILLABLE = ("narrative", "group", "tier", "frequency", "clients", "probability", "weight", "language")

# The option to redact personal data in new queries.
REDACT = "redact"

# Shares in files are rounded.
SAME_SHARE = 1e-6


def check(collection: Collection, rows: Sequence[QueryRow], upload: Upload) -> Checked:
    """Refuse an id that belongs to another text; keep new queries and those with additional values."""
    rows, findings = with_query_ids(collection, rows)
    known = {query.query_id: query for query in collection.queries.select_related("stratum")}
    judged = being_judged(collection)
    shares = dict(collection.strata.values_list("name", "share"))
    accepted: list[QueryRow] = []
    same = 0
    for row in rows:
        there = known.get(row.query_id)
        if fault := _stratum_fault(row, there, shares) or _narrative_fault(row, there, judged):
            findings.append(fault)
        elif there is None or (there.text == row.query and _says_more(there, row)):
            accepted.append(row)
        elif there.text == row.query:
            same += 1
        else:
            findings.append(_other_text(row, there.text))
    new = sum(1 for row in accepted if row.query_id not in known)
    figures = {"new": new, "changed": len(accepted) - new, "unchanged": same}
    if personal := sum(1 for row in accepted if row.query_id not in known and redact(row.query)[1]):
        figures["may contain personal data"] = personal
    return Checked(accepted, findings, figures)


def questions(upload: Upload) -> dict[str, Any]:
    """Return the form fields for a list with possible personal data."""
    if not upload.report.get("codes", {}).get(PERSONAL):
        return {}
    text = "New queries are stored with [e-mail] or [phone] in place of the data. Existing queries keep their text."
    label = "Redact personal data (optional)"
    return {REDACT: forms.BooleanField(label=label, help_text=text, required=False)}


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Add the new queries, and add the file's values to existing queries."""
    known = {query.query_id: query for query in collection.queries.all()}
    if options.get(REDACT):
        checked = replace(checked, rows=[_redacted(row, row.query_id in known) for row in checked.rows])
        _forget_texts(upload)
    strata = _strata(collection, checked.rows)
    values = {
        row.query_id: _filled_columns(row) | ({"stratum": strata[row.stratum]} if row.stratum else {})
        for row in checked.rows
    }
    new = [
        Query(collection=collection, query_id=row.query_id, text=row.query, **values[row.query_id])
        for row in checked.rows
        if row.query_id not in known
    ]
    Query.objects.bulk_create(new, batch_size=500)
    changed = [known[row.query_id] for row in checked.rows if row.query_id in known]
    before = {query.pk: query.language for query in changed}
    for query in changed:
        for name, value in values[query.query_id].items():
            setattr(query, name, value)
    moved = [query for query in changed if query.language != before[query.pk]]
    Query.objects.bulk_update(changed, [*FILLABLE, "stratum"], batch_size=500)
    follow_languages(moved)
    _add_places(checked.rows, {query.query_id: query for query in (*new, *changed)}, strata)
    groups.note(collection)
    return {"rows": len(checked.rows), "new": len(new), "changed": len(changed)}


def _redacted(row: QueryRow, there: bool) -> QueryRow:
    """Return the row without possible personal data; the text of an existing query never changes."""
    return row if there else replace(row, query=redact(row.query)[0])


def _forget_texts(upload: Upload) -> None:
    """Remove personal data from the stored report of the file too."""
    rows = [[redact(cell)[0] for cell in row] for row in upload.preview.get("rows", [])]
    problems = [
        {**odd, "raw": redact(odd["raw"])[0], "what": redact(odd["what"])[0]} for odd in upload.report["problems"]
    ]
    upload.preview, upload.report = {**upload.preview, "rows": rows}, {**upload.report, "problems": problems}
    Upload.objects.filter(pk=upload.pk).update(preview=upload.preview, report=upload.report)


def _strata(collection: Collection, rows: Sequence[QueryRow]) -> dict[str, Stratum]:
    """Return the strata that the file names; create new ones with their shares."""
    named = {row.stratum: row.share for row in rows if row.stratum and row.share}
    named |= {place.stratum: place.share for row in rows for place in row.also}
    for name, share in named.items():
        Stratum.objects.get_or_create(collection=collection, name=name, defaults={"share": share})
    return {stratum.name: stratum for stratum in collection.strata.all()} if named else {}


def _add_places(rows: Sequence[QueryRow], queries: dict[str, Query], strata: dict[str, Stratum]) -> None:
    for row in rows:
        for place in row.also:
            values = {"tier": place.tier, "probability": place.probability, "weight": place.weight}
            Place.objects.update_or_create(query=queries[row.query_id], stratum=strata[place.stratum], defaults=values)


def being_judged(collection: Collection) -> dict[str, str]:
    """Return the queries of open rounds, each with the name of a round."""
    rows = Query.objects.filter(collection=collection, pairs__round__state=Round.State.OPEN)
    return dict(rows.values_list("query_id", "pairs__round__name").distinct())


def _narrative_fault(row: QueryRow, there: Query | None, judged: dict[str, str]) -> Finding | None:
    """Return an issue if the narrative is too long, or would change while a round is open."""
    if len(row.narrative) > LONGEST and not (there and there.narrative == row.narrative):
        what = f"the narrative of {row.query_id} has {len(row.narrative):,} characters, more than {LONGEST:,}"
        fix = (
            "Shorten it to the information that a rater needs for this query. Put instructions for all queries into "
            "the guidelines."
        )
        return Finding(row.line, "E21", f"{row.query_id},{row.query}", what, "not stored", fix)
    if there is None or row.narrative in ("", there.narrative) or row.query_id not in judged:
        return None
    what = f"a different narrative for {row.query_id}, which raters of the open round {judged[row.query_id]} are using"
    fix = "Close the round first, or remove the narrative from the file."
    return Finding(row.line, "E25", f"{row.query_id},{row.query}", what, "not stored", fix)


def _stratum_fault(row: QueryRow, there: Query | None, shares: dict[str, float]) -> Finding | None:
    """Return an issue if a stratum has two shares, or the query has a different first stratum."""
    named = [(row.stratum, row.share)] if row.stratum else []
    named += [(place.stratum, place.share) for place in row.also]
    for name, share in named:
        if share and abs(shares.setdefault(name, share) - share) > SAME_SHARE:
            what = f"the stratum {name} has {share:g} of the traffic in this row and {shares[name]:g} elsewhere"
            fix = "Give the stratum the same share in every row. Add another stratum on the Strata page."
            return Finding(row.line, "E26", f"{row.query_id},{row.query}", what, "not stored", fix)
    own = there.stratum.name if there is not None and there.stratum else ""
    if own and row.stratum and own != row.stratum:
        what = f"{row.query_id} is in the stratum {own}, but this row has {row.stratum}"
        fix = "Leave the column stratum empty in this row, or enter the other stratum in the column named also."
        return Finding(row.line, "E26", f"{row.query_id},{row.query}", what, "not stored", fix)
    return None


def _says_more(there: Query, row: QueryRow) -> bool:
    own = there.stratum.name if there.stratum else ""
    places = bool(row.also) or row.stratum not in ("", own)
    return places or any(getattr(there, name) != value for name, value in _filled_columns(row).items())


def _filled_columns(row: QueryRow) -> dict[str, Any]:
    """Return the columns that are not empty in the row."""
    return {name: value for name in FILLABLE if (value := getattr(row, name)) not in (None, "")}


def _other_text(row: QueryRow, text: str) -> Finding:
    return Finding(
        row.line,
        "E18",
        f"{row.query_id},{row.query}",
        f"{row.query_id} is “{text}” in this collection and “{row.query}” in this file",
        "not stored",
        "Give the new query another id. Existing judgments belong to the old text.",
    )


QUERIES = ImportKind(
    name="queries",
    title="Queries",
    format_kind="queries",
    default_format="queries-csv",
    check=check,
    store=store,
    roles=LEADS,
    columns=("query_id", "query", "narrative", "tier", "frequency"),
    asks=(REDACT,),
    questions=questions,
)


Row = TypeVar("Row", LabelRow, QueryRow, RatingRow, RunRow)


def with_query_ids(collection: Collection, rows: Sequence[Row]) -> tuple[Sequence[Row], list[Finding]]:
    """Give each row without a query id of its own the id of the query with the same text, or an unused id."""
    texts = list(dict.fromkeys(row.query for row in rows if row.by_text))
    if not texts:
        return rows, []
    known = dict(collection.queries.values_list("query_id", "text"))
    alike: dict[str, list[str]] = defaultdict(list)
    for query_id, text in sorted(known.items()):
        alike[text].append(query_id)
    taken = known.keys() | {row.query_id for row in rows if not row.by_text}
    free = (query_id for number in count(1) if (query_id := f"q{number:03d}") not in taken)
    ids = {text: alike[text][0] if text in alike else next(free) for text in texts}
    doubtful = {text for text in texts if len(alike.get(text, ())) > 1}
    findings = [_two_queries(row, alike[row.query]) for row in rows if row.by_text and row.query in doubtful]
    usable = [row for row in rows if not (row.by_text and row.query in doubtful)]
    return [replace(row, query_id=ids[row.query]) if row.by_text else row for row in usable], findings


def _two_queries(row: LabelRow | QueryRow | RatingRow | RunRow, query_ids: Sequence[str]) -> Finding:
    return Finding(
        row.line,
        "E17",
        f"{row.query} {getattr(row, 'doc_id', '')}".strip(),
        f"the queries {', '.join(query_ids[:5])} have the text “{row.query}”",
        "not stored",
        "Use a file with query ids, such as a ratings CSV, or change one of the queries.",
    )
