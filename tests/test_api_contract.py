"""Tests of the API contract: paths, shapes and statuses."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.urls import resolve, reverse
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from judgments.snapshots.snapshots import EXPORTS
from tests import worked_example as example
from tests.addresses import api_calls
from tests.docs import shell

pytestmark = pytest.mark.django_db
API = "/api/v1"
ROOT = Path(__file__).resolve().parent.parent
DOCS, SCHEMA = ROOT / "docs" / "api.md", ROOT / "config" / "openapi.json"
SHOP = f"{API}/collections/shop"
DOCUMENTS = [{"doc_id": doc_id, "title": doc_id.upper()} for doc_id in example.DOCUMENTS]


def post(client: APIClient, path: str, body: Any, status: int = 201) -> Any:
    """Post JSON; answers the body, once the status is the expected one."""
    response = client.post(path, body, format="json")
    assert response.status_code == status, response.content[:600]
    return response.json() if response.content else None


def get(client: APIClient, path: str, status: int = 200) -> Any:
    response = client.get(path)
    content = b"".join(response) if response.streaming else response.content
    assert response.status_code == status, content[:600]
    return json.loads(content)


def rows(text: str) -> list[dict[str, Any]]:
    """A run's lines as the list that a program posts."""
    parts = [line.split() for line in text.splitlines()]
    return [{"query_id": part[0], "doc_id": part[2], "score": float(part[4])} for part in parts]


@pytest.fixture
def api(collection: Any, lead: Any, api_of: Any) -> APIClient:
    return api_of(lead)


@pytest.fixture
def pooled(api: APIClient) -> dict[str, Any]:
    """Queries, documents, two runs and a depth-3 pool, all of it posted as JSON lists."""
    post(api, f"{SHOP}/queries/", [{"query_id": "q1", "query": "rain jacket", "narrative": "For a wet week."}])
    post(api, f"{SHOP}/documents/", DOCUMENTS)
    bm25 = post(api, f"{SHOP}/runs/?name=bm25", rows(example.BM25))["id"]
    neural = post(api, f"{SHOP}/runs/?name=neural", rows(example.NEURAL))["id"]
    return post(api, f"{SHOP}/pools/", {"strategy": "depth", "depth": 3, "runs": [bm25, neural], "seed": 1})


@pytest.fixture
def opened(api: APIClient, pooled: dict[str, Any], rater: Any, rater2: Any) -> str:
    """The path of an open round over the pool."""
    wanted = {
        "name": "Round 1",
        "pool": pooled["id"],
        "scale": None,
        "guidelines": "Grade 0 to 3.",
        "ratings_per_pair": 2,
        "overlap": 1.0,
        "raters": [rater.username, rater2.username],
        "seed": 1,
    }
    made = post(api, f"{SHOP}/rounds/", wanted)
    assert (made["state"], made["pairs"], made["raters"]) == ("draft", 5, sorted(wanted["raters"]))
    path = f"{API}/rounds/{made['id']}"
    assert post(api, f"{path}/open/", None, 200)["state"] == "open"
    return path


@pytest.fixture
def graded(opened: str, rater: Any, rater2: Any, api_of: Any) -> str:
    """The round with all its grades; each rater gets the grades of the example."""
    for user, grades in ((rater, example.GRADES["r01"]), (rater2, example.GRADES["r02"])):
        client = api_of(user, ("rate",))
        for pair in post(client, f"{opened}/batch/?size=10", None, 200)["pairs"]:
            post(client, f"{opened}/judgments/", answer(pair, grades[pair["document"]["id"]]))
    return opened


def answer(pair: dict[str, Any], grade: int, **more: Any) -> dict[str, Any]:
    return {"client_id": str(uuid.uuid4()), "pair": pair["id"], "grade": grade, **more}


@pytest.fixture
def frozen(api: APIClient, graded: str) -> dict[str, Any]:
    wanted = {
        "name": "one",
        "rounds": [graded.rsplit("/", 1)[-1]],
        "rule": "median",
        "sources": ["human"],
        "merge": "newest",
        "override_reason": None,
    }
    return post(api, f"{SHOP}/snapshots/", wanted)


