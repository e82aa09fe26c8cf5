"""Import of click logs as label sources, kept separate from judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import IO, Any, overload

from django import forms

from judgments.access import LEADS
from judgments.core.amounts import amount
from judgments.core.errors import NotValid
from judgments.core.redaction import redact
from judgments.core.report import Report
from judgments.documents import stubs_for
from judgments.import_kinds import Checked, ImportKind
from judgments.models import Collection, ImportedLabel, LabelSource, Query, Upload, User
from pooling.click_sources import Labelled, keep, make_source
from pooling.clicks import CLICK_MODELS
from pooling.clicks.cuts import checked_cuts, parse_cuts
from pooling.clicks.evidence import Evidence, Robots
from pooling.clicks.labelling import LEAST_IMPRESSIONS, ClickLabels, Rules, label
from pooling.clicks.log_file import read_clicks
from pooling.clicks.position_bias import UNKNOWN
from pooling.models import ClickCount
from pooling.sampling.log import normalize

# A picture and a table of it hold so many ranks.
MOST_RANKS = 1_000
MOST_IMPRESSIONS = 1_000_000
MOST_STRENGTH = 1_000_000.0


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A pair of the log, for people who ask whether it was read right."""

    query: str
    doc_id: str
    impressions: int
    clicks: int


class KnownPairs(Sequence[ShownPair]):
    """The pairs of a log whose query is one of the collection's, and the evidence that they stand on."""

    def __init__(self, evidence: Evidence, queries: Mapping[int, list[Query]]) -> None:
        # Sums by pair; any model has them.
        found = label(evidence, Rules(least_impressions=1))
        self.evidence, self.queries, self.found = evidence, queries, found
        self.at = [place for place, query in enumerate(found.query.tolist()) if query in queries]

    def __len__(self) -> int:
        return len(self.at)

    @overload
    def __getitem__(self, at: int) -> ShownPair: ...

    @overload
    def __getitem__(self, at: slice) -> list[ShownPair]: ...

    def __getitem__(self, at: int | slice) -> ShownPair | list[ShownPair]:
        if isinstance(at, slice):
            return [self._pair(place) for place in self.at[at]]
        return self._pair(self.at[at])

    def _pair(self, place: int) -> ShownPair:
        found, evidence = self.found, self.evidence
        query, doc_id = int(found.query[place]), evidence.documents[int(found.document[place])]
        typed = evidence.typed[query] or evidence.queries[query][0]
        return ShownPair(typed, doc_id, int(found.impressions[place]), int(found.clicks[place]))

    def shown_often(self, least: int) -> int:
        """How many were shown at least so often."""
        return int((self.found.impressions[self.at] >= least).sum())


def read(
    stream: IO[bytes], upload: Upload, *, progress: Callable[[int], None] | None = None
) -> tuple[Evidence, Report]:
    """Count a log while it is read; what could name a person is in no answer."""
    evidence, report = read_clicks(
        stream, path=upload.filename, format=upload.format, progress=progress, **upload.options
    )
    clean = tuple(replace(odd, raw=redact(odd.raw)[0], what=redact(odd.what)[0]) for odd in report.problems)
    return evidence, replace(report, problems=clean)


def check(collection: Collection, evidence: Evidence, upload: Upload) -> Checked:
    """Find the queries that the collection has, and say what was counted."""
    if not len(evidence.impressions):
        return Checked((), figures={"impressions": 0})
    pairs = KnownPairs(evidence, _known(collection, evidence))
    if not pairs.queries:
        told = f"None of the log's {amount(len(evidence.queries), 'query', 'queries')} is in this collection."
        fix = "Draw queries from a query log or store a file of them first; they are found by their text or their id."
        raise NotValid(f"{told} {fix}", {"file": told})
    return Checked(pairs, figures=_figures(evidence, pairs))


def _known(collection: Collection, evidence: Evidence) -> dict[int, list[Query]]:
    """The collection's queries by their place in the evidence; several may have been typed alike."""
    by_id: dict[str, list[Query]] = {}
    by_text: dict[str, list[Query]] = {}
    for query in collection.queries.all():
        by_id[query.query_id] = [query]
        by_text.setdefault(normalize(query.text), []).append(query)
    found = (by_id.get(query_id) if query_id else by_text.get(text) for query_id, text in evidence.queries)
    return {place: queries for place, queries in enumerate(found) if queries}


def _figures(evidence: Evidence, pairs: KnownPairs) -> dict[str, Any]:
    shown, clicked = int(evidence.impressions.sum()), int(evidence.clicks.sum())
    figures: dict[str, Any] = {
        "impressions": shown,
        "clicks": clicked,
        "clicks per impression": f"{clicked / shown:.1%}".replace("%", " %"),
        "queries of the log": len(evidence.queries),
        "of them in this collection": len(pairs.queries),
        f"pairs shown {LEAST_IMPRESSIONS} times or more": pairs.shown_often(LEAST_IMPRESSIONS),
    }
    told = {
        "clients": evidence.clients,
        "impressions without a client": evidence.anonymous if evidence.clients else 0,
        "impressions of robots, left out": evidence.robot_impressions,
        "clicks on what nobody recorded as shown": evidence.unshown,
        "searches without words, left out": evidence.untold,
        "impressions without a position": int(evidence.impressions[evidence.rank == UNKNOWN].sum()),
    }
    figures.update({name: number for name, number in told.items() if number})
    if evidence.first_position == 0:
        figures["first position in the log"] = "0, read as rank 1"
    figures.update({f"personal data taken out: {kind}": number for kind, number in evidence.redacted.items()})
    return figures


