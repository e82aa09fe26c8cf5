"""Tests of the whole workflow over HTTP with real products, queries and grades of three paid raters.

Documents and queries in, three runs in, a depth-10 pool drawn, a round over the pairs that were really graded, the real
grades submitted by three raters, agreement, snapshot, export and evaluation out; and every number held against the
libraries that the field trusts. On SQLite with every query; on PostgreSQL every third one is graded.
"""

from __future__ import annotations

import csv
import http.client
import json
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from django.db import connection
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from judgments.members import invitations, tokens
from judgments.models import User

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.shared,
    pytest.mark.xdist_group("real_walk"),
]
RUNS = ("gen_bm25", "gen_tfidf", "gen_char34")
RATERS = ("agent_1", "agent_2", "agent_3")
METRICS = {"nDCG@10": "ndcg_cut_10", "R@100": "recall_100", "P@10": "P_10", "AP": "map"}


@dataclass
class Caller:
    """A program with a token, over one real connection."""

    address: str
    token: str
    connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.address)
        self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=300)

    def call(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json"
    ) -> tuple[int, bytes]:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type}
        self.connection.request(method, f"/api/v1/{path}", data, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def get(self, path: str) -> Any:
        status, body = self.call("GET", path)
        assert status == 200, body[:500]
        return json.loads(body)

    def post(self, path: str, body: Any = None) -> Any:
        status, answer = self.call("POST", path, body if body is not None else {})
        assert status in (200, 201, 202, 204), answer[:500]
        return json.loads(answer) if answer else None

    def send(self, path: str, file: Path, **fields: str) -> Any:
        with file.open("rb") as stream:
            body = encode_multipart(BOUNDARY, {**fields, "file": stream})
        status, answer = self.call("POST", path, body, MULTIPART_CONTENT)
        assert status in (200, 201), answer[:500]
        return json.loads(answer)


@dataclass
class Walk:
    """What the walk left behind, for one assertion after the other."""

    stored: dict[str, Any]
    pool: dict[str, Any]
    by_rank: dict[str, Any]
    agreement: dict[str, Any]
    snapshot: dict[str, Any]
    qrels: bytes
    listed: bytes
    scores: dict[str, Any]
    statuses: dict[int, int]
    grades: dict[tuple[str, str], dict[str, int]]
    folder: Path


@pytest.fixture
def real_grades(shared: Path) -> dict[tuple[str, str], dict[str, int]]:
    grades: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    with (shared / "demo-electronics" / "judgments.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            grades[row["query_id"], row["doc_id"]][row["rater"]] = int(row["grade"])
    assert len(grades) == 3188
    query_ids = sorted({query_id for query_id, _ in grades})[:: 1 if connection.vendor == "sqlite" else 3]
    return {unit: given for unit, given in grades.items() if unit[0] in query_ids}


@pytest.fixture
def caller(live_server: Any, make_user: Callable[..., Any]) -> Iterator[Callable[..., Caller]]:
    """``caller(name, scope)``: a new user's program; its connection is closed at the end."""
    made: list[Caller] = []

    def call_as(name: str, *scopes: str) -> Caller:
        user = make_user(name, can_create_collections="write" in scopes)
        token = tokens.make_token(user, name="walk", scopes=list(scopes))[1]
        made.append(Caller(live_server.url, token))
        return made[-1]

    yield call_as
    for program in made:
        program.connection.close()


@pytest.fixture
def walk(caller: Callable[..., Caller], shared: Path, real_grades: Any, tmp_path: Path) -> Walk:
    """The walk itself, as programs would do it: an engineer's or lead's script, and three raters' clients."""
    data = shared / "demo-electronics"

    lead = caller("walker", "write")
    raters = {name: caller(name, "rate") for name in RATERS}
    lead.post("collections/", {"slug": "electronics", "name": "Electronics"})
    for name in RATERS:
        lead.post("collections/electronics/members/", {"username": name, "role": "rater"})
        user = User.objects.get(username=name)  # who accepts on the first page
        invitations.accept(invitations.waiting_for(user).get(), actor=user)
    stored = {
        "documents": lead.send("collections/electronics/documents/", data / "documents.jsonl"),
        "queries": lead.send(
            "collections/electronics/queries/", data / "queries.csv", columns="frequency=count_generated"
        ),
    }
    for name in RUNS:
        stored[name] = lead.send("collections/electronics/runs/", data / "runs" / f"{name}.run")
    runs = [stored[name]["id"] for name in RUNS]
    depth = {"strategy": "depth", "depth": 10, "runs": runs, "seed": 1, "budget": None, "residual": 0}
    pool = lead.post("collections/electronics/pools/", depth)
    by_rank = lead.post("collections/electronics/pools/", {**depth, "by": "rank"})
    pairs = [{"query_id": query_id, "doc_id": doc_id} for query_id, doc_id in real_grades]
    graded = lead.post("collections/electronics/pools/", {"strategy": "list", "pairs": pairs})
    made = lead.post(
        "collections/electronics/rounds/",
        {
            "name": "Paid raters",
            "pool": graded["id"],
            "scale": None,
            "guidelines": "Grade how well the product answers the query, 0 to 3.",
            "ratings_per_pair": 3,
            "overlap": 1.0,
            "raters": list(RATERS),
            "seed": 1,
        },
    )
    lead.post(f"rounds/{made['id']}/open/")
    statuses = rate(raters, made["id"], real_grades)
    agreement = lead.get(f"rounds/{made['id']}/agreement/")
    lead.post(f"rounds/{made['id']}/close/")
    snapshot = lead.post(
        "collections/electronics/snapshots/", {"name": "paid", "rounds": [made["id"]], "rule": "median"}
    )
    _, qrels = lead.call("GET", f"snapshots/{snapshot['id']}/export/trec-qrels/")
    _, listed = lead.call("GET", f"snapshots/{snapshot['id']}/export/judgment-list/")
    lead.post("collections/electronics/scores/", {"snapshot": snapshot["id"], "runs": runs})
    scores = lead.get(f"collections/electronics/scores/?snapshot={snapshot['id']}")["results"][0]
    (tmp_path / "qrels.txt").write_bytes(qrels)
    return Walk(stored, pool, by_rank, agreement, snapshot, qrels, listed, scores, statuses, real_grades, tmp_path)


def rate(raters: dict[str, Caller], round_id: str, grades: dict[tuple[str, str], dict[str, int]]) -> dict[int, int]:
    """Each rater leases batches of fifty and sends their real grades for them, until nothing is left."""
    statuses: dict[int, int] = defaultdict(int)
    for name, rater in raters.items():
        while True:
            batch = rater.post(f"rounds/{round_id}/batch/?size=50")
            if batch is None:
                break
            answers = [
                {
                    "client_id": str(uuid.uuid4()),
                    "pair": pair["id"],
                    "grade": grades[pair["query"]["id"], pair["document"]["id"]][name],
                }
                for pair in batch["pairs"]
            ]
            for result in rater.post(f"rounds/{round_id}/judgments/", answers)["results"]:
                statuses[result["status"]] += 1
    return dict(statuses)


def test_the_whole_way_on_real_input(walk: Walk, shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One walk, many assertions: it takes a while, so it is walked once."""
    check_what_came_in(walk)
    check_agreement(walk)
    check_labels(walk)
    check_scores(walk, shared)
    check_command_line(walk, shared, capsys)


def check_what_came_in(walk: Walk) -> None:
    assert walk.stored["documents"]["rows"] == 2349
    assert walk.stored["queries"]["rows"] == 135
    assert [walk.stored[name]["rows"] for name in RUNS] == [1859, 1828, 2681]
    assert walk.pool["pairs"] == 1831
    # The runs have ties: as the systems showed them, other documents stand at rank 10 than in trec_eval's order.
    assert walk.by_rank["pairs"] == 1822
    assert set(walk.pool["summary"]["expected_judged"].values()) == {1.0}
    assert min(walk.by_rank["summary"]["expected_judged"].values()) < 1
    assert walk.statuses == {201: 3 * len(walk.grades)}


def check_agreement(walk: Walk) -> None:
    """Kappa of every two raters as scikit-learn has it, alpha as the package krippendorff has it."""
    krippendorff = pytest.importorskip("krippendorff")
    from sklearn.metrics import cohen_kappa_score

    units = sorted(walk.grades)
    columns = {name: [walk.grades[unit][name] for unit in units] for name in RATERS}
    assert (walk.agreement["pairs"], walk.agreement["overlap"], walk.agreement["raters"]) == (len(units), len(units), 3)
    kappas = sorted((row["unweighted"], row["linear"], row["quadratic"], row["n"]) for row in walk.agreement["cohen"])
    expected = sorted(
        (
            *(
                cohen_kappa_score(columns[a], columns[b], weights=weights, labels=range(4))
                for weights in (None, "linear", "quadratic")
            ),
            len(units),
        )
        for a, b in (("agent_1", "agent_2"), ("agent_1", "agent_3"), ("agent_2", "agent_3"))
    )
    assert np.array(kappas) == pytest.approx(np.array(expected), abs=1e-9)
    matrix = np.array([columns[name] for name in RATERS], dtype=float)
    for level in ("nominal", "ordinal", "interval"):
        alpha = krippendorff.alpha(reliability_data=matrix, level_of_measurement=level, value_domain=range(4))
        assert walk.agreement["alpha"][level]["value"] == pytest.approx(alpha, abs=1e-9)


def check_labels(walk: Walk) -> None:
    """Three ratings a pair: the label is the middle one; qrels and judgment list hold the same, in byte order."""
    expected = {unit: sorted(given.values())[1] for unit, given in walk.grades.items()}
    lines = [line.split(" ") for line in walk.qrels.decode().splitlines()]
    assert {(line[0], line[2]): int(line[3]) for line in lines} == expected
    assert [(line[0], line[2]) for line in lines] == sorted(expected, key=lambda unit: tuple(map(str.encode, unit)))
    assert {line[1] for line in lines} == {"0"}
    listed = {
        (entry["query_id"], rating["doc_id"]): rating["rating"]
        for entry in json.loads(walk.listed)
        for rating in entry["ratings"]
    }
    assert listed == expected
    assert walk.snapshot["summary"]["labels"] == len(expected)


def read_run(path: Path) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        query_id, _, doc_id, _, score, _ = line.split()
        run[query_id][doc_id] = float(score)
    return run


def best_ten(scores: dict[str, float]) -> list[str]:
    """trec_eval's order: score descending, then document id descending by bytes."""
    return sorted(scores, key=lambda doc_id: (scores[doc_id], doc_id.encode()), reverse=True)[:10]


def check_scores(walk: Walk, shared: Path) -> None:
    """Per query and in the mean as pytrec_eval has them; Judged@10 counted by hand."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    for line in walk.qrels.decode().splitlines():
        query_id, _, doc_id, grade = line.split(" ")
        qrels[query_id][doc_id] = int(grade)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {*METRICS.values(), "recip_rank"})
    scored = {run["name"]: run for run in walk.scores["runs"]}
    assert set(scored) == set(RUNS)
    for name in RUNS:
        run = read_run(shared / "demo-electronics" / "runs" / f"{name}.run")
        theirs = evaluator.evaluate(run)
        top = {query_id: best_ten(run.get(query_id, {})) for query_id in qrels}
        for metric, name_there in METRICS.items():
            ours = {query_id: values[metric] for query_id, values in scored[name]["per_query"].items()}
            expected = {query_id: theirs.get(query_id, {}).get(name_there, 0.0) for query_id in qrels}
            assert ours == pytest.approx(expected, abs=1e-9)
            mean = scored[name]["metrics"][metric]["mean"]
            assert mean == pytest.approx(sum(expected.values()) / len(expected), abs=1e-9)
        for query_id, values in scored[name]["per_query"].items():
            judged = [doc_id in qrels[query_id] for doc_id in top[query_id]]
            relevant = [qrels[query_id].get(doc_id, 0) >= 1 for doc_id in top[query_id]]
            assert values["Judged@10"] == pytest.approx(sum(judged) / len(judged) if judged else 0.0, abs=1e-9)
            first = 1 / (relevant.index(True) + 1) if True in relevant else 0.0
            assert values["RR@10"] == pytest.approx(first, abs=1e-9)
        never_graded = 1 - scored[name]["metrics"]["Judged@10"]["mean"]
        assert never_graded > 0.01, "the runs return documents that nobody graded, and the page says so"


def check_command_line(walk: Walk, shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``assay evaluate`` on the exported file prints the page's numbers, digit for digit."""
    from assay.cli import main

    runs = [str(shared / "demo-electronics" / "runs" / f"{name}.run") for name in RUNS]
    capsys.readouterr()
    assert main(["evaluate", str(walk.folder / "qrels.txt"), *runs, "--format", "json", "--per-query"]) == 0
    shell = {run["name"]: run for run in json.loads(capsys.readouterr().out)["runs"]}
    for run in walk.scores["runs"]:
        assert shell[run["name"]]["per_query"] == run["per_query"]
        for metric, summary in run["metrics"].items():
            assert shell[run["name"]]["metrics"][metric]["mean"] == summary["mean"]
