"""Import of click logs as label sources, kept separate from judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import IO, Any, overload

from django import forms

from assay.clicks import CLICK_MODELS
from assay.clicks.click_counts import Evidence, Robots
from assay.clicks.grade_cuts import checked_cuts, parse_cuts
from assay.clicks.labeling import LEAST_IMPRESSIONS, UNKNOWN, ClickLabels, Rules, label
from assay.clicks.log_file import read_clicks
from assay.core.errors import NotValid
from assay.core.read_report import Report
from assay.core.redaction import redact
from assay.core.text_rules import amount
from assay.sampling.row_counting import normalize
from judgments.imports.documents import stubs_for
from judgments.imports.kinds import Checked, ImportKind
from judgments.models import Collection, ImportedLabel, LabelSource, Query, Upload, User
from judgments.web.access import LEADS
from pooling.clicks.label_sources import Labelled, make_source, store_labels
from pooling.models import ClickCount

# Maximum number of ranks in the chart and its table.
MOST_RANKS = 1_000
MOST_IMPRESSIONS = 1_000_000
MOST_STRENGTH = 1_000_000.0


@dataclass(frozen=True, slots=True)
class ShownPair:
    """A pair of the log, shown in the import preview."""

    query: str
    doc_id: str
    impressions: int
    clicks: int


class KnownPairs(Sequence[ShownPair]):
    """The pairs of a log whose query is in the collection, with their counts."""

    def __init__(self, evidence: Evidence, queries: Mapping[int, list[Query]]) -> None:
        # Only the sums by pair are used, which are the same in every model.
        sums = label(evidence, Rules(least_impressions=1))
        self.evidence, self.queries, self.sums = evidence, queries, sums
        self.at = [place for place, query in enumerate(sums.query.tolist()) if query in queries]

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
        sums, evidence = self.sums, self.evidence
        query, doc_id = int(sums.query[place]), evidence.documents[int(sums.document[place])]
        typed = evidence.typed[query] or evidence.queries[query][0]
        return ShownPair(typed, doc_id, int(sums.impressions[place]), int(sums.clicks[place]))

    def shown_often(self, least: int) -> int:
        """Return the number of pairs with at least this many impressions."""
        return int((self.sums.impressions[self.at] >= least).sum())


def read(
    stream: IO[bytes], upload: Upload, *, progress: Callable[[int], None] | None = None
) -> tuple[Evidence, Report]:
    """Count a log while it is read; the result contains no personal data."""
    evidence, report = read_clicks(
        stream, path=upload.filename, format=upload.format, progress=progress, **upload.options
    )
    clean = tuple(replace(odd, raw=redact(odd.raw)[0], what=redact(odd.what)[0]) for odd in report.problems)
    return evidence, replace(report, problems=clean)


def check(collection: Collection, evidence: Evidence, upload: Upload) -> Checked:
    """Find the collection's queries in the log, and report the counts."""
    if not len(evidence.impressions):
        return Checked((), figures={"impressions": 0})
    pairs = KnownPairs(evidence, _known(collection, evidence))
    if not pairs.queries:
        message = (
            f"The log has {amount(len(evidence.queries), 'query', 'queries')}, but none of them is in this collection."
        )
        fix = "Draw queries from a query log or import them first. Assay matches them by text or id."
        raise NotValid(f"{message} {fix}", {"file": message})
    return Checked(pairs, figures=_figures(evidence, pairs))


def _known(collection: Collection, evidence: Evidence) -> dict[int, list[Query]]:
    """Return the collection's queries by their index in the log; several queries may have the same text."""
    by_id: dict[str, list[Query]] = {}
    by_text: dict[str, list[Query]] = {}
    for query in collection.queries.all():
        by_id[query.query_id] = [query]
        by_text.setdefault(normalize(query.text), []).append(query)
    matches = (by_id.get(query_id) if query_id else by_text.get(text) for query_id, text in evidence.queries)
    return {place: queries for place, queries in enumerate(matches) if queries}


def _figures(evidence: Evidence, pairs: KnownPairs) -> dict[str, Any]:
    shown, clicked = int(evidence.impressions.sum()), int(evidence.clicks.sum())
    figures: dict[str, Any] = {
        "impressions": shown,
        "clicks": clicked,
        "clicks per impression": f"{clicked / shown:.1%}",
        "queries in the log": len(evidence.queries),
        "queries also in this collection": len(pairs.queries),
        f"pairs with at least {LEAST_IMPRESSIONS} impressions": pairs.shown_often(LEAST_IMPRESSIONS),
    }
    exclusions = {
        "clients": evidence.clients,
        "impressions without a client": evidence.anonymous if evidence.clients else 0,
        "impressions by robots, left out": evidence.robot_impressions,
        "clicks without a recorded impression": evidence.unshown,
        "searches without text, left out": evidence.without_query,
        "impressions without a position": int(evidence.impressions[evidence.rank == UNKNOWN].sum()),
    }
    figures.update({name: number for name, number in exclusions.items() if number})
    if evidence.first_position == 0:
        figures["first position in the log"] = "0, read as rank 1"
    figures.update({f"personal data removed: {kind}": number for kind, number in evidence.redacted.items()})
    return figures