def test_a_pool_answers_with_its_id_and_the_number_of_pairs(pooled: dict[str, Any]) -> None:
    assert uuid.UUID(pooled["id"])
    assert pooled["pairs"] == 5


def test_a_pool_of_given_pairs(api: APIClient, pooled: dict[str, Any]) -> None:
    pairs = [{"query_id": "q1", "doc_id": "d1"}, {"query_id": "q1", "doc_id": "d9"}]
    assert post(api, f"{SHOP}/pools/", {"strategy": "list", "pairs": pairs})["pairs"] == 2


def test_agreement_has_the_shape_and_numbers_of_the_command(api: APIClient, graded: str) -> None:
    response = get(api, f"{graded}/agreement/")
    assert (response["raters"], response["pairs"], response["overlap"]) == (2, 5, 5)
    assert response["cohen"][0]["unweighted"] == pytest.approx(example.KAPPA, abs=5e-5)
    assert response["alpha"]["ordinal"]["value"] == pytest.approx(example.ALPHA_ORDINAL, abs=5e-5)


def test_progress_is_counted_in_ratings(api: APIClient, graded: str) -> None:
    progress = get(api, f"{graded}/progress/")
    assert (progress["pairs"], progress["ratings_wanted"], progress["ratings"], progress["surplus"]) == (5, 10, 10, 0)
    assert {row["rater"] for row in progress["raters"]} == {"r01", "r02"}


def test_a_conflict_is_listed_and_resolved(api: APIClient, graded: str) -> None:
    (conflict,) = get(api, f"{graded}/conflicts/")["results"]
    assert (conflict["document"]["id"], conflict["spread"], conflict["settled"]) == ("d3", 1, None)
    for name, grade in (("settle", 0), ("resolve", 1)):
        body = post(
            api, f"{graded}/conflicts/{conflict['pair']}/{name}/", {"grade": grade, "reason": f"For men, {name}."}
        )
        assert body.keys() == {"pair", "grade", "reason", "settled_by", "created_at"}
        resolution = get(api, f"{graded}/conflicts/")["results"][0]["settled"]
        assert (body["grade"], resolution["grade"], resolution["reason"]) == (grade, grade, body["reason"])


def test_only_the_former_name_of_resolving_is_deprecated() -> None:
    paths = json.loads(SCHEMA.read_text())["paths"]
    conflict = "/api/v1/rounds/{uuid}/conflicts/{pair}"
    alias, resolve = (dict(paths[f"{conflict}/{name}/"]["post"]) for name in ("settle", "resolve"))
    assert alias.pop("deprecated")
    assert alias | {"operationId": resolve["operationId"]} == resolve


def test_the_frozen_labels_come_out_as_qrels(api: APIClient, frozen: dict[str, Any]) -> None:
    response = api.get(f"{API}/snapshots/{frozen['id']}/export/trec-qrels/", HTTP_ACCEPT="text/plain")
    assert b"".join(response).decode() == example.QRELS
    assert "attachment" in response["Content-Disposition"]


def test_the_judgment_list_and_the_manifest(api: APIClient, frozen: dict[str, Any]) -> None:
    path = f"{API}/snapshots/{frozen['id']}"
    ratings = [{"doc_id": doc_id, "rating": grade} for doc_id, grade in example.LABELS.items()]
    listed = get(api, f"{path}/export/judgment-list/")
    assert listed == [{"query_id": "q1", "query": "rain jacket", "ratings": ratings}]
    assert get(api, f"{path}/manifest/")["content_sha256"] == get(api, f"{path}/")["content_sha256"]


def test_every_export_format_answers(api: APIClient, frozen: dict[str, Any]) -> None:
    assert set(EXPORTS) <= set(frozen["formats"])
    statuses = {name: api.get(f"{API}/snapshots/{frozen['id']}/export/{name}/").status_code for name in EXPORTS}
    assert statuses == dict.fromkeys(EXPORTS, 200)


def test_an_unknown_export_format_is_404(api: APIClient, frozen: dict[str, Any]) -> None:
    error = get(api, f"{API}/snapshots/{frozen['id']}/export/qrel/", 404)["error"]
    assert "trec-qrels" in error["message"]


