"""People's grades of the answers of RAG systems."""

from __future__ import annotations

import json
import uuid
from typing import Any

import krippendorff
import pytest
from django.urls import reverse

from assay import rag
from assay.core.errors import NotValid
from evaluation.models import RagSampleSet, RagSystem
from evaluation.rag import people
from judgments.models import Round
from judgments.rating import assignment
from judgments.rounds import rounds
from tests.evaluation.rag.conftest import NEW, OLD, SAMPLES
from tests.test_access_matrix import LINES, WHO
from tests.world import grade_together

pytestmark = pytest.mark.django_db


def test_answers_are_graded_and_the_scorecard_shows_the_means(
    scored: RagSampleSet, client_of: Any, lead: Any, engineer: Any, rater: Any
) -> None:
    client = client_of(lead)
    old, new = RagSystem.objects.get(name="old"), RagSystem.objects.get(name="new")
    request = {
        "name": "Kits",
        "systems": [str(old.uuid), str(new.uuid)],
        "dimensions": ["correct", "faithful"],
        "ratings_per_pair": 1,
        "raters": [rater.username],
    }
    page = reverse("rag_grade", args=["shop", scored.uuid])
    assert client.post(page, request)["Location"] == reverse("rounds", args=["shop"])
    made = list(Round.objects.order_by("pk"))
    assert [one.dimension for one in made] == ["correct", "faithful"]
    correct = rounds.open_round(made[0], actor=lead)
    address = reverse("rag_set", args=["shop", scored.uuid])
    assert "shown after the round is closed" in client.get(address).content.decode()
    batch = assignment.claim_batch(correct, rater=rater, size=100)
    # Where both systems gave the same answer from the same evidence, it is one pair.
    same = sum(a == b for a, b in zip(_answers(old), _answers(new), strict=True))
    assert len(batch) == 28 - same
    grade_together(correct, rater, {pair.uuid: 0 if pair.document.text == "Socks." else 2 for pair in batch})
    rounds.close_round(correct, actor=lead)
    (result, waiting) = people.graded(RagSampleSet.objects.get(), engineer)
    wrong = {system: sum(text == "Socks." for text, _ in _answers(system)) for system in (old, new)}
    for system in (old, new):
        mean = result.means[str(system.uuid)]
        assert mean.number == 14
        assert mean.value == pytest.approx(2 * (14 - wrong[system]) / 14)
        assert mean.low is not None
        assert mean.low <= mean.value <= (mean.high or 0)
    assert not waiting.means
    assert f"<b>{result.means[str(old.uuid)].value:.3f}</b>" in client_of(engineer).get(address).content.decode()


def test_metrics_are_compared_with_the_grades_of_closed_rounds(
    scored: RagSampleSet, client_of: Any, api_of: Any, lead: Any, engineer: Any, rater: Any
) -> None:
    old, new = RagSystem.objects.get(name="old"), RagSystem.objects.get(name="new")
    made = people.start(
        scored,
        name="Kits",
        systems=[old, new],
        dimensions=["correct", "faithful"],
        samples=10,
        ratings_per_pair=1,
        raters=[rater],
        actor=lead,
    )
    address = reverse("rag_set", args=["shop", scored.uuid])
    api = f"/api/v1/collections/shop/rag/samples/{scored.uuid}/people/"
    assert api_of(engineer).get(api).json() == []
    correct = rounds.open_round(made[0], actor=lead)
    batch = assignment.claim_batch(correct, rater=rater, size=100)
    grade_together(correct, rater, {pair.uuid: 0 if pair.document.text == "Socks." else 2 for pair in batch})
    assert not client_of(engineer).get(address).context["beside"]
    rounds.close_round(correct, actor=lead)
    rows = {row["metric"]: row for row in api_of(engineer).get(api).json()}
    assert set(rows) == {"ExactMatch", "TokenF1", "RougeL"}
    row = rows["ExactMatch"]
    assert (row["round"], row["dimension"]) == (str(correct.uuid), "correct")
    # The answers are exact or wrong, and people graded them so.
    assert row["calibration"]["kappa"]["quadratic"]["value"] == 1.0
    assert row["calibration"]["bias"] == 0.0
    drawn = scored.gradings.first().answers[str(new.uuid)]
    outputs = {"old": OLD, "new": NEW}
    grades = {
        (one["sample_id"], name): 0 if one["response"] == "Socks." else 2
        for name, rows_of in outputs.items()
        for one in rows_of
        if one["sample_id"] in drawn
    }
    library = rag.compare_with_people(rag.evaluate(SAMPLES, outputs, "ExactMatch"), "ExactMatch", grades, (0, 1, 2))
    expected = json.loads(json.dumps(library.to_dict()["systems"]))
    assert sorted(row["systems"], key=str) == sorted(expected, key=str)
    page = client_of(engineer).get(address)
    first = page.context["beside"][0]
    assert (first.of.metric, first.pairs) == ("ExactMatch", 20)
    shown_people, shown_metric, corrected = first.cells[0]
    assert (shown_people.number, shown_metric.number, corrected.number) == (10, 14, 14)


