"""The 20 tasks of docs/mcp.md, with a real server: each needs at most 6 calls, and those that the docs name."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation.models import GateVerdict
from judgments.models import Round
from pooling.models import Run
from tests.assay.mcp.conftest import Agent, Session
from tests.world import World

pytestmark = pytest.mark.django_db(transaction=True)

DOCS = Path(__file__).resolve().parents[3] / "docs" / "mcp.md"
MOST_CALLS = 6
RULE = ["Judged@2 >= 0.5"]
PAIR = {"baseline": "bm25", "candidate": "neural"}
NEW = "file:third.run"
Task = Callable[[Agent, World], object]
TASKS: dict[str, Task] = {}


def task(question: str) -> Callable[[Task], Task]:
    def listed(function: Task) -> Task:
        TASKS[question] = function
        return function

    return listed


@task("Which collections may I use?")
def _(agent: Agent, world: World) -> None:
    assert [(row["slug"], row["role"]) for row in agent.answer("list_collections")["rows"]] == [("shop", "lead")]


@task("Which runs are there, and which is the baseline?")
def _(agent: Agent, world: World) -> None:
    rows = agent.answer("list_runs")["rows"]
    assert {row["name"]: row["baseline"] for row in rows} == {"bm25": False, "neural": False}


@task("What are the newest labels, and how many are there?")
def _(agent: Agent, world: World) -> None:
    (row,) = agent.answer("list_snapshots")["rows"]
    assert (row["name"], row["summary"]["labels"]) == ("first", world.snapshot.summary["labels"])


@task("Which rounds are open?")
def _(agent: Agent, world: World) -> None:
    rows = agent.answer("list_rounds", state="open")["rows"]
    assert [row["id"] for row in rows] == [str(world.round.uuid)]


@task("How good is the run neural?")
def _(agent: Agent, world: World) -> None:
    (run,) = agent.answer("evaluate", runs=["neural"], metrics=["nDCG@10", "P@3"])["runs"]
    assert set(run["metrics"]) == {"nDCG@10", "P@3"}
    assert 0 < run["metrics"]["nDCG@10"]["mean"] <= 1


@task("Which run is better, and may it ship?")
def _(agent: Agent, world: World) -> None:
    (pair,) = agent.answer("compare_runs", **PAIR)["pairs"]
    assert (pair["a"], pair["b"], pair["difference"] != 0) == ("bm25", "neural", True)
    verdict = agent.answer("gate", **PAIR, rules=["drop(nDCG@10) <= 0"])
    assert verdict["passed"] is (pair["difference"] >= 0)


@task("Which judgments would change that?")
def _(agent: Agent, world: World) -> None:
    found = agent.answer("decision_critical_pairs", **PAIR)
    assert (found["winner"], found["sentence"] != "") == ("neural", True)


@task("Have people judge what could change it.")
def _(agent: Agent, world: World) -> None:
    found = agent.answer("decision_critical_pairs", baseline="bm25", candidate=NEW, metric="nDCG@3")
    pairs = [{"query_id": one["query_id"], "doc_id": one["doc_id"]} for one in found["pairs"]]
    assert pairs == [{"query_id": "q1", "doc_id": "new"}]
    names = [world.round.raters.first().user.username]
    made = agent.answer("request_round", name="Critical", pairs=pairs, raters=names)
    row = Round.objects.get(uuid=made["round"]["id"])
    assert (row.state, [pair.document.doc_id for pair in row.pairs.all()]) == ("draft", ["new"])


@task("Is the candidate better, or do we need more judgments?")
def _(agent: Agent, world: World) -> None:
    assert agent.answer("decide", **PAIR)["verdict"] == "undecided"


@task("Gate this file against the newest labels.")
def _(agent: Agent, world: World) -> None:
    found = agent.answer("gate", candidate=NEW, rules=RULE)
    assert (found["passed"], found["labels"]["snapshot"], "recorded" in found) == (True, "first", False)


@task("Gate this file and record the verdict for my pull request.")
def _(agent: Agent, world: World) -> None:
    found = agent.answer("gate", candidate=NEW, rules=["Judged@1 >= 1"], record=True, change="Change 9")
    verdict = GateVerdict.objects.get(label="Change 9")
    assert (found["passed"], verdict.passed, verdict.snapshot) == (False, False, world.snapshot)
    assert str(verdict.uuid) in found["recorded"]
    assert agent.answer("list_gates", candidate="third")["rows"][0]["label"] == "Change 9"


@task("Gate this file against labels in a file, without a server.")
def _(agent: Agent, world: World) -> None:
    found = agent.answer("gate", candidate=NEW, labels="file:qrels.txt", rules=RULE)
    assert found["labels"] == {"file": "qrels.txt", "queries": 1, "judgments": 2}


@task("Is this new run in a file better than the baseline?")
def _(agent: Agent, world: World) -> None:
    names = [row["name"] for row in agent.answer("list_runs")["rows"]]
    (pair,) = agent.answer("compare_runs", baseline=names[0], candidate=NEW)["pairs"]
    assert (pair["a"], pair["b"]) == (names[0], "third")


@task("Is this file in order?")
def _(agent: Agent, world: World) -> None:
    found = agent.answer("validate_file", file="third.run")
    assert (found["ok"], found["format"], found["accepted"]) == (True, "trec-run", 3)


@task("Store this run and score it.")
def _(agent: Agent, world: World) -> None:
    assert agent.answer("validate_file", file="third.run")["ok"]
    assert agent.answer("push_run", file="third.run")["stored"]["name"] == "third"
    (run,) = agent.answer("evaluate", runs=["third"], metrics=["P@2"])["runs"]
    assert Run.objects.filter(name=run["name"]).exists()


@task("What does the new run return that nobody judged?")
def _(agent: Agent, world: World) -> None:
    found = agent.answer("unjudged_pairs", runs=[NEW])
    assert (found["pairs"], found["total"]) == ([{"query_id": "q1", "doc_id": "new"}], 1)
    assert found["judged_share"] == pytest.approx(2 / 3)


@task("Have the unjudged documents of the new run judged.")
def _(agent: Agent, world: World) -> None:
    pairs = agent.answer("unjudged_pairs", runs=[NEW])["pairs"]
    made = agent.answer("request_round", name="Unjudged", pairs=pairs)
    assert agent.answer("round_progress", round=made["round"]["id"])["round"]["state"] == "draft"


@task("How far is the round, and do the raters agree?")
def _(agent: Agent, world: World) -> None:
    (row,) = agent.answer("list_rounds", state="closed")["rows"]
    found = agent.answer("round_progress", round=row["id"])
    assert found["round"]["state"] == "closed"
    assert {"gate", "coefficients"} & set(found["agreement"])


@task("By which rules do people grade?")
def _(agent: Agent, world: World) -> None:
    found = agent.answer("read_guidelines")
    assert (found["version"], found["markdown"].strip()) == (world.version.number, "Grade 0 to 3.")


@task("Can the labels still be trusted?")
def _(agent: Agent, world: World) -> None:
    name = agent.answer("list_snapshots")["rows"][0]["name"]
    assert agent.answer("label_freshness", labels=name)


def documented() -> dict[str, list[str]]:
    text = DOCS.read_text(encoding="utf-8").partition("## Tasks")[2]
    rows = re.findall(r"^\| (.+?) \| (`.+) \|$", text, re.M)
    return {question: re.findall(r"`(\w+)`", calls) for question, calls in rows}


def test_the_docs_list_these_tasks() -> None:
    assert list(documented()) == list(TASKS)
    assert len(TASKS) == 20


@pytest.mark.parametrize("question", TASKS)
def test_a_task_needs_few_calls(question: str, agent_of: Session, lead: Any, world: World) -> None:
    with agent_of(lead) as agent:
        TASKS[question](agent, world)
    assert agent.calls == documented()[question]
    assert len(agent.calls) <= MOST_CALLS
