"""One act of a person in a small collection, with the files that it runs recorded. Prints the act's result as JSON.

python executed.py answer|upload LIST
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
RECORDING = Path(__file__).resolve().parent / "recording"
sys.path[:0] = [str(ROOT), str(RECORDING)]
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
DOCUMENTS = [f"d{place}" for place in range(12)]


def main() -> None:
    """Make the collection, then act."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    act, path = sys.argv[1:]
    world = collection()
    os.environ |= {"ASSAY_EXECUTED": path, "ASSAY_CHECKOUT": f"{ROOT}{os.sep}"}
    os.environ["PYTHONPATH"] = os.pathsep.join([str(RECORDING), str(ROOT)])
    print(json.dumps({"answer": answer, "upload": upload}[act](world)))


def collection() -> dict[str, Any]:
    """Make a round of one query with one rater, graded up to the last pair."""
    from assay.core.content_hash import content_hash
    from judgments.guidelines import guidelines
    from judgments.members import collections
    from judgments.models import Document, Membership, Query, User
    from judgments.rounds import rounds

    lead, rater = (User.objects.create_user(name, password="a long password") for name in ("lead", "rater"))
    shop = collections.create_collection(actor=lead, slug="shop", name="Shop")
    Membership.objects.create(collection=shop, user=rater, role="rater")
    query = Query.objects.create(collection=shop, query_id="q1", text="rain jacket")
    chosen = []
    for name in DOCUMENTS:
        text = f"Document {name} about jackets."
        digest = content_hash(name, text, "", "", {})
        document = Document.objects.create(
            collection=shop, doc_id=name, title=name, text=text, fields={}, content_sha256=digest
        )
        chosen.append(rounds.Candidate(query, document, {}))
    version = guidelines.add_version(shop, markdown="Grade what helps.", actor=lead)
    made = rounds.create_round(
        shop, name="Round", candidates=chosen, provenance={}, guidelines=version, actor=lead, raters=[rater]
    )
    return {"lead": lead, "rater": rater, "shop": shop, "round": rounds.open_round(made, actor=lead)}


def graded(world: dict[str, Any], pairs: int) -> tuple[Any, str, dict[str, Any]]:
    """Grade pairs over the API; the client, the address and the body of the next answer."""
    from django.test import Client

    client = Client(SERVER_NAME="localhost")
    client.force_login(world["rater"])
    address = f"/api/v1/rounds/{world['round'].uuid}"
    batch = client.post(f"{address}/batch/?size=50").json()
    bodies = [
        {
            "client_id": str(uuid.uuid4()),
            "pair": pair["id"],
            "grade": place % 4,
            "seconds_active": 2.5,
        }
        for place, pair in enumerate(batch["pairs"])
    ]
    for body in bodies[:pairs]:
        done = client.post(f"{address}/judgments/", body, content_type="application/json")
        assert done.status_code in (200, 201), done.content
    return client, f"{address}/judgments/", bodies[-1]


def recording() -> None:
    """Begin to record: the module does so when it is imported and the file exists."""
    import sitecustomize  # noqa: F401

    Path(os.environ["ASSAY_EXECUTED"]).touch()


def answer(world: dict[str, Any]) -> dict[str, Any]:
    """Send one grade, as the station does."""
    client, address, body = graded(world, len(DOCUMENTS) - 2)
    recording()
    done = client.post(address, body, content_type="application/json")
    sys.setprofile(None)
    return {"status": done.status_code}


def work() -> None:
    """Run the jobs that wait."""
    from django.core.management import call_command

    call_command("db_worker", batch=True, interval=0, reload=False, verbosity=0)


def upload(world: dict[str, Any]) -> dict[str, Any]:
    """Freeze the round, upload a run, and have the worker read, store and score it."""
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.test import Client

    from evaluation.models import Scoring
    from judgments.jobs import limited_process
    from judgments.rounds import rounds
    from judgments.snapshots import snapshots
    from pooling.models import Run

    graded(world, len(DOCUMENTS))
    rounds.close_round(world["round"], actor=world["lead"])
    snapshots.freeze(world["shop"], rounds=[world["round"]], name="Snapshot", actor=world["lead"])
    work()  # the jobs of the closed round are no part of the upload
    client = Client(SERVER_NAME="localhost")
    client.force_login(world["lead"])
    lines = [f"q1 Q0 {name} {place} {20 - place} bm25\n" for place, name in enumerate(DOCUMENTS, 1)]
    file = SimpleUploadedFile("bm25.txt", "".join(lines).encode())
    # A web process and a worker start the helper that reads files before their first request.
    limited_process.call(str, limits=limited_process.small())
    recording()
    done = client.post("/api/v1/collections/shop/runs/", {"file": file})
    work()
    sys.setprofile(None)
    return {"status": done.status_code, "runs": Run.objects.count(), "scored": Scoring.objects.count()}


if __name__ == "__main__":
    main()
