"""Import of queries: find new queries and those that collide with existing ones, and store them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms

from judgments import query_groups, round_languages
from judgments.access import LEADS
from judgments.core.redaction import redact
from judgments.formats.personal_queries import PERSONAL
from judgments.formats.rows import QueryRow
from judgments.import_kinds import Checked, Finding, ImportKind
from judgments.models import Collection, Place, Query, Round, Stratum, Upload, User
from judgments.narratives import LONGEST

# What a file may add to a query that is there; its text never changes, since people judged it.
FILLABLE = ("narrative", "group", "tier", "frequency", "clients", "probability", "weight", "language")

# The wish that what looks like personal data is taken out of new queries.
REDACT = "redact"

# Shares in files are rounded.
SAME_SHARE = 1e-6


def check(collection: Collection, rows: Sequence[QueryRow], upload: Upload) -> Checked:
    """Refuse an id that stands for another text; keep what is new or says more than what is there."""
    known = {query.query_id: query for query in collection.queries.select_related("stratum")}
    judged = _being_judged(collection)
    shares = dict(collection.strata.values_list("name", "share"))
    findings: list[Finding] = []
    kept: list[QueryRow] = []
    same = 0
    for row in rows:
        there = known.get(row.query_id)
        if fault := _stratum_fault(row, there, shares) or _narrative_fault(row, there, judged):
            findings.append(fault)
        elif there is None or (there.text == row.query and _says_more(there, row)):
            kept.append(row)
        elif there.text == row.query:
            same += 1
        else:
            findings.append(_other_text(row, there.text))
    new = sum(1 for row in kept if row.query_id not in known)
    figures = {"new": new, "changed": len(kept) - new, "unchanged": same}
    if personal := sum(1 for row in kept if row.query_id not in known and redact(row.query)[1]):
        figures["look personal"] = personal
    return Checked(kept, findings, figures)


def questions(upload: Upload) -> dict[str, Any]:
    """What is asked of a list in which something looks like personal data."""
    if not upload.report.get("codes", {}).get(PERSONAL):
        return {}
    text = "A new query is stored with [e-mail] or [phone] in its place; queries that are here already keep their text."
    label = "Take out what looks like personal data (optional)"
    return {REDACT: forms.BooleanField(label=label, help_text=text, required=False)}


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Add the new queries, and fill in what the file knows about the others."""
    known = {query.query_id: query for query in collection.queries.all()}
    if options.get(REDACT):
        checked = replace(checked, rows=[_redacted(row, row.query_id in known) for row in checked.rows])
        _forget_texts(upload)
    strata = _strata(collection, checked.rows)
    said = {
        row.query_id: _said(row) | ({"stratum": strata[row.stratum]} if row.stratum else {}) for row in checked.rows
    }
    new = [
        Query(collection=collection, query_id=row.query_id, text=row.query, **said[row.query_id])
        for row in checked.rows
        if row.query_id not in known
    ]
    Query.objects.bulk_create(new, batch_size=500)
    changed = [known[row.query_id] for row in checked.rows if row.query_id in known]
    before = {query.pk: query.language for query in changed}
    for query in changed:
        for name, value in said[query.query_id].items():
            setattr(query, name, value)
    moved = [query for query in changed if query.language != before[query.pk]]
    Query.objects.bulk_update(changed, [*FILLABLE, "stratum"], batch_size=500)
    round_languages.follow(moved)
    _add_places(checked.rows, {query.query_id: query for query in (*new, *changed)}, strata)
    query_groups.note(collection)
    return {"rows": len(checked.rows), "new": len(new), "changed": len(changed)}


def _redacted(row: QueryRow, there: bool) -> QueryRow:
    """The row without what looks like personal data; the text of a query that is here never changes."""
    return row if there else replace(row, query=redact(row.query)[0])


def _forget_texts(upload: Upload) -> None:
    """Take personal data also out of what stays on record of the file."""
    rows = [[redact(cell)[0] for cell in row] for row in upload.preview.get("rows", [])]
    problems = [
        {**odd, "raw": redact(odd["raw"])[0], "what": redact(odd["what"])[0]} for odd in upload.report["problems"]
    ]
    upload.preview, upload.report = {**upload.preview, "rows": rows}, {**upload.report, "problems": problems}
    Upload.objects.filter(pk=upload.pk).update(preview=upload.preview, report=upload.report)


