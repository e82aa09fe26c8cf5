"""The tools of the MCP server. Each returns plain values; the server bounds them and reports errors.

No tool grades, resolves or closes anything: a program may list, compute, request and store runs, and the rights are
those of the token. The docstrings are the descriptions that an agent reads.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from assay.core.errors import NotValid
from assay.mcp.connections import FILE, Connections, Inputs, Labels, is_file

if TYPE_CHECKING:
    from assay.client.client import Client

Answer = dict[str, Any]

NEWEST = "newest"
METRIC = "nDCG@10"
PAGE = 50
MOST_RUNS, MOST_METRICS, MOST_PAIRS = 10, 20, 1000
# Fields of the API's rows that help to choose among them; an agent reads every character.
OF_COLLECTION = ("slug", "name", "description", "role")
OF_RUN = ("name", "description", "baseline", "rows", "queries", "created_at")
OF_SNAPSHOT = ("name", "id", "rule", "summary", "override_reason", "created_at")
OF_ROUND = ("id", "name", "state", "kind", "pairs", "ratings_per_pair", "guidelines_version", "raters", "created_at")
OF_GATE = ("passed", "rules", "warnings", "candidate", "baseline", "label", "link", "created_at")
OF_DIAGNOSTICS = ("queries_missing", "holes@10", "ranks_contradicted", "identical_to", "bounds")
OF_COMPARISON = ("runs", "pairs", "settings", "left_out", "freshness")


class Tools:
    """The tools with their connections."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def all(self, reads: bool) -> tuple[Callable[..., Answer], ...]:
        """Return the tools that change nothing, or those that may store scores, verdicts, runs or drafts of rounds."""
        if not reads:
            scoring = (self.evaluate, self.compare_runs, self.decision_critical_pairs)
            return *scoring, self.gate, self.push_run, self.request_round
        lists = (self.list_collections, self.list_runs, self.list_snapshots, self.list_rounds, self.list_gates)
        about = (self.round_progress, self.read_guidelines, self.label_freshness)
        return *lists, *about, self.unjudged_pairs, self.decide, self.validate_file

    def list_collections(self, page: int = 1) -> Answer:
        """List the collections that you may use, with your role in each. A collection holds queries, documents,
        runs, rounds of judging and snapshots of labels."""
        return self._list("collections/", OF_COLLECTION, page)

    def list_runs(self, collection: str = "", page: int = 1) -> Answer:
        """List the runs (ranked results of search systems) of a collection. `baseline` marks the run in use today.
        `collection` is a slug; it may be omitted if you have only one."""
        return self._list("runs/", OF_RUN, page, collection)

    def list_snapshots(self, collection: str = "", page: int = 1) -> Answer:
        """List the snapshots (frozen labels of query-document pairs), newest first, with their numbers of labels,
        queries and conflicts. Other tools accept a snapshot's name as `labels`."""
        return self._list("snapshots/", OF_SNAPSHOT, page, collection, labels="documents")

    def list_rounds(
        self, collection: str = "", state: Literal["", "draft", "open", "closed"] = "", page: int = 1
    ) -> Answer:
        """List the rounds in which people judge pairs."""
        return self._list("rounds/", OF_ROUND, page, collection, **({"state": state} if state else {}))

    def list_gates(self, collection: str = "", candidate: str = "", page: int = 1) -> Answer:
        """List the recorded verdicts of gates, newest first; `candidate` is the name of a run."""
        return self._list("gates/", OF_GATE, page, collection, **({"candidate": candidate} if candidate else {}))

    def round_progress(self, round: str) -> Answer:
        """Return a round's state, progress, hours left and, if you may read it, the raters' agreement with its
        gate. `round` is an id of list_rounds."""
        from assay.client.connection import ServerFault

        with self._connections.client() as client:
            identifier = _uuid(round)
            answer: Answer = {"progress": client.connection.get(f"rounds/{identifier}/progress/")}
            for name, path in (("round", ""), ("agreement", "agreement/")):
                try:
                    answer[name] = client.connection.get(f"rounds/{identifier}/{path}")
                except ServerFault as fault:
                    if fault.status not in (400, 403, 409):
                        raise
                    answer[name] = {"not_available": str(fault)}
            answer["round"] = _only(answer["round"], (*OF_ROUND, "not_available"))
            return answer

    def read_guidelines(self, collection: str = "", version: int = 0, against: int = 0) -> Answer:
        """Read the guidelines by which people grade: a version's Markdown (0: the newest). `against` adds the lines
        that changed since another version."""
        with self._connections.client(collection) as client:
            path = client.path("guidelines/")
            if not version:
                newest = client.connection.get(path, page_size="1")["results"]
                if not newest:
                    return {"version": None, "markdown": ""}
                version = newest[0]["number"]
            result = client.connection.get(f"{path}{version}/", **({"against": str(against)} if against else {}))
        answer = {"version": result["number"], "created_at": result["created_at"], "markdown": result["markdown"]}
        if result["difference"] is not None:
            changed = [line for line in result["difference"] if line["kind"] != "kept"]
            answer["changes"] = [
                f"{line['kind']}: {''.join(one['text'] for one in line['pieces'])}" for line in changed
            ]
        return answer

    def label_freshness(self, collection: str = "", labels: str = NEWEST) -> Answer:
        """Return whether a snapshot's labels still fit today's documents, traffic and systems, which signals say
        otherwise, and what to do about it."""
        with self._connections.client(collection) as client:
            snapshot = client.snapshot(labels)
            result: Answer = client.connection.get(client.path("freshness/"), snapshot=snapshot["id"])
            return result

    def evaluate(
        self, runs: list[str], labels: str = NEWEST, metrics: list[str] | None = None, collection: str = ""
    ) -> Answer:
        """Score up to 10 runs against labels: the mean of each metric with a 95% interval, and the number of
        unjudged documents (holes@10). Runs are names of list_runs or `file:PATH`; `labels` is a snapshot's name,
        `newest`, or `file:PATH` of qrels. Metrics are names such as nDCG@10, AP, RR@10, P@5, Judged@10. To say
        which of two runs is better use compare_runs."""
        _at_most(runs, MOST_RUNS, "runs")
        _at_most(metrics or [METRIC], MOST_METRICS, "metrics")
        with Inputs(self._connections, collection) as inputs:
            if not any(map(is_file, (labels, *runs))):
                client = inputs.client
                scored = client.score([client.run(name) for name in runs], labels, metrics)
                rows = [row for row in scored["runs"] if row["name"] in runs]
                about = {name: scored[name] for name in ("snapshot", "left_out", "freshness")}
                return about | {"runs": [_scores(row, metrics) for row in rows]}
            from assay.metrics import DEFAULT_METRICS
            from assay.scoring.evaluate import evaluate

            source = inputs.labels(labels)
            result = evaluate(source.qrels, inputs.runs(runs), metrics or DEFAULT_METRICS, level=0.95)
            notes = [*result.unreached_notes, *_cautions(source)]
            return {"labels": source.about(), "runs": [_scores(row) for row in result.as_json()], "notes": notes}

    def compare_runs(
        self, baseline: str, candidate: str, labels: str = NEWEST, metric: str = METRIC, collection: str = ""
    ) -> Answer:
        """Say which of two runs is better: the difference (candidate minus baseline) with interval, p-value, and
        numbers of queries won and lost. An interval that contains 0 does not show a difference. Runs and labels as
        in evaluate."""
        with Inputs(self._connections, collection) as inputs:
            if not any(map(is_file, (labels, baseline, candidate))):
                result = _of_scores(inputs.client, "compare/", baseline, candidate, metric, labels)
                return _only(result, OF_COMPARISON)
            from assay.scoring.diagnostics import open_pairs
            from assay.scoring.evaluate import evaluate
            from assay.significance.compare import compare_scores
            from assay.significance.power import ALPHA

            source = inputs.labels(labels)
            scored = evaluate(source.qrels, inputs.runs([baseline, candidate]), metric)
            comparison = compare_scores(scored, baseline=scored.runs[0].name)
            notes = [one.sentence for one in open_pairs(comparison, scored, ALPHA)] + _cautions(source)
            return {"labels": source.about(), **_only(comparison.as_json(), OF_COMPARISON), "notes": notes}

    def decision_critical_pairs(
        self, baseline: str, candidate: str, labels: str = NEWEST, metric: str = METRIC, collection: str = ""
    ) -> Answer:
        """Find the fewest unjudged pairs whose judgments could reverse which of two runs is better, and the hours
        to judge them. Pass the pairs to request_round. Runs and labels as in evaluate."""
        with Inputs(self._connections, collection) as inputs:
            if not any(map(is_file, (labels, baseline, candidate))):
                return _of_scores(inputs.client, "turning/", baseline, candidate, metric, labels)
            from assay.decisions.decision_critical import turning

            source = inputs.labels(labels)
            a, b = (file.whole() for file in inputs.runs([baseline, candidate]))
            return {"labels": source.about(), **turning(source.qrels, a, b, metric).as_json()}

    def decide(
        self,
        baseline: str,
        candidate: str,
        labels: str = NEWEST,
        metric: str = METRIC,
        delta: float = 0.02,
        collection: str = "",
    ) -> Answer:
        """Decide whether a candidate is better, worse or equivalent (differs by less than `delta`), or still
        undecided, with intervals that stay valid however often you look; `expected_more` is the number of queries
        to judge until a verdict. Runs and labels as in evaluate."""
        from assay.sequential.decide import REASONS, decide

        with Inputs(self._connections, collection) as inputs:
            source = inputs.labels(labels)
            old, new = inputs.runs([baseline, candidate])
            result = decide(source.qrels, old, new, metric, delta=delta)
            reason = REASONS.get(result.reason) if result.reason else None
            return {"labels": source.about(), **result.to_dict(), "reason": reason, "notes": _cautions(source)}

    def gate(
        self,
        candidate: str,
        rules: list[str],
        baseline: str = "",
        labels: str = NEWEST,
        record: bool = False,
        change: str = "",
        collection: str = "",
    ) -> Answer:
        """Check whether a run may ship: pass or fail by rules such as `Judged@10 >= 0.8`, `nDCG@10 >= 0.5` or, with
        a baseline, `drop(nDCG@10) <= 0.02 unless p >= 0.05`. Runs and labels as in evaluate. `record` stores the
        verdict on the server (labels must be a snapshot) under the name of the `change`, such as a pull request."""
        from assay.decisions.gate import gate

        if record and is_file(labels):
            raise NotValid("only a verdict on labels of a snapshot can be recorded; name a snapshot, or omit record")
        with Inputs(self._connections, collection) as inputs:
            source = inputs.labels(labels)
            *before, new = inputs.runs([*([baseline] if baseline else []), candidate])
            old = before[0] if before else None
            result = gate(source.qrels, old, new, rules)
            answer = {"labels": source.about(), **result.as_json()}
            if record and source.snapshot:
                files = {"candidate": _about(new), "baseline": old and _about(old)}
                about = {"snapshot": source.snapshot["id"], "label": change, "qrels": {"sha256": source.report.sha256}}
                recorded = inputs.client.push_verdict({**result.as_json(), **about, "files": files})
                client = inputs.client
                answer["recorded"] = f"{client.connection.url}/c/{client.collection}/gates/{recorded['id']}/"
            return answer

    def unjudged_pairs(
        self, runs: list[str], labels: str = NEWEST, depth: int = 10, page: int = 1, collection: str = ""
    ) -> Answer:
        """List the pairs in the top `depth` of runs that the labels lack, sorted by query, 50 per page, with the
        share of judged documents. Pass the pairs to request_round. Runs and labels as in evaluate."""
        _at_most(runs, MOST_RUNS, "runs")
        if not 1 <= depth <= MOST_PAIRS:
            raise NotValid(f"the depth is {depth}; use a number from 1 to {MOST_PAIRS:,}")
        with Inputs(self._connections, collection) as inputs:
            source = inputs.labels(labels)
            judged = source.qrels.to_dict()
            open_pairs: set[tuple[str, str]] = set()
            seen: set[tuple[str, str]] = set()
            for run in (file.whole() for file in inputs.runs(runs)):
                top = {
                    (query, doc) for query in judged.keys() & set(run.query_ids) for doc in run.ranking(query)[:depth]
                }
                seen |= top
                open_pairs |= {(query, doc) for query, doc in top if doc not in judged[query]}
        shown, about = _page(sorted(open_pairs), page)
        pairs = [{"query_id": query, "doc_id": doc} for query, doc in shown]
        share = 1 - len(open_pairs) / len(seen) if seen else None
        return {"labels": source.about(), "judged_share": share, **about, "pairs": pairs}

    def validate_file(self, file: str, format: str = "") -> Answer:
        """Check a file (qrels, run, queries, documents, ratings, logs and other formats; detected if `format` is
        empty): counts of rows, and issues with line and fix."""
        from assay.formats import FORMATS
        from assay.formats.reader import recognize
        from assay.formats.text_lines import Content

        with Inputs(self._connections) as inputs:
            path, shown = inputs.file(file), file.removeprefix(FILE)
        if not format:
            with Content(path, shown) as content:
                format = recognize(content.head, shown) or ""
            if not format:
                raise NotValid(f"{shown}: the format is not recognized; name one of {', '.join(FORMATS)}")
        report = FORMATS[format].read(path, path=shown).report
        about = ("ok", "format", "lines", "accepted", "error_count", "warning_count")
        issues = [_only(vars(one), ("line", "severity", "code", "what", "fix")) for one in report.problems[:PAGE]]
        return {name: getattr(report, name) for name in about} | {"issues": issues}

    def push_run(self, file: str, name: str = "", description: str = "", collection: str = "") -> Answer:
        """Store a run from a file on the server, so that people and later calls can use it by name. A run that is
        already stored is not stored again."""
        with Inputs(self._connections, collection) as inputs:
            path = inputs.file(file)
            outcome = inputs.client.push("run", path, name=name, description=description)
            return {"stored": _only(outcome.stored, ("id", *OF_RUN)), "already_stored": outcome.known}

    def request_round(
        self,
        name: str,
        pairs: list[dict[str, str]],
        raters: list[str] | None = None,
        ratings_per_pair: int = 1,
        collection: str = "",
    ) -> Answer:
        """Ask people to judge pairs, each {"query_id", "doc_id"}, at most 1,000: creates a draft of a round under
        the newest guidelines, which a lead checks and opens. `raters` are user names. You need the role lead."""
        _at_most(pairs, MOST_PAIRS, "pairs")
        with self._connections.client(collection) as client:
            # The same request, such as one with corrected raters, uses the same pool.
            token = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([client.connection.url, client.collection, name, pairs]))
            wanted = {"strategy": "list", "pairs": pairs, "token": str(token)}
            pool = client.connection.json("POST", client.path("pools/"), wanted)
            body = {"name": name, "pool": pool["id"], "raters": raters or [], "ratings_per_pair": ratings_per_pair}
            content, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
            made = client.connection.once("POST", client.path("rounds/"), content, headers)
            page = f"{client.connection.url}/rounds/{made['id']}/"
            return {"round": _only(made, OF_ROUND), "page": page, "next": "a lead opens the round on its page"}

    def _list(self, path: str, fields: Sequence[str], page: int, collection: str | None = None, **query: str) -> Answer:
        with self._connections.client(collection or "") as client:
            place = path if collection is None else client.path(path)
            result = client.connection.get(place, page=str(max(page, 1)), page_size=str(PAGE), **query)
        rows = [_only(row, fields) for row in result["results"]]
        return {"rows": rows, "total": result["count"], "next_page": page + 1 if result["next"] else None}