def rules_of(given: Mapping[str, Any]) -> Rules:
    """Return the requested label rules, with defaults for the rest."""
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
        message = (
            f"{text[:100]!r} is not a list of click rates. Enter the rate of each rank, starting with rank 1, for "
            "example 0.4, 0.2, 0.15."
        )
        raise NotValid(message, "baseline") from None


def store(
    collection: Collection, checked: Checked, upload: Upload, options: dict[str, Any], actor: User
) -> dict[str, Any]:
    """Create the source: a label with its counts for each pair with enough impressions."""
    pairs = checked.rows
    if not isinstance(pairs, KnownPairs):
        raise AssertionError("rows are checked before they are stored")
    rules = rules_of(options)
    labels = label(pairs.evidence, rules)
    at = [place for place, query in enumerate(labels.query.tolist()) if query in pairs.queries]
    if not at:
        message = f"No pair of the collection's queries has at least {amount(rules.least_impressions, 'impression')}."
        raise NotValid(message, "least_impressions")
    source = make_source(
        collection,
        name=str(options.get("name") or upload.filename).strip(),
        identity={"file": upload.sha256, "rules": rules.as_json()},
        report={
            "bins": upload.report.get("bins", {}),
            "file": upload.filename,
            "file_sha256": upload.sha256,
            "rules": rules.as_json(),
            **_report(pairs.evidence, labels, len(at)),
        },
        actor=actor,
    )
    documents = stubs_for(collection, (pairs.evidence.documents[int(labels.document[place])] for place in at))
    rows = _rows(source, pairs, labels, at, documents)
    return {"rows": store_labels(rows), "id": str(source.uuid), "name": source.name}


def _report(evidence: Evidence, computed: ClickLabels, labels: int) -> dict[str, Any]:
    """Return the statistics of the log for the page of the source."""
    counts = {name: getattr(evidence, name) for name in ("clients", "anonymous", "robots", "robot_impressions")}
    rest = {name: getattr(evidence, name) for name in ("unshown", "redacted", "first_position")}
    rest["untold"] = evidence.without_query
    return {
        "impressions": int(evidence.impressions.sum()),
        "clicks": int(evidence.clicks.sum()),
        "overall": computed.overall,
        "ranks": [[rank.rank, rank.impressions, rank.clicks, rank.rate] for rank in computed.ranks[:MOST_RANKS]],
        "few": computed.few,
        "elsewhere": len(computed) - labels,
        "robot_rule": asdict(Robots()),
        **counts,
        **rest,
    }


def _rows(
    source: LabelSource, pairs: KnownPairs, computed: ClickLabels, at: Sequence[int], documents: Mapping[str, Any]
) -> Iterator[Labelled]:
    for place in at:
        document = documents[pairs.evidence.documents[int(computed.document[place])]]
        for query in pairs.queries[int(computed.query[place])]:
            made = ImportedLabel(source=source, query=query, document=document, value=float(computed.labels[place]))
            yield (
                made,
                ClickCount(
                    label=made,
                    impressions=int(computed.impressions[place]),
                    clicks=int(computed.clicks[place]),
                    expected=float(computed.expected[place]),
                    estimate=float(computed.value[place]),
                    low=float(computed.low[place]),
                    high=float(computed.high[place]),
                ),
            )


def questions(upload: Upload) -> dict[str, forms.Field]:
    """Return the form fields that an upload needs before its labels are stored."""
    usual = Rules()
    return {
        "model": forms.ChoiceField(
            label="Label",
            choices=[(name, f"{CLICK_MODELS[name].title}: {CLICK_MODELS[name].description}") for name in CLICK_MODELS],
            initial=usual.model,
            widget=forms.RadioSelect,
        ),
        "least_impressions": forms.IntegerField(
            label="Minimum impressions per pair",
            min_value=1,
            max_value=MOST_IMPRESSIONS,
            initial=usual.least_impressions,
        ),
        "cuts": forms.CharField(
            label="Thresholds for grades (optional)",
            required=False,
            max_length=300,
            help_text="For example 0.5, 1, 2 for the grades 0 to 3. Leave empty to keep fractions, which you can "
            "convert to grades later.",
        ),
        "baseline": forms.CharField(
            label="Clicks per impression by rank (optional)",
            required=False,
            max_length=2_000,
            help_text="Starting with rank 1, for example 0.4, 0.2, 0.15. Enter only rates that you measured on "
            "randomly ordered results. Leave empty to use the rates of the log.",
        ),
        "strength": forms.FloatField(
            label="Weight of the prior (optional)",
            required=False,
            min_value=1e-6,
            max_value=MOST_STRENGTH,
            help_text="Expected clicks (COEC, usually 5) or impressions (CTR, usually 20) added to those of each pair.",
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