def rules_of(given: Mapping[str, Any]) -> Rules:
    """Return the rules that a form or a program asks for; what is not given is as usual.

    Raises
    ------
    NotValid
        For a text that names no numbers, or a value that cannot be.
    """
    usual = Rules()
    cuts = given.get("cuts") or ""
    return Rules(
        model=str(given.get("model") or usual.model),
        least_impressions=int(given.get("least_impressions") or usual.least_impressions),
        strength=None if given.get("strength") in (None, "") else float(given["strength"]),
        baseline=_rates(str(given.get("baseline") or "")),
        cuts=parse_cuts(cuts) if isinstance(cuts, str) else checked_cuts(cuts),
    )


def _rates(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.replace(";", ",").split(",") if part.strip())
    except ValueError:
        message = f"the baseline is {text[:100]!r}; write the rate of each rank from 1 on, such as 0.4, 0.2, 0.15"
        raise NotValid(message, {"baseline": message}) from None


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Make the source: a label for each pair that was shown often enough, with the counts that it stands on."""
    pairs = checked.rows
    if not isinstance(pairs, KnownPairs):
        raise AssertionError("what is stored was checked")
    rules = rules_of(options)
    found = label(pairs.evidence, rules)
    at = [place for place, query in enumerate(found.query.tolist()) if query in pairs.queries]
    if not at:
        told = f"No pair of the collection's queries was shown {amount(rules.least_impressions, 'time')}."
        raise NotValid(told, {"least_impressions": told})
    source = make_source(
        collection,
        name=str(options.get("name") or upload.filename).strip(),
        identity={"file": upload.sha256, "rules": rules.as_json()},
        report={
            "bins": upload.report.get("bins", {}),
            "file": upload.filename,
            "file_sha256": upload.sha256,
            "rules": rules.as_json(),
            **_told(pairs.evidence, found, len(at)),
        },
        actor=actor,
    )
    documents = stubs_for(collection, (pairs.evidence.documents[int(found.document[place])] for place in at))
    rows = _rows(source, pairs, found, at, documents)
    return {"rows": keep(rows), "id": str(source.uuid), "name": source.name}


def _told(evidence: Evidence, found: ClickLabels, labels: int) -> dict[str, Any]:
    """What the source's page tells of the log."""
    counts = {name: getattr(evidence, name) for name in ("clients", "anonymous", "robots", "robot_impressions")}
    rest = {name: getattr(evidence, name) for name in ("unshown", "untold", "redacted", "first_position")}
    return {
        "impressions": int(evidence.impressions.sum()),
        "clicks": int(evidence.clicks.sum()),
        "overall": found.overall,
        "ranks": [[rank.rank, rank.impressions, rank.clicks, rank.rate] for rank in found.ranks[:MOST_RANKS]],
        "few": found.few,
        "elsewhere": len(found) - labels,
        "robot_rule": asdict(Robots()),
        **counts,
        **rest,
    }


def _rows(
    source: LabelSource, pairs: KnownPairs, found: ClickLabels, at: Sequence[int], documents: Mapping[str, Any]
) -> Iterator[Labelled]:
    for place in at:
        document = documents[pairs.evidence.documents[int(found.document[place])]]
        for query in pairs.queries[int(found.query[place])]:
            made = ImportedLabel(source=source, query=query, document=document, value=float(found.labels[place]))
            yield (
                made,
                ClickCount(
                    label=made,
                    impressions=int(found.impressions[place]),
                    clicks=int(found.clicks[place]),
                    expected=float(found.expected[place]),
                    estimate=float(found.value[place]),
                    low=float(found.low[place]),
                    high=float(found.high[place]),
                ),
            )


def questions(upload: Upload) -> dict[str, forms.Field]:
    """What is asked before labels are stored."""
    usual = Rules()
    return {
        "model": forms.ChoiceField(
            label="Label",
            choices=[(name, f"{CLICK_MODELS[name].title}: {CLICK_MODELS[name].description}") for name in CLICK_MODELS],
            initial=usual.model,
            widget=forms.RadioSelect,
        ),
        "least_impressions": forms.IntegerField(
            label="A pair has a label from so many impressions on",
            min_value=1,
            max_value=MOST_IMPRESSIONS,
            initial=usual.least_impressions,
        ),
        "cuts": forms.CharField(
            label="Grades begin at these labels (optional)",
            required=False,
            max_length=300,
            help_text="For example 0.5, 1, 2 for the grades 0 to 3. Empty: fractions, which can be cut later.",
        ),
        "baseline": forms.CharField(
            label="Clicks per impression of the ranks (optional)",
            required=False,
            max_length=2_000,
            help_text="From rank 1 on, such as 0.4, 0.2, 0.15, if you know them from results in random order. "
            "Empty: the log's own.",
        ),
        "strength": forms.FloatField(
            label="Weight of the prior (optional)",
            required=False,
            min_value=1e-6,
            max_value=MOST_STRENGTH,
            help_text="So many usual expected clicks (COEC: 5) or impressions (CTR: 20) on top of each pair's own.",
        ),
    }


CLICKS = ImportKind(
    name="clicks",
    title="Click log",
    format_kind="click-log",
    default_format="click-log-csv",
    check=check,
    store=store,
    roles=LEADS,
    columns=("query", "doc_id", "impressions", "clicks"),
    asks=("name", "model", "least_impressions", "cuts", "baseline", "strength"),
    read=read,
    watched=True,
    questions=questions,
    personal=True,
)