def test_scores_have_the_shape_of_evaluate(api: APIClient, frozen: dict[str, Any]) -> None:
    runs = [run["id"] for run in get(api, f"{SHOP}/runs/")["results"]]
    made = post(api, f"{SHOP}/scores/", {"snapshot": frozen["id"], "runs": runs, "metrics": ["nDCG@3"]})
    assert {run["name"]: run["metrics"]["nDCG@3"]["mean"] for run in made["runs"]} == pytest.approx(
        example.NDCG_AT_3, abs=5e-5
    )
    assert set(made["qrels"]) == {"path", "sha256", "queries", "judgments"}
    (listed,) = get(api, f"{SHOP}/scores/?snapshot={frozen['id']}")["results"]
    assert listed == made


def test_the_batch_has_exactly_the_promised_shape(opened: str, rater: Any, api_of: Any) -> None:
    batch = post(api_of(rater, ("rate",)), f"{opened}/batch/?size=2", None, 200)
    assert set(batch) == {"lease", "expires_at", "scale", "guidelines_version", "pairs", "remaining"}
    assert batch["scale"][3] == {"value": 3, "label": "Perfect", "cue": "This is just what I am looking for."}
    assert (len(batch["pairs"]), batch["remaining"], batch["guidelines_version"]) == (2, 5, 1)
    pair = batch["pairs"][0]
    assert set(pair) == {"id", "kind", "query", "document", "evidence", "reference"}
    assert pair["query"] == {"id": "q1", "text": "rain jacket", "narrative": "For a wet week."}
    assert set(pair["document"]) == {"id", "title", "html", "url", "image", "fields"}


def test_no_batch_when_nothing_is_left(graded: str, rater: Any, api_of: Any) -> None:
    assert post(api_of(rater), f"{graded}/batch/", None, 204) is None


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/collections/",
        *(
            f"{SHOP}/{noun}/"
            for noun in (
                "queries",
                "documents",
                "runs",
                "query-logs",
                "qrels",
                "pools",
                "rounds",
                "snapshots",
                "scores",
                "members",
            )
        ),
    ],
)
def test_every_list_is_paged(api: APIClient, path: str) -> None:
    assert set(get(api, path)) == {"results", "next", "previous", "count"}


def test_lists_go_on_to_the_next_page(api: APIClient) -> None:
    post(api, f"{SHOP}/documents/", DOCUMENTS)
    first = get(api, f"{SHOP}/documents/?page_size=3")
    second = get(api, first["next"])
    assert first["count"] == 5
    assert [row["doc_id"] for row in first["results"] + second["results"]] == list(example.DOCUMENTS)


def test_a_collection_is_made_changed_and_read(api: APIClient) -> None:
    made = post(api, f"{API}/collections/", {"slug": "books", "name": "Books"})
    assert made["slug"] == "books"
    response = api.patch(f"{API}/collections/books/", {"name": "All books"}, format="json")
    assert (response.status_code, response.json()["name"]) == (200, "All books")
    assert get(api, f"{API}/collections/books/")["name"] == "All books"


def test_a_new_member_is_invited(api: APIClient, outsider: Any) -> None:
    payload = {"username": outsider.username, "role": "rater"}
    response = api.post(f"{SHOP}/members/", payload, format="json")
    assert (response.status_code, response.json()) == (202, payload)
    assert outsider.username in [row["username"] for row in get(api, f"{SHOP}/invitations/")["results"]]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("post", f"{API}/collections/", {"slug": "x y"}, 400, "not_valid"),
        ("post", f"{API}/collections/", {"slug": "shop", "name": "Shop"}, 409, "conflict"),
        ("get", f"{API}/collections/nowhere/", None, 404, "not_found"),
        ("get", f"{API}/rounds/{uuid.UUID(int=404)}/", None, 404, "not_found"),
        ("delete", f"{API}/collections/", None, 405, "method_not_allowed"),
        ("post", f"{SHOP}/documents/", "text", 400, "not_valid"),
    ],
)
def test_errors_have_one_shape(api: APIClient, method: str, path: str, body: Any, status: int, code: str) -> None:
    response = getattr(api, method)(path, body, format="json")
    assert response.status_code == status
    error = response.json()["error"]
    assert set(error) >= {"code", "message", "fields"}
    assert error["code"] == code
    assert bool(error["fields"]) is (status == 400)


