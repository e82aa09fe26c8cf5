"""Addition of a part of the traffic, such as a category or a language, to a collection as a stratum.

The new queries are drawn separately from their part of a log. A query that is already in the collection and is drawn
again belongs to both strata. If an older stratum included the traffic (``part_of``), all of its queries that belong to
the new part move to it with certainty, and the rest is drawn. Each stratum thus has a sample with known probabilities,
and existing queries keep their design.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction

from assay.core.errors import Conflict, NotValid
from assay.core.text_rules import amount
from assay.formats.queries import numbered_ids, query_fault
from assay.sampling.counted_log import WINDOW_DAYS, CountedLog
from assay.sampling.draw import STRATIFIED, SampledQuery
from assay.sampling.languages import check_language
from assay.sampling.row_counting import normalize
from assay.sampling.stratum_joining import Filter, in_frame, without
from assay.sampling.tiers import cut_tiers
from judgments.jobs import jobs
from judgments.models import Collection, Job, Place, Query, QuerySample, Stratum, User, audit
from judgments.queries import strata
from pooling.logs import drawn_queries, query_logs, traffic
from pooling.models import QueryLog


@dataclass(frozen=True)
class Joined:
    """The result of adding a stratum: the new queries and the existing ones."""

    stratum: Stratum
    sample: QuerySample | None
    new: list[Query]
    there: list[Query]


def add_stratum(
    log: QueryLog,
    *,
    actor: User,
    name: str,
    share: float | None = None,
    part_of: str | None = None,
    first: str = strata.FIRST,
    words: Sequence[str] = (),
    queries: Sequence[str] = (),
    language: str = "",
    sizes: Mapping[str, int] | None = None,
    method: str = STRATIFIED,
    n: int | None = None,
    seed: int = 1,
    window_days: int | None = WINDOW_DAYS,
    frame: CountedLog | None = None,
    **cuts: Any,
) -> Joined:
    """Draw queries of one part of the traffic into a collection as a new stratum."""
    members = Filter(tuple(words), tuple(queries), language)
    frame = traffic.counted(log, window_days=window_days) if frame is None else frame
    if language:
        check_language(language, frame.languages)
    own = members.of(frame.queries)
    if not own:
        raise NotValid(
            f"No query of {log} matches {name}.",
            {"words": f"No query of {log} matches {name}. Choose other words or a longer period."},
        )
    cut = cut_tiers(own, **cuts)
    with transaction.atomic():
        whole = _whole(log, first) if part_of is None else part_of
        if share is None:
            share = _counted_share(log, whole, cut.traffic, frame.traffic)
        stratum = strata.join(
            log.collection, name=name, share=share, part_of=whole, first=first, filters=members.as_json()
        )
        known = _known(log.collection)
        held = in_frame(cut, _standing_for(stratum.part_of, known)) if stratum.part_of else {}
        rest = without(cut, held)
        drawn = (
            drawn_queries.sampled(rest, method, sizes or query_logs.DEFAULT_SIZES, n, seed) if rest.queries else None
        )
        parameters = {
            "asked": drawn.requested if drawn else {},
            "head_share": cut.head_share,
            "torso_share": cut.torso_share,
            "window_days": window_days if frame.first else None,
            "stratum": {"name": name, "share": share, "part_of": whole, "filters": members.as_json()},
        }
        record = drawn_queries.record_draw(
            log, method=method, seed=seed, parameters=parameters, frame=replace(frame, queries=cut.queries), tiers=cut
        )
        certain = [SampledQuery("", *counted, 1.0, counted[0].frequency / cut.traffic) for counted in held.values()]
        new, there = _place(log, record, stratum, [*certain, *(drawn.queries if drawn else ())], known)
        _tell(actor, stratum, log.collection, len(new), len(there), f" from {log}, seed {seed}")
    return Joined(stratum, record, new, there)


def add_list(
    collection: Collection,
    *,
    actor: User,
    name: str,
    share: float,
    queries: Sequence[str],
    part_of: str = "",
    first: str = strata.FIRST,
) -> Joined:
    """Add all queries of a list as a stratum, each with an equal part of the stratum's traffic."""
    once: dict[str, str] = {}
    for text in queries:
        once.setdefault(normalize(text), text.strip())
    texts = [text for text in once.values() if text]
    odd = next(((text, fault) for text in texts if (fault := query_fault(text))), None)
    if odd or not texts:
        raise NotValid(f"{odd[0][:80]!r}: {odd[1].what}" if odd else "The list has no queries.", "queries")
    with transaction.atomic():
        stratum = strata.join(
            collection, name=name, share=share, part_of=part_of, first=first, filters={"queries": texts}
        )
        known, taken = _known(collection), set(collection.queries.values_list("query_id", flat=True))
        new, there = [], []
        ids = numbered_ids(texts, taken, of=name)
        for text in texts:
            query = known.get(normalize(text))
            if query is None:
                query = Query(collection=collection, query_id=ids[text], text=text)
                new.append(query)
            else:
                there.append(query)
        for query in new:
            query.stratum, query.probability, query.weight = stratum, 1.0, 1 / len(texts)
        Query.objects.bulk_create(new, batch_size=500)
        Place.objects.bulk_create(
            Place(query=query, stratum=stratum, probability=1.0, weight=1 / len(texts)) for query in there
        )
        _tell(actor, stratum, collection, len(new), len(there), "")
    return Joined(stratum, None, new, there)