def test_few_grades_correct_nothing(scored: RagSampleSet, client_of: Any, lead: Any, rater: Any) -> None:
    new = RagSystem.objects.get(name="new")
    (made,) = people.start(
        scored,
        name="K",
        systems=[new],
        dimensions=["faithful"],
        samples=2,
        ratings_per_pair=1,
        raters=[rater],
        actor=lead,
    )
    opened = rounds.open_round(made, actor=lead)
    batch = assignment.claim_batch(opened, rater=rater, size=10)
    grade_together(opened, rater, {pair.uuid: 2 for pair in batch})
    rounds.close_round(opened, actor=lead)
    page = client_of(lead).get(reverse("rag_set", args=["shop", scored.uuid]))
    for one in page.context["beside"]:
        for shown_people, _, corrected in one.cells:
            assert not shown_people.value
            assert not corrected.value
            assert corrected.reason


def _answers(system: RagSystem) -> list[tuple[str, str]]:
    from assay.rag import read_outputs
    from evaluation.rag import sample_sets

    with sample_sets.checked(system) as path:
        return [
            (one.response.text if one.response else "", str([doc.doc.doc_id for doc in one.retrieved]))
            for one in read_outputs(path)
        ]


def test_some_samples_are_drawn_from_the_seed(scored: RagSampleSet, lead: Any) -> None:
    new = RagSystem.objects.get(name="new")
    people.start(scored, name="A", systems=[new], dimensions=["correct"], samples=5, seed=3, actor=lead)
    people.start(scored, name="B", systems=[new], dimensions=["correct"], samples=5, seed=3, actor=lead)
    first, second = (row.answers[str(new.uuid)] for row in scored.gradings.all())
    assert len(first) == 5
    assert first == second


def test_without_a_system_there_is_nothing_to_grade(sample_set: RagSampleSet, lead: Any, client_of: Any) -> None:
    with pytest.raises(NotValid):
        people.start(sample_set, name="A", systems=[], actor=lead)
    page = client_of(lead).get(reverse("rag_grade", args=["shop", sample_set.uuid]))
    assert reverse("outputs_new", args=["shop"]) in page.content.decode()


def test_the_scorecard_shows_the_agreement_of_closed_rounds(
    scored: RagSampleSet, client_of: Any, lead: Any, engineer: Any, rater: Any, rater2: Any
) -> None:
    new = RagSystem.objects.get(name="new")
    (made,) = people.start(
        scored, name="A", systems=[new], dimensions=["correct"], samples=6, raters=[rater, rater2], actor=lead
    )
    opened, page = rounds.open_round(made, actor=lead), reverse("rag_set", args=["shop", scored.uuid])
    for one, grades in ((rater, [0, 0, 1, 2, 2, 2]), (rater2, [0, 0, 1, 1, 2, 2])):
        batch = sorted(assignment.claim_batch(opened, rater=one, size=10), key=lambda pair: pair.position)
        grade_together(opened, one, {pair.uuid: grade for pair, grade in zip(batch, grades, strict=True)})
    ((_, hidden, _),) = client_of(engineer).get(page).context["graded"]
    assert (hidden.value, hidden.number) == ("", None)
    rounds.close_round(opened, actor=lead)
    ((_, agreement, cells),) = client_of(engineer).get(page).context["graded"]
    alpha = krippendorff.alpha([[0, 0, 1, 2, 2, 2], [0, 0, 1, 1, 2, 2]], level_of_measurement="ordinal")
    assert float(agreement.value) == pytest.approx(alpha, abs=0.001)
    assert agreement.number == 6
    assert {cell.number for cell in cells if cell.value} == {6}


