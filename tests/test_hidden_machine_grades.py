"""Tests that no URL for raters reveals machine grades.

Each is asked before and after machines of every kind have been at every pair, with whatever a rater can send there, and
what follows from a grade is looked at as well: not one answer may differ, in its status, its headers or a byte, and
none may hold a word of it.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction
from django.utils.http import urlencode

from judgments.agreement import resolutions
from judgments.members import invite_links
from judgments.models import BattleRun, Document, Query, Round, User
from judgments.quality import gold_pairs, qualification
from judgments.rating import assignment, submission
from judgments.rounds import rounds
from judgments.rounds import rounds as remaining_pairs
from judgments.rounds.settings import RoundSettings
from pooling.pools import pools
from tests.machines import MODEL, NAME, PLANTED, judge_everything
from tests.test_access_matrix import LINES, WHO, address
from tests.world import SECRETS, World, grade_all, make_world

pytestmark = pytest.mark.django_db
MARKS = (PLANTED, NAME, MODEL, "reasons-of-a-machine", "raw-of-a-machine", "name-of-a-judge")
# What differs from one answer to the next whoever asks: tokens of forms (64 letters) and of programs, of the page's
# scripts, the number under which an answer will be sent, and times.
CHANGING = re.compile(
    rb"[A-Za-z0-9]{64}|assay_[\w-]+|nonce-[\w=+/-]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    rb"|\d\d:\d\d(:\d\d[.\d]*Z?)?"
)
# Who rates documents of a decision's queries may not see their lists.
REFUSED = re.compile(r"/decisions/\*/(lists/next|preferences)/$")
IDS = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
Known = Mapping[bytes, bytes]


@dataclass(frozen=True)
class Ask:
    """One request of a rater; what ``sent`` is as JSON or as a form, its address says."""

    method: str
    path: str
    payload: Any = ""

    @property
    def body(self) -> tuple[str, str]:
        if self.path.startswith("/api/"):
            return (json.dumps(self.payload) if self.payload != "" else ""), JSON
        return urlencode(self.payload, doseq=True) if self.payload else "sent=1", FORM


@dataclass(frozen=True)
class Response:
    """All that came back: status, headers and body, of redirects too, without what changes each time."""

    ask: Ask
    status: int
    parts: list[bytes] = field(repr=False)


@dataclass(frozen=True)
class Rated:
    """A round that the rater is at: what they hold there, and what they have answered."""

    round: Round
    held: list[Any] = field(default_factory=list)
    answered: Any = None  # the judgment

    def known(self) -> Known:
        """The ids that stand in answers, by the place: two rounds of the same pairs read the same."""
        pairs = self.round.pairs.order_by("position")
        named = {str(pair.uuid).encode(): b"pair-%d" % pair.position for pair in pairs}
        return named | {str(self.round.uuid).encode(): b"round"}


def send_all(client: Any, ask: Ask, known: Known, *more: Ask) -> list[Response]:
    """What is told to one request and to those that follow it; nothing that was done stays."""
    cookies = dict(client.cookies)
    cache.clear()  # what was computed before would hide what is told now
    with transaction.atomic():
        responses = [_response(client, one, known) for one in (ask, *more)]
        transaction.set_rollback(True)
    client.cookies.clear()
    client.cookies.update(cookies)
    return responses


def _response(client: Any, ask: Ask, known: Known) -> Response:
    body, kind = ask.body
    response = client.generic(ask.method, ask.path, body, content_type=kind)
    parts = _parts(response, known)
    while response.status_code in (301, 302, 303):
        response = client.get(response.headers["Location"])
        parts += _parts(response, known)
    return Response(ask, response.status_code, parts)


def _parts(response: Any, known: Known) -> list[bytes]:
    text = b"".join(response.streaming_content) if response.streaming else response.content
    # An ETag follows from the body, with the ids that change.
    headers = sorted(f"{name}: {value}" for name, value in response.headers.items() if name != "ETag")
    cookies = sorted(response.cookies)
    whole = [str(response.status_code).encode(), *(part.encode() for part in (*headers, *cookies)), text]
    return [CHANGING.sub(lambda match: known.get(match[0], b""), part) for part in whole]


def reached(world: World, rated: list[Round]) -> Iterator[Ask]:
    """Every address that lets a rater in, from the table that holds every address there is, in each of the rounds."""
    column = WHO.index("rater")
    for line in LINES:
        if line.expected[column] in (403, 404) or "docs" in line.route or "schema" in line.route:
            continue
        for round_ in rated if "rounds/<uuid:uuid>" in line.route else rated[:1]:
            yield Ask(line.method, address(line.route, replace(world, round=round_)))


def rater_posts(at: Rated) -> Iterator[Ask]:
    """All that a rater can send in a round, as it is really sent."""
    page, api = f"/rounds/{at.round.uuid}", f"/api/v1/rounds/{at.round.uuid}"
    first, second, *_ = (str(pair.uuid) for pair in at.held)
    one, two = (str(uuid.UUID(int=number)) for number in (1, 2))
    form = {"pair": first, "client_id": one}
    rows = {f"pair-{first}": "2", f"client-{first}": one, f"was-{first}": "", f"client-{second}": two}
    yield from (Ask("GET", f"{page}/rate/{query}") for query in ("", "?mode=list", f"?pair={second}"))
    yield Ask("POST", f"{page}/rate/", {**form, "grade": "3", "note": "mine"})
    yield Ask("POST", f"{page}/rate/", {**form, "state": "unrateable", "reason": "language"})
    yield Ask("POST", f"{page}/rate/", {**form, "state": "later"})
    yield from (Ask("POST", f"{page}/rate/", {"list": how, **rows}) for how in ("save", "later"))
    yield from (Ask("POST", f"{page}/rate/", {name: "1"}) for name in ("undo", "read"))
    ahead = ({}, {"have": [first]}, {"looks": 1, "have": [second]})
    yield from (Ask("POST", f"{page}/rate/next/", have) for have in ahead)
    yield from (Ask("POST", f"{page}/{act}/") for act in ("join", "release"))
    yield Ask("POST", f"{api}/judgments/", {"pair": first, "client_id": one, "grade": 2})
    listed = [{"pair": second, "client_id": two, "grade": 0}, {"pair": first, "client_id": one, "state": "unrateable"}]
    yield Ask("POST", f"{api}/judgments/", listed)
    yield from (Ask("POST", f"{api}/batch/?size={size}") for size in (1, 50))
    yield from (Ask("POST", f"{api}/{act}/") for act in ("join", "release"))
    yield Ask("GET", f"{api}/progress/")
    if at.answered is not None:
        again = {"again": "1", "pair": str(at.answered.pair.uuid), "client_id": one, "grade": "1"}
        yield Ask("GET", f"{page}/rate/?again={again['pair']}")
        yield Ask("POST", f"{page}/rate/", again)
        payload = {"pair": again["pair"], "client_id": str(at.answered.client_id), "grade": at.answered.grade}
        yield Ask("POST", f"{api}/judgments/", payload)
        yield Ask("POST", f"{api}/judgments/{at.answered.client_id}/undo/")


def then(at: Rated, ask: Ask) -> list[Ask]:
    """What a rater looks at after an answer of theirs, or after taking one back."""
    page, api = f"/rounds/{at.round.uuid}", f"/api/v1/rounds/{at.round.uuid}"
    if ask.method != "POST" or not ask.path.endswith(("/rate/", "/judgments/", "/undo/")):
        return []
    looks = (f"{page}/rate/last/", f"{api}/judgments/", f"{api}/progress/", "/")
    return [Ask("POST", f"{api}/batch/?size=50"), *(Ask("GET", path) for path in looks)]


def of_their_own(learning: Round, rater: User, code: str) -> Iterator[Ask]:
    """What a rater can send that belongs to no open round: a calibration, and what is theirs."""
    probe = qualification.next_probe(learning, rater)
    assert probe is not None
    answer = {"pair": str(probe.uuid), "client_id": str(uuid.UUID(int=3))}
    page = f"/rounds/{learning.uuid}/calibrate/"
    yield from (Ask("POST", page, payload) for payload in ({**answer, "grade": "3"}, {**answer, "state": "unrateable"}))
    yield Ask("POST", page, {"again": "1"})
    for path in ("/c/new/", "/api/v1/collections/"):
        yield Ask("POST", path, {"slug": "own", "name": "Own"})
    for path in ("/tokens/", "/api/v1/tokens/"):
        yield Ask("POST", path, {"name": "own", "scopes": ["read"]})
    new = {"new_password1": "rain-jacket-and-tent", "new_password2": "rain-jacket-and-tent"}
    yield Ask("POST", "/password/", {"old_password": "pass", **new})
    yield Ask("POST", "/keys/", {"undo": "x"})
    yield Ask("POST", "/invite/", {"code": code})
    yield Ask("POST", "/invite/", {"code": "a code"})
    yield Ask("POST", "/login/", {"username": rater.username, "password": "pass"})


@pytest.fixture
def world(collection: Any, lead: Any, engineer: Any, rater: Any, rater2: Any, settings: Any) -> World:
    settings.INVITE_LINKS = True
    return make_world(collection, lead=lead, engineer=engineer, rater=rater, rater2=rater2)


def new_round(world: World, name: str, lead: User, *raters: User, **options: Any) -> Round:
    """A round over the world's pool at which no machine has been."""
    return pools.make_round(world.pool, actor=lead, name=name, guidelines=world.version, raters=raters, **options)


