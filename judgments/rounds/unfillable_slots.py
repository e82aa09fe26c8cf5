"""Ratings that no current rater can give, and the number of additional raters needed.

A rater grades a pair only once. If a pair needs more ratings than it has raters left, the missing ratings would wait
forever without a visible reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import get_language_info

from assay.core.text_rules import amount
from judgments.members import round_raters
from judgments.members.round_raters import covers
from judgments.models import AuditRow, Judgment, Membership, Pair, Role, Round, RoundReport, Slot, Tally

# The maximum number of slots to check during a request; larger rounds use the last report.
AT_ONCE = 20_000
# Larger rounds store at most this many kinds; with more kinds there are so many raters that shortages are unlikely.
MOST_KINDS = 5_000

# Language, missing ratings per pair, raters who cannot give any of them, and number of such pairs.
Kind = tuple[str, int, Iterable[int], int]


@dataclass(frozen=True)
class Shortage:
    """Missing ratings of one language that no current rater can give."""

    language: str
    places: int
    raters: int
    paused: tuple[str, ...] = ()
    qualification: str = ""

    @property
    def words(self) -> str:
        """A sentence that states the shortage and the action."""
        one = self.raters == 1
        people = "another rater" if one else f"{self.raters:,} more raters"
        reads = f" who read{'s' if one else ''} {in_english(self.language)}" if self.language else ""
        fit = f" with the qualification {self.qualification}" if self.qualification else ""
        paused = f", or resume {self.paused[0]}, who is paused" if len(self.paused) == 1 else ""
        paused = f", or resume one of {', '.join(self.paused)}, who are paused" if len(self.paused) > 1 else paused
        return f"{amount(self.places, 'rating')} that no current rater can give. Invite {people}{fit}{reads}{paused}."


def in_english(language: str) -> str:
    """Return the English name of a language; its tag if the name is unknown."""
    try:
        return str(get_language_info(language.lower())["name"])
    except KeyError:
        return language


def shortages(round_: Round) -> list[Shortage]:
    """Return the ratings that no current rater can give, by language; empty for a closed round or without raters."""
    if round_.state == Round.State.CLOSED:
        return []
    people = _Raters(round_)
    if not people.anybody or _is_safe(round_, people):
        return []
    if round_.slots_made <= AT_ONCE:
        open_kinds = kinds(round_, people.leads)
    else:
        open_kinds = RoundReport.objects.filter(round=round_).values_list("report__open_kinds", flat=True).first()
    return _counted(round_, people, open_kinds or [])


def to_keep(round_: Round) -> list[Kind] | None:
    """Return the part of a large round's report for this; None for a small round, which is counted on request."""
    return kinds(round_) if round_.slots_made > AT_ONCE else None


def kinds(round_: Round, leads: Set[int] | None = None) -> list[Kind] | None:
    """Count the unfinished pairs by the raters who can rate them; None if there are too many kinds."""
    if round_.state == Round.State.CLOSED:
        return []
    over = Judgment.objects.filter(Q(surplus=True) | Q(state__in=Judgment.NO_ANSWER))
    filled = Slot.objects.filter(filled_by__isnull=False)
    begun = Exists(filled.filter(pair=OuterRef("pk")))
    pairs = Pair.objects.filter(round=round_).order_by()
    # The database counts pairs without an answer, which is fast for any number.
    counted: Counter[tuple[str, int, tuple[int, ...]]] = Counter()
    for sign, rows in ((1, pairs), (-1, pairs.filter(begun))):
        for language, number, many in rows.values_list("query__language", "ratings_wanted").annotate(many=Count("pk")):
            counted[language, number, ()] += sign * many
    free = Slot.objects.filter(Exists(filled.filter(pair=OuterRef("pair"))), round=round_, filled_by__isnull=True)
    rows = free.order_by().values_list("pair", "language").annotate(number=Count("pk"))
    places: dict[int, tuple[str, int]] = {pair: (language, number) for pair, language, number in rows.iterator()}
    emptied = pairs.filter(Exists(over.filter(pair=OuterRef("pk")))).exclude(begun)
    columns = ("pk", "query__language", "ratings_wanted")
    # A rater may still hold an extra slot that is no longer needed.
    for pair, language, wanted, number in emptied.values_list(*columns).annotate(number=Count("slots")).iterator():
        places[pair] = (language, number)
        counted[language, wanted, ()] -= 1
    blocked = _blocked(round_, places, over, _leads(round_) if leads is None else leads)
    for pair, (language, number) in places.items():
        counted[language, number, tuple(sorted(blocked[pair]))] += 1
    rows_ = [
        (language, number, [*raters], many) for (language, number, raters), many in sorted(counted.items()) if many
    ]
    return rows_ if len(rows_) <= MOST_KINDS else None