def _of_scores(client: Client, path: str, baseline: str, candidate: str, metric: str, labels: str) -> Answer:
    """Return what the server computes from the scores of two runs, which are computed first if they are missing."""
    from assay.client.connection import ServerFault

    snapshot = client.snapshot(labels)
    runs = [client.run(name) for name in (baseline, candidate)]
    query = {"a": runs[0]["id"], "b": runs[1]["id"], "metric": metric, "snapshot": snapshot["id"]}
    try:
        result: Answer = client.connection.get(client.path(f"scores/{path}"), **query)
    except ServerFault as fault:
        if fault.status not in (400, 404):
            raise
        client.score(runs, snapshot["id"], [metric])
        result = client.connection.get(client.path(f"scores/{path}"), **query)
    return result


def _scores(row: Mapping[str, Any], metrics: Sequence[str] | None = None) -> Answer:
    """Return the means of a run and its share of judged documents, without scores by query."""
    means = {
        name: {key: value for key, value in summary.items() if value is not None}
        for name, summary in row["metrics"].items()
        if metrics is None or name in metrics
    }
    return {"name": row["name"], "metrics": means, "diagnostics": _only(row["diagnostics"], OF_DIAGNOSTICS)}


def _cautions(labels: Labels) -> list[str]:
    machine = labels.qrels.machine
    return [f"these are machine labels ({machine.judge}), not human labels"] if machine else []


def _about(run: Any) -> dict[str, str]:
    return {"name": run.name, "sha256": run.report.sha256}


def _only(row: Mapping[str, Any], fields: Iterable[str]) -> Answer:
    return {name: row[name] for name in fields if name in row}


def _page(rows: Sequence[Any], page: int) -> tuple[Sequence[Any], Answer]:
    start = (max(page, 1) - 1) * PAGE
    more = start + PAGE < len(rows)
    return rows[start : start + PAGE], {"total": len(rows), "next_page": max(page, 1) + 1 if more else None}


def _at_most(items: Sequence[Any], most: int, what: str) -> None:
    if not items:
        raise NotValid(f"no {what} were given; name at least one")
    if len(items) > most:
        raise NotValid(f"{len(items):,} {what} are too many; send at most {most:,} in one call")


def _uuid(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise NotValid(f"{text!r} is no id of a round; list_rounds returns the ids") from None