def begun(round_: Round, rater: User, *, answers: int) -> Rated:
    """The round with its first pairs in the rater's hands, the first of them answered."""
    held = assignment.claim_batch(round_, rater=rater, size=50)
    given = None
    for pair in held[:answers]:
        given = submission.submit(round_, submission.Answer(uuid.uuid4(), pair.uuid, 2), rater=rater).judgment
    return Rated(round_, held[answers:], given)


def calibrating(world: World, lead: User, rater: User) -> Round:
    settings = RoundSettings(pass_mark=0.5)
    round_ = rounds.open_round(new_round(world, "Learning", lead, rater, settings=settings), actor=lead)
    query = Query.objects.create(collection=world.collection, query_id="g1", text="known")
    texts = [Document.objects.create(collection=world.collection, doc_id=f"g{at}", title=f"G{at}") for at in (1, 2)]
    known = [gold_pairs.Known(query, document, 3, "why-it-is-known") for document in texts]
    gold_pairs.add(round_, known, use="calibration", actor=lead)
    return Round.objects.get(pk=round_.pk)


@pytest.mark.slow
def test_no_endpoint_for_raters_reveals_machine_grades(
    world: World, client_of: Callable[[Any], Any], lead: Any, rater: Any, rater2: Any, settings: Any
) -> None:
    settings.INVITE_LINKS = True
    User.objects.filter(pk=rater.pk).update(can_create_collections=True)  # so that this address answers too
    open_ = rounds.open_round(new_round(world, "Clean", lead, rater, rater2), actor=lead)
    draft = new_round(world, "Not open yet", lead, rater)
    learning = calibrating(world, lead, rater)
    _, code = invite_links.make(world.collection, actor=lead, round_=draft)
    grade_all(open_, rater2, dict.fromkeys(("d1", "d2", "d3", "d4", "d5"), 0))
    at = begun(open_, rater, answers=2)
    closed = Rated(world.closed)
    resolutions.resolve(world.conflict, grade=1, actor=lead, reason="It is no jacket.")
    client = client_of(rater)
    known = at.known()
    plain = [*reached(world, [open_, draft, learning, closed.round]), *of_their_own(learning, rater, code)]
    posts = list(rater_posts(at))

    def everything() -> list[Response]:
        singly = [one for ask in plain for one in send_all(client, ask, known)]
        return singly + [one for ask in posts for one in send_all(client, ask, known, *then(at, ask))]

    before = everything()
    assert _unanswered(before, plain, posts) == []
    judge_everything(world.collection, [open_, draft, learning, closed.round, world.round, world.draft])
    for stored in open_.battle_runs.get(), world.collection.judges.get(name=f"{NAME} first"):
        kind = "battles" if isinstance(stored, BattleRun) else "judges"
        answers = client_of(lead).get(f"/api/v1/rounds/{open_.uuid}/{kind}/{stored.uuid}/answers/")
        assert PLANTED in answers.content.decode()
    after = everything()
    assert [(old.ask, old.status, new.status) for old, new in zip(before, after, strict=True) if old != new] == []
    assert _revealing(after) == []
    # A round of what machines left to people was not there before: not a word of them stands in it.
    how = {"auto_accept": {"judge": NAME, "left_out": 1}, "routed": {"round": PLANTED}}
    left = remaining_pairs.draft_of(open_, at.held, origin=how, actor=lead)
    there = begun(rounds.open_round(left, actor=lead), rater, answers=1)
    seen = [*reached(world, [there.round]), *rater_posts(there)]
    assert _revealing([one for ask in seen for one in send_all(client, ask, known)]) == []


def _shape(ask: Ask) -> tuple[str, str]:
    return ask.method, IDS.sub("*", ask.path.split("?")[0])


def _unanswered(responses: list[Response], plain: list[Ask], posts: list[Ask]) -> list[Any]:
    """Addresses that never gave anything, and what was really sent and refused: of those nothing would be shown."""
    good = [one.ask for one in responses if one.status < 300]
    silent = {_shape(ask) for ask in plain} - {_shape(ask) for ask in good}
    silent = {(method, path) for method, path in silent if not REFUSED.search(path)}
    return [*sorted(silent), *(ask for ask in posts if ask not in good)]


def _revealing(responses: list[Response]) -> list[Ask]:
    return [one.ask for one in responses if any(mark.encode() in b"".join(one.parts) for mark in (*MARKS, *SECRETS))]