def add_later(log: QueryLog, *, actor: User, **options: Any) -> Job:
    """Queue a job that runs :func:`add_stratum`."""
    parameters = {"log": str(log.uuid), "options": options}
    title = f"Add stratum {options['name']}"
    same = Job.objects.filter(collection=log.collection, kind="stratum", parameters__options__name=options["name"])
    if earlier := same.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING]).first():
        return earlier
    return jobs.start("stratum", title=title, parameters=parameters, collection=log.collection, actor=actor)


def work_on_stratum(work: jobs.Work) -> dict[str, Any]:
    """Run the job of :func:`add_later`. The stratum and its record are stored in one transaction, so a resumed job
    finds both."""
    log = QueryLog.objects.select_related("collection").get(uuid=work.job.parameters["log"])
    options = work.job.parameters["options"]
    scope = {name: options[name] for name in ("window_days",) if name in options}
    progress = query_logs.in_rows(work, log.report.get("rows", 0), default_storage.size(log.path))
    frame = traffic.counted(log, **scope, progress=progress)
    with transaction.atomic():
        joined = add_stratum(log, actor=work.job.created_by, frame=frame, **options)
        return work.keep({"stratum": str(joined.stratum.uuid), "new": len(joined.new), "there": len(joined.there)})


def _whole(log: QueryLog, first: str) -> str:
    """Return the name of the stratum that was drawn from the whole of this log, or an empty string."""
    samples = QuerySample.objects.filter(collection=log.collection, log_sha256=log.sha256)
    for sample in samples.order_by("pk"):
        design = sample.parameters.get("stratum", {})
        if not design.get("filters") and "language" not in sample.parameters:
            query = sample.queries.select_related("stratum").first()
            return str(design.get("name") or (query.stratum if query and query.stratum else first))
    return ""


def _counted_share(log: QueryLog, whole: str, own: int, all_: int) -> float:
    """Return the share of the new stratum, from the searches that the log counts in the older stratum."""
    if not whole or _whole(log, whole) != whole:
        message = "The share of the whole traffic cannot be computed from the log. Enter a number between 0 and 1."
        raise NotValid(message, "share")
    there = log.collection.strata.filter(name=whole).first()
    return (there.share if there else 1.0) * own / all_


def _known(collection: Collection) -> dict[str, Query]:
    """Return the collection's queries by their normalized text; the oldest query for each text."""
    queries: dict[str, Query] = {}
    for query in collection.queries.order_by("pk"):
        queries.setdefault(normalize(query.text), query)
    return queries


def _standing_for(stratum: Stratum, known: Mapping[str, Query]) -> dict[str, Query]:
    places = strata.places(known.values())
    names = {pk: {row.stratum for row in rows} for pk, rows in places.items()}
    return {text: query for text, query in known.items() if stratum.name in names.get(query.pk, ())}


def _place(
    log: QueryLog, record: QuerySample, stratum: Stratum, drawn: Sequence[SampledQuery], known: Mapping[str, Query]
) -> tuple[list[Query], list[Query]]:
    """Store new queries in this stratum, and record the membership of existing queries with its weight."""
    raw = drawn_queries.raw_rows(log, drawn)
    taken = set(log.collection.queries.values_list("query_id", flat=True))
    new: list[Query] = []
    filled: list[Query] = []
    places: list[Place] = []
    for one in drawn:
        fields: dict[str, Any] = {"tier": one.tier, "probability": one.probability, "weight": one.weight}
        fields |= {"frequency": one.query.frequency, "clients": one.query.clients}
        fields |= {"stratum": stratum, "sample": record}
        query = known.get(one.query.query)
        if query is not None and query.probability is not None:
            places.append(Place(query=query, **fields))
            continue
        if query is None:
            own = drawn_queries.issued_id(one, raw.get(one.query.raw), taken)
            query = Query(collection=log.collection, query_id=own, text=one.query.text)
            new.append(query)
        else:
            filled.append(query)
        for name, value in {**fields, "raw_row": raw.get(one.query.raw)}.items():
            setattr(query, name, value)
    try:
        with transaction.atomic():
            Query.objects.bulk_create(new, batch_size=500)
    except IntegrityError as error:
        raise Conflict("Another user added queries at the same time. Draw again.") from error
    Query.objects.bulk_update(filled, [*drawn_queries.DRAWN, "stratum"], batch_size=500)
    Place.objects.bulk_create(places, batch_size=500)
    return new, [*filled, *(place.query for place in places)]


def _tell(actor: User, stratum: Stratum, collection: Collection, new: int, there: int, whence: str) -> None:
    audit.record(
        "strata.add_stratum",
        f"{actor} added stratum {stratum} with {amount(new + there, 'query', 'queries')}{whence}; "
        f"{amount(there, 'query', 'queries')} already existed",
        actor=actor,
        collection=collection,
        target=stratum,
        share=stratum.share,
        shares={one.name: one.share for one in collection.strata.all()},
    )
