"""Tests of access: the API's rights hold for every tool, over both transports, and tokens appear nowhere."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from assay.mcp.connections import Connections
from judgments.members import tokens
from judgments.models import ApiToken, Judgment, Round
from judgments.rounds import rounds
from pooling.models import Run
from pooling.pools import pools
from tests.assay.mcp.conftest import (
    Agent,
    Session,
    environment_of,
    http_server,
    in_process,
    over_http,
    over_stdio,
    running,
)
from tests.faulty_proxy import FaultyProxy
from tests.world import SECRETS, World

pytestmark = pytest.mark.django_db(transaction=True)

OK, NO = True, False
PAIR = {"baseline": "bm25", "candidate": "neural"}
RULES = ["nDCG@10 >= 0"]
NEW = "file:third.run"
# Tool, arguments, and whether an outsider, a rater, an engineer and a lead get an answer.
TABLE: list[tuple[str, dict[str, Any], tuple[bool, bool, bool, bool]]] = [
    ("list_collections", {}, (OK, OK, OK, OK)),
    ("list_runs", {}, (NO, NO, OK, OK)),
    ("list_snapshots", {}, (NO, NO, OK, OK)),
    ("list_rounds", {}, (NO, NO, OK, OK)),
    ("list_gates", {}, (NO, NO, OK, OK)),
    ("round_progress", {"round": "open"}, (NO, OK, OK, OK)),
    ("read_guidelines", {}, (NO, NO, OK, OK)),
    ("label_freshness", {}, (NO, NO, OK, OK)),
    ("unjudged_pairs", {"runs": ["bm25"]}, (NO, NO, OK, OK)),
    ("decision_critical_pairs", PAIR, (NO, NO, OK, OK)),
    ("compare_runs", PAIR, (NO, NO, OK, OK)),
    ("decide", PAIR, (NO, NO, OK, OK)),
    ("evaluate", {"runs": ["bm25"]}, (NO, NO, OK, OK)),
    ("gate", {"candidate": "bm25", "rules": RULES}, (NO, NO, OK, OK)),
    ("gate", {"candidate": "bm25", "rules": RULES, "record": True}, (NO, NO, OK, OK)),
    ("push_run", {"file": "third.run"}, (NO, NO, OK, OK)),
    ("request_round", {"name": "New", "pairs": [{"query_id": "q1", "doc_id": "d9"}]}, (NO, NO, NO, OK)),
    ("validate_file", {"file": "third.run"}, (OK, OK, OK, OK)),
]
WHO = ("outsider", "rater", "engineer", "lead")
# Parts of addresses at which people act. No tool may request one.
OF_PEOPLE = ("/judgments/", "/batch/", "/resolve/", "/settle/", "/join/", "/open/", "/close/", "/reopen/", "/tokens/")


def ask(agent: Agent, world: World, tool: str, arguments: dict[str, Any]) -> bool:
    wanted = {name: str(world.round.uuid) if value == "open" else value for name, value in arguments.items()}
    failed, text = agent.attempt(tool, **wanted)
    assert text != f"Error executing tool {tool}"
    return not failed


@pytest.mark.slow
@pytest.mark.parametrize("who", WHO)
def test_every_tool_has_the_rights_of_the_token(
    who: str,
    mcp_url: str,
    proxy: FaultyProxy,
    token_of: Callable[[Any], str],
    world: World,
    request: pytest.FixtureRequest,
) -> None:
    user = request.getfixturevalue(who)
    token, before = token_of(user), Judgment.objects.count()
    with running(over_http(mcp_url, token)) as agent:
        answered = {(at, tool): ask(agent, world, tool, arguments) for at, (tool, arguments, _) in enumerate(TABLE)}
    assert {tool for tool, *_ in TABLE} == {tool.name for tool in agent.tools}
    assert answered == {(at, tool): may[WHO.index(who)] for at, (tool, _, may) in enumerate(TABLE)}
    assert [line for line in proxy.requests if any(part in line for part in OF_PEOPLE)] == []
    assert Judgment.objects.count() == before
    text = "".join(agent.texts)
    assert token not in text
    if who in ("outsider", "rater"):
        # `validate_file` and `unjudged_pairs` read the test's own files, which hold no secret.
        assert [word for word in SECRETS if word in text] == []
    assert Run.objects.filter(name="third").exists() is (who in ("engineer", "lead"))
    assert Round.objects.filter(name="New").exists() is (who == "lead")


def test_a_lead_who_may_still_grade_reads_no_grade(agent_of: Session, world: World, lead: Any) -> None:
    again = pools.make_round(world.pool, actor=lead, name="Again", guidelines=world.version, raters=[lead])
    rounds.open_round(again, actor=lead)
    with agent_of(lead) as agent:
        (row,) = agent.answer("list_snapshots")["rows"]
        assert "by_grade" not in row["summary"]
        (run,) = agent.answer("evaluate", runs=["bm25"])["runs"]
        assert [one for one in run["metrics"].values() if "mean" in one] == []
        for tool, arguments, _ in TABLE:
            if tool in ("compare_runs", "decision_critical_pairs", "decide", "gate", "unjudged_pairs"):
                assert ask(agent, world, tool, {**arguments, "labels": "first"}) is False, agent.texts[-1]
        progress = agent.answer("round_progress", round=str(world.round.uuid))
        assert {"confusion", "grades", "shares"} & {
            name for name, value in progress["agreement"].items() if value
        } == set()


def test_requests_need_a_valid_token(mcp_url: str, token_of: Callable[[Any], str], lead: Any, world: World) -> None:
    token = token_of(lead)
    assert post(mcp_url, Authorization=f"Bearer {token}") == 200
    for wrong in ({}, {"Authorization": f"Bearer {token}x"}, {"Authorization": "Bearer "}, {"Authorization": token}):
        assert post(mcp_url, **wrong) == 401, wrong
    ApiToken.objects.filter(user=lead).delete()
    assert post(mcp_url, Authorization=f"Bearer {token}") == 401


def test_a_token_that_only_reads_stores_nothing(mcp_url: str, lead: Any, world: World) -> None:
    token = tokens.make_token(lead, name="reads", scopes=["read"])[1]
    with running(over_http(mcp_url, token)) as agent:
        assert agent.answer("compare_runs", **PAIR)["pairs"]
        assert agent.answer("gate", candidate=NEW, rules=["AP >= 0"])["passed"]
        for tool, arguments, _ in TABLE:
            if tool in ("evaluate", "push_run", "request_round") or arguments.get("record"):
                assert ask(agent, world, tool, arguments) is False


def test_odd_arguments_are_refused(agent_of: Session, lead: Any, world: World) -> None:
    with agent_of(lead) as agent:
        for tool, arguments in (
            ("list_runs", {"page": 10**30}),
            ("list_runs", {"page": 99}),
            ("list_runs", {"collection": "../../tokens"}),
            ("list_runs", {"collection": "a\0b"}),
            ("list_rounds", {"state": "lost"}),
            ("read_guidelines", {"version": -1}),
            ("read_guidelines", {"version": 10**30}),
            ("read_guidelines", {"against": 99}),
            ("label_freshness", {"labels": "a\0b"}),
            ("evaluate", {"runs": ["bm25"], "metrics": ["nDCG@10"] * 21}),
            ("request_round", {"name": "", "pairs": [{"query_id": "q1", "doc_id": "d1"}]}),
            ("request_round", {"name": "x", "pairs": [{"query_id": "q1", "doc_id": "d1"}] * 1001}),
            ("push_run", {"file": "qrels.txt"}),
        ):
            assert agent.error(tool, **arguments)
        assert agent.answer("list_runs", page=-1)["next_page"] is None


def test_the_login_of_the_operator_serves_nobody_else(
    live_server: Any, folder: Path, token_of: Callable[[Any], str], lead: Any, outsider: Any, world: World
) -> None:
    stored = {"ASSAY_TOKEN": token_of(lead)}
    with http_server(live_server.url, folder, **stored) as url:
        assert {post(url), post(url, Authorization="Bearer "), post(url, Authorization="Bearer  ")} == {401}
        with running(over_http(url, token_of(outsider))) as agent:
            assert "shop" not in [row["slug"] for row in agent.answer("list_collections")["rows"]]
            assert "reads no files" in agent.error("evaluate", runs=[NEW], labels="file:qrels.txt")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example.com"}, 403),
        ({"Origin": "http://127.0.0.1.evil.example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example.com"}, 421),
        ({"Host": "127.0.0.1.evil.example.com:80"}, 421),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "https://app.example.com"}, 200),
        ({"Host": "mcp.example.com"}, 200),
    ],
)
def test_host_and_origin_are_checked(
    mcp_url: str, token_of: Callable[[Any], str], lead: Any, headers: dict[str, str], status: int
) -> None:
    assert post(mcp_url, Authorization=f"Bearer {token_of(lead)}", **headers) == status


def test_a_failing_server_is_a_sentence(
    mcp_url: str, proxy: FaultyProxy, token_of: Callable[[Any], str], lead: Any, world: World
) -> None:
    token = token_of(lead)
    with running(over_http(mcp_url, token)) as agent:
        for fault in ("error", "html", "closed", "half"):
            proxy.faults = [("/shop/runs/", fault)] * 3
            message = agent.error("list_runs")
            assert "3 attempts" in message
            proxy.faults = [("/shop/runs/", fault)] * 2
            assert agent.answer("list_runs")["total"] == 2
        # While tokens cannot be checked, no file is read.
        proxy.faults = [("/collections/?", "error")]
        assert "could not be checked" in agent.error("validate_file", file="third.run")
        assert agent.answer("validate_file", file="third.run")["ok"]
        for tool, arguments in (
            ("list_runs", {"collection": "none"}),
            ("evaluate", {"runs": ["none"]}),
            ("evaluate", {"runs": ["bm25"], "labels": "none"}),
            ("compare_runs", {**PAIR, "metric": "none"}),
            ("round_progress", {"round": "00000000-0000-4000-8000-000000000000"}),
            ("read_guidelines", {"version": 99}),
            ("request_round", {"name": "x", "pairs": [{"query_id": "q1"}]}),
            ("request_round", {"name": "x", "pairs": [{"query_id": "q1", "doc_id": "d1"}], "raters": ["nobody"]}),
        ):
            assert agent.error(tool, **arguments)
    assert token not in "".join(agent.texts)


def test_over_stdio_the_token_is_that_of_the_environment(
    live_server: Any, folder: Path, token_of: Callable[[Any], str], engineer: Any, world: World
) -> None:
    token = token_of(engineer)
    variables = environment_of(folder) | {"ASSAY_SERVER": live_server.url, "ASSAY_TOKEN": token}
    with running(over_stdio(folder, ["--collection", "shop"], variables)) as agent:
        assert agent.answer("compare_runs", baseline="bm25", candidate=NEW)["labels"]["snapshot"] == "first"
    with in_process(Connections(live_server.url, f"{token}x")) as agent:
        assert "Log in again" in agent.error("list_collections")
    assert token not in "".join(agent.texts) + (folder / "stderr").read_text()


def post(url: str, **headers: str) -> int:
    """The status of a request that lists the tools; the headers are sent as they are."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    usual = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    try:
        connection.request("POST", place.path, json.dumps(body), usual | headers)
        return connection.getresponse().status
    finally:
        connection.close()