def _strata(collection: Collection, rows: Sequence[QueryRow]) -> dict[str, Stratum]:
    """The strata that the file names, made where they are new, with the shares that it tells."""
    named = {row.stratum: row.share for row in rows if row.stratum and row.share}
    named |= {place.stratum: place.share for row in rows for place in row.also}
    for name, share in named.items():
        Stratum.objects.get_or_create(collection=collection, name=name, defaults={"share": share})
    return {stratum.name: stratum for stratum in collection.strata.all()} if named else {}


def _add_places(rows: Sequence[QueryRow], queries: dict[str, Query], strata: dict[str, Stratum]) -> None:
    for row in rows:
        for place in row.also:
            told = {"tier": place.tier, "probability": place.probability, "weight": place.weight}
            Place.objects.update_or_create(query=queries[row.query_id], stratum=strata[place.stratum], defaults=told)


def _being_judged(collection: Collection) -> dict[str, str]:
    """The queries that an open round holds, each with the round's name."""
    rows = Query.objects.filter(collection=collection, pairs__round__state=Round.State.OPEN)
    return dict(rows.values_list("query_id", "pairs__round__name").distinct())


def _narrative_fault(row: QueryRow, there: Query | None, judged: dict[str, str]) -> Finding | None:
    """A narrative is as short as one that is typed, and stands still while it is judged under."""
    if len(row.narrative) > LONGEST and not (there and there.narrative == row.narrative):
        what = f"the narrative of {row.query_id} has {len(row.narrative):,} characters, more than {LONGEST:,}"
        fix = "Shorten it to what a rater needs while grading; what all of them need goes into the guidelines."
        return Finding(row.line, "E21", f"{row.query_id},{row.query}", what, "not stored", fix)
    if there is None or row.narrative in ("", there.narrative) or row.query_id not in judged:
        return None
    what = f"another narrative for {row.query_id}, which round {judged[row.query_id]} is being judged under"
    fix = "Close the round first, or leave the narrative out of the file."
    return Finding(row.line, "E25", f"{row.query_id},{row.query}", what, "not stored", fix)


def _stratum_fault(row: QueryRow, there: Query | None, shares: dict[str, float]) -> Finding | None:
    """A stratum has one share, and a query one stratum that it was first drawn in."""
    told = [(row.stratum, row.share)] if row.stratum else []
    told += [(place.stratum, place.share) for place in row.also]
    for name, share in told:
        if share and abs(shares.setdefault(name, share) - share) > SAME_SHARE:
            what = f"the stratum {name} has {share:g} of the traffic here and {shares[name]:g} elsewhere"
            fix = "Give a stratum the same share everywhere; a further one is added on the page of strata."
            return Finding(row.line, "E26", f"{row.query_id},{row.query}", what, "not stored", fix)
    own = there.stratum.name if there is not None and there.stratum else ""
    if own and row.stratum and own != row.stratum:
        what = f"{row.query_id} stands in the stratum {own} and here in {row.stratum}"
        fix = "Leave the column stratum empty for it, or name the further stratum in the column also."
        return Finding(row.line, "E26", f"{row.query_id},{row.query}", what, "not stored", fix)
    return None


def _says_more(there: Query, row: QueryRow) -> bool:
    own = there.stratum.name if there.stratum else ""
    places = bool(row.also) or row.stratum not in ("", own)
    return places or any(getattr(there, name) != value for name, value in _said(row).items())


def _said(row: QueryRow) -> dict[str, Any]:
    """The columns that the row fills; an empty cell says nothing."""
    return {name: value for name in FILLABLE if (value := getattr(row, name)) not in (None, "")}


def _other_text(row: QueryRow, text: str) -> Finding:
    return Finding(
        row.line,
        "E18",
        f"{row.query_id},{row.query}",
        f"{row.query_id} is “{text}” in this collection and “{row.query}” here",
        "not stored",
        "Give the new query another id: the judgments of the old one were made for its text.",
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