def _blocked(round_: Round, pairs: Collection[int], over: QuerySet[Judgment], leads: Set[int]) -> dict[int, set[int]]:
    """Return the raters who can give no further rating, for each of these pairs."""
    blocked: defaultdict[int, set[int]] = defaultdict(set)
    wanting = Slot.objects.filter(pair=OuterRef("pair"), filled_by__isnull=True)
    filled = Slot.objects.filter(Exists(wanting), round=round_, filled_by__isnull=False).order_by()
    for pair, rater in filled.values_list("pair", "rater").iterator():
        blocked[pair].add(rater)
    events = over.filter(pair__round=round_).order_by().values_list("pair", "rater", "state", "surplus")
    for pair, rater, state, surplus in events.iterator():
        if pair not in pairs:
            continue
        if surplus or state == Judgment.State.REQUEUED:
            blocked[pair].add(rater)
        if state in Judgment.NO_ANSWER:
            blocked[pair] |= leads - {rater}  # the same rule as in slot_search
    return blocked


class _Raters:
    """The people who can rate in a round now, including those who may still join."""

    def __init__(self, round_: Round) -> None:
        self.round = round_
        rows = Membership.objects.filter(
            collection=round_.collection_id, role__in=round_raters.RATE, user__is_active=True
        )
        members = {row.user_id: row for row in rows}
        self.leads = {pk for pk, row in members.items() if row.role == Role.LEAD}
        invited = [row for row in round_.raters.filter(left_at__isnull=True) if row.user_id in members]
        self.paused = {row.user_id: row.pseudonym for row in invited if row.paused_at is not None}
        here = {row.user_id for row in invited} - self.paused.keys()
        self.anybody = bool(invited)
        coming = round_raters.may_join(round_, members.values())
        self.reads: Mapping[int, list[str]] = {pk: row.languages for pk, row in members.items()}
        self.now: Set[int] = here | {row.user_id for row in coming if row.user_id not in self.paused}

    def reading(self, language: str, among: Iterable[int]) -> set[int]:
        """Return the people among these who get queries in this language."""
        if not self.round.by_language or not language:
            return {*among}
        return {pk for pk in among if not self.reads[pk] or any(covers(tag, language) for tag in self.reads[pk])}


def _leads(round_: Round) -> set[int]:
    members = Membership.objects.filter(collection=round_.collection_id, role=Role.LEAD)
    return {*members.values_list("user_id", flat=True)}


def _is_safe(round_: Round, people: _Raters) -> bool:
    """Return whether there are certainly enough raters for every slot, without reading pairs."""
    tallies = [*Tally.objects.filter(round=round_).values_list("rater", "surplus", "filled")]
    if round_.slots_made <= sum(filled for _, _, filled in tallies):
        return True
    most = round_.ratings_per_pair + (round_.extra_most if round_.extra_at is not None else 0)
    odd = {rater for rater, surplus, _ in tallies if surplus} | people.leads
    languages = [*round_.languages_made] if round_.by_language else [""]
    if any(len(people.reading(language, people.now - odd)) < most for language in languages):
        return False
    acts = AuditRow.objects.filter(collection=round_.collection_id, verb="pausing.requeue", target_uuid=round_.uuid)
    return not acts.exists()


def _counted(round_: Round, people: _Raters, open_kinds: Iterable[Kind]) -> list[Shortage]:
    places: Counter[str] = Counter()
    raters: Counter[str] = Counter()
    waiting: defaultdict[str, set[int]] = defaultdict(set)
    available = {language: people.reading(language, people.now) for language in {kind[0] for kind in open_kinds}}
    for language, number, closed, pairs in open_kinds:
        missing = number - len(available[language] - {*closed})
        if missing > 0:
            name = language if round_.by_language else ""
            places[name] += missing * pairs
            raters[name] = max(raters[name], missing)
            waiting[name] |= people.reading(language, people.paused) - {*closed}
    return [
        Shortage(
            language,
            number,
            raters[language],
            tuple(sorted(people.paused[pk] for pk in waiting[language])),
            round_.qualification,
        )
        for language, number in sorted(places.items())
    ]