def test_leads_who_still_rate_the_answers_see_no_mean_grade(
    scored: RagSampleSet, client_of: Any, lead: Any, engineer: Any, rater: Any
) -> None:
    new = RagSystem.objects.get(name="new")
    first, second = (
        people.start(
            scored,
            name=name,
            systems=[new],
            dimensions=["correct"],
            samples=6,
            ratings_per_pair=1,
            raters=[one],
            actor=lead,
        )[0]
        for name, one in (("A", rater), ("B", lead))
    )
    opened, page = rounds.open_round(first, actor=lead), reverse("rag_set", args=["shop", scored.uuid])
    batch = assignment.claim_batch(opened, rater=rater, size=10)
    grade_together(opened, rater, {pair.uuid: 2 for pair in batch})
    rounds.close_round(opened, actor=lead)

    def values(reader: Any) -> set[str]:
        return {cell.value for one, _, cells in client_of(reader).get(page).context["graded"] for cell in cells}

    assert "2.000" in values(lead)
    again = rounds.open_round(second, actor=lead)
    assert values(lead) == {""}
    assert "2.000" in values(engineer)
    batch = assignment.claim_batch(again, rater=lead, size=10)
    grade_together(again, lead, {pair.uuid: 1 for pair in batch})
    assert "2.000" in values(lead)


def test_nothing_that_a_rater_reaches_names_a_system(
    sample_set: RagSampleSet, store: Any, client_of: Any, api_of: Any, lead: Any, rater: Any
) -> None:
    for name, rows in (("zeppelin", OLD), ("quokka", NEW)):
        store("outputs", rows, f"{name}.jsonl", samples=str(sample_set.uuid))
    systems = list(sample_set.systems.all())
    (made,) = people.start(
        sample_set, name="A", systems=systems, dimensions=["faithful"], ratings_per_pair=1, raters=[rater], actor=lead
    )
    round_ = rounds.open_round(made, actor=lead)
    secrets = [*(one.name for one in systems), *(str(one.uuid) for one in systems), str(sample_set.uuid)]
    browser, api = client_of(rater), api_of(rater, ("rate", "read"))
    handed_out = [api.post(f"/api/v1/rounds/{round_.uuid}/batch/")]
    batch = handed_out[0].json()["pairs"]
    payload = {"client_id": str(uuid.uuid4()), "pair": batch[0]["id"], "grade": 2}
    graded = [api.post(f"/api/v1/rounds/{round_.uuid}/judgments/", payload, format="json")]
    assert (handed_out[0].status_code, graded[0].status_code) == (200, 201)
    column, read = WHO.index("rater"), 0
    for line in LINES:
        route = line.route.replace("<slug:slug>", "shop").replace("rounds/<uuid:uuid>", f"rounds/{round_.uuid}")
        if line.method != "GET" or line.expected[column] in (403, 404) or "<" in route or "schema" in route:
            continue
        response = (api if route.startswith("api/") else browser).get(f"/{route}")
        content = b"".join(response.streaming_content) if response.streaming else response.content
        shown = content.decode() + str(response.headers)
        assert not [one for one in secrets if one in shown], route
        read += 1
    assert read > 10
    for one in (*handed_out, *graded, browser.post(f"/rounds/{round_.uuid}/rate/next/")):
        assert not [secret for secret in secrets if secret in one.content.decode()]
    assert browser.get(reverse("rag_set", args=["shop", sample_set.uuid])).status_code == 403
    for system in systems:
        assert api.get(f"/api/v1/collections/shop/rag/systems/{system.uuid}/").status_code in (403, 404)


def test_the_order_of_answers_does_not_tell_the_systems_apart(
    sample_set: RagSampleSet, store: Any, lead: Any, rater: Any
) -> None:
    """The answers to a question come in an order that does not depend on the systems."""
    for name, word in (("a", "Yes"), ("b", "No")):
        rows = [{"sample_id": one["sample_id"], "response": f"{word}, {one['sample_id']}."} for one in SAMPLES]
        store("outputs", rows, f"{name}.jsonl", samples=str(sample_set.uuid))
    orders = []
    for name, systems in (("A", ["a", "b"]), ("B", ["b", "a"])):
        (made,) = people.start(
            sample_set,
            name=name,
            systems=[sample_set.systems.get(name=one) for one in systems],
            dimensions=["correct"],
            ratings_per_pair=1,
            raters=[rater],
            actor=lead,
        )
        batch = assignment.claim_batch(rounds.open_round(made, actor=lead), rater=rater, size=50)
        orders.append([(pair.query.query_id, pair.document.text) for pair in batch])
    assert orders[0] == orders[1]
    first = dict(reversed(orders[0]))
    assert {text.split(",")[0] for text in first.values()} == {"Yes", "No"}