def test_anonymous_requests_get_401(db: None) -> None:
    response = APIClient().get(f"{API}/collections/")
    assert (response.status_code, response.json()["error"]["code"]) == (401, "not_authenticated")


def test_a_body_that_is_no_json(api: APIClient) -> None:
    response = api.post(f"{API}/collections/", "{", content_type="application/json")
    assert (response.status_code, set(response.json()["error"])) == (400, {"code", "message", "fields"})


def test_json_nested_too_deeply_is_the_callers_mistake(api: APIClient) -> None:
    response = api.post(f"{API}/collections/", "[" * 200_000, content_type="application/json")
    assert response.status_code == 400


def test_the_schema_of_the_file_is_served(client: Any) -> None:
    answer = client.get(reverse("schema"))
    assert answer.json() == json.loads(SCHEMA.read_bytes())
    assert client.get(reverse("schema"), headers={"If-None-Match": answer["ETag"]}).status_code == 304


def test_reading_the_schema_does_not_generate_it(client: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(SchemaGenerator, "get_schema", lambda *args, **kwargs: pytest.fail("generated"))
    assert set(client.get(reverse("schema")).json()) >= {"openapi", "paths", "components"}


def test_every_response_is_described() -> None:
    document = json.loads(SCHEMA.read_text())
    assert document["openapi"].startswith("3.1.")
    calls = {(path, name): call for path, calls in document["paths"].items() for name, call in calls.items()}
    assert [key for key, call in calls.items() if not {"401", "403", "429"} <= call["responses"].keys()] == []
    headers = {
        key: {one["name"] for one in call.get("parameters", []) if one["in"] == "header"} for key, call in calls.items()
    }
    assert [key for key, names in headers.items() if key[1] == "get" and "If-None-Match" not in names] == []
    assert [key for key, names in headers.items() if key[1] == "patch" and "If-Match" not in names] == []
    without_key = {path for (path, name), names in headers.items() if name == "post" and "Idempotency-Key" not in names}
    below = "/api/v1/collections/{slug}/"
    assert without_key == {"/api/v1/tokens/", f"{below}invite-links/", f"{below}webhooks/"}


def test_docs_api_shows_every_call_and_no_other() -> None:
    calls = re.findall(r"\bcurl [^|;\n]*", shell.examples(DOCS.read_text(encoding="utf-8")))
    shown = {call for call in map(shown_call, calls) if call}
    assert shown == api_calls() - {("POST", "api/v1/rounds/<uuid:uuid>/conflicts/<uuid:pair>/settle/")}  # deprecated


def shown_call(command: str) -> tuple[str, str] | None:
    """Method and route of a curl command of docs/api.md."""
    match = re.search(r'\$API(/[^\s"?]*)', command)
    if not match or "$(" in match[1]:
        return None
    method = re.search(r"-X (\w+)", command)
    path = re.sub(r"\$\w+", str(uuid.uuid4()), match[1])
    return method[1] if method else "GET", resolve(f"{API}{path}").route


def test_the_docs_bring_no_script_of_others(client: Any) -> None:
    page = client.get(reverse("api_docs")).content.decode()
    assert "http://" not in page
    assert "https://" not in page
    assert "<script>" not in page


def test_no_response_with_a_secret_is_stored_for_a_key() -> None:
    """A POST whose response has a secret takes no idempotency key."""
    document = json.loads((ROOT / "config" / "openapi.json").read_text())
    schemas = document["components"]["schemas"]
    found = []
    for path, calls in document["paths"].items():
        if (call := calls.get("post")) is None:
            continue
        bodies = [
            body
            for status, one in call["responses"].items()
            if status < "3"
            for body in one.get("content", {}).values()
        ]
        names = {body["schema"].get("$ref", "").rpartition("/")[2] for body in bodies}
        secret = any({"secret", "token", "code"} & schemas[name].get("properties", {}).keys() for name in names if name)
        keyed = any(one["name"] == "Idempotency-Key" for one in call.get("parameters", []))
        found += [path] if secret else []
        assert not (secret and keyed), path
    assert len(found) >= 2
