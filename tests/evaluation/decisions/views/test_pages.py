"""Tests of the pages of decisions: the two steps to start one, its state, and the report."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evaluation.decisions import decisions
from evaluation.models import Decision
from judgments.models import Collection, InviteLink, Membership, Round
from judgments.queries import narratives
from tests.evaluation.decisions.conftest import lists, rate, run_file
from tests.judgments.charts.vega_lite import layers_of

pytestmark = pytest.mark.django_db


def uploaded(name: str, text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def systems_given(queries: int = 20) -> dict[str, Any]:
    before, after = lists(0.5, queries=queries)
    texts = "".join(f"{query_id},query {query_id}\n" for query_id in before)
    return {
        "baseline_file": uploaded("current.run", run_file(before)),
        "candidate_files": uploaded("new.run", run_file(after)),
        "queries": uploaded("queries.csv", f"query_id,query\n{texts}"),
    }


def test_two_files_lead_to_the_station_in_a_new_collection(client_of: Any, lead: Any) -> None:
    browser = client_of(lead)
    response = browser.post(reverse("compare_systems"), {"name": "Shop search", **systems_given()})
    assert response.status_code == 302
    made = Collection.objects.get(slug="shop-search")
    assert (made.runs.count(), made.queries.count()) == (2, 20)
    assert made.runs.get(baseline=True).name == "current"
    plan = browser.get(response.url)
    assert plan.status_code == 200
    assert plan.context["plan"].pair_count > 60
    form = {name: value for name, value in plan.context["form"].initial.items() if value not in (None, False)}
    started = browser.post(response.url, {**form, "metric": "nDCG@3", "act": "start"})
    decision = Decision.objects.get()
    assert started.url == reverse("rate", args=[decision.round.uuid])
    assert decision.round.state == Round.State.OPEN
    assert [rater.user for rater in decision.round.raters.all()] == [lead]


def test_runs_without_a_queries_file_use_their_ids_as_texts(client_of: Any, lead: Any) -> None:
    given = systems_given()
    del given["queries"]
    client_of(lead).post(reverse("compare_systems"), {"name": "Plain", **given})
    assert Collection.objects.get(slug="plain").queries.filter(text="q000").exists()


@pytest.mark.parametrize("separator", [",", "\t"])
def test_pasted_lists_are_two_systems(client_of: Any, lead: Any, separator: str) -> None:
    rows = ["system,query,title,url", "old,tent,Fell 2,https://shop.example/1", "new,tent,Fell 3,", "new,tent,Fell 2,"]
    given = {"name": "Pasted", "pasted": "\n".join(rows).replace(",", separator)}
    response = client_of(lead).post(reverse("compare_systems"), given)
    assert response.status_code == 302
    made = Collection.objects.get(slug="pasted")
    assert {run.name: run.rows for run in made.runs.all()} == {"old": 1, "new": 2}
    assert made.runs.get(baseline=True).name == "old"


ONLY_PASTED = dict.fromkeys(("baseline_file", "candidate_files", "queries"))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"baseline_file": None}, "baseline_file"),
        ({"candidate_files": None}, "candidate_files"),
        ({"candidate_files": uploaded("new.run", "not a run at all")}, "candidate_files"),
        ({"documents": uploaded("d.jsonl", '{"title": "no id"}\n')}, "documents"),
        ({"pasted": "system,query,title\nold,tent,Fell\nnew,tent,Fell 2"}, "pasted"),
        ({**ONLY_PASTED, "pasted": "query,title\ntent,Fell"}, None),
        ({**ONLY_PASTED, "pasted": "system,query,title\nold,tent,Fell\nold,tent,Fell 2"}, "pasted"),
        ({**ONLY_PASTED, "pasted": "system,query,title\nold,tent,Fell\nnew,tent,Fell"}, "pasted"),
    ],
)
def test_what_cannot_be_compared_is_refused_and_nothing_is_stored(
    client_of: Any, lead: Any, changes: dict[str, Any], field: str | None
) -> None:
    given = {name: value for name, value in {**systems_given(), **changes}.items() if value is not None}
    for value in given.values():
        if isinstance(value, SimpleUploadedFile):
            value.seek(0)
    response = client_of(lead).post(reverse("compare_systems"), {"name": "Shop search", **given})
    assert response.status_code == 422
    assert (field or "__all__") in response.context["form"].errors
    assert not Collection.objects.exists()


def test_a_file_that_is_used_twice_has_no_difference(client_of: Any, lead: Any) -> None:
    given = systems_given()
    given["candidate_files"] = uploaded("copy.run", run_file(lists(0.5, queries=20)[0]))
    response = client_of(lead).post(reverse("compare_systems"), {"name": "Shop search", **given})
    assert response.status_code == 422


def test_only_who_may_create_collections_starts_without_one(client_of: Any, rater: Any) -> None:
    assert client_of(rater).get(reverse("compare_systems")).status_code == 403


@pytest.fixture
def plan(systems: Any, collection: Any) -> str:
    baseline, candidate = systems(*lists(0.5, queries=20))
    return f"{reverse('decision_plan', args=[collection.slug])}?baseline={baseline.uuid}&candidate={candidate.uuid}"


VALUES = {
    "name": "new",
    "metric": "nDCG@3",
    "delta": "0.02",
    "method": "asymptotic",
    "ratings_per_pair": "1",
    "overlap": "1",
    "seed": "7",
    "closes": "on",
}


PEOPLE = {"people": "Rosa\nrudi@mail.example\n", "role": "rater", "act": "start"}


def test_the_plan_needs_somebody_who_rates(client_of: Any, lead: Any, plan: str) -> None:
    response = client_of(lead).post(plan, {**VALUES, "act": "start"})
    assert response.status_code == 422
    assert "rate" in response.context["form"].errors
    assert not Decision.objects.exists()


def test_changed_values_change_the_effort_and_start_nothing(client_of: Any, lead: Any, rater: Any, plan: str) -> None:
    browser = client_of(lead)
    efforts = [
        browser.post(plan, {**VALUES, "raters": [str(rater.uuid)], "ratings_per_pair": number}).context["scenarios"]
        for number in (1, 2)
    ]
    assert [2 * one.judgments for one in efforts[0]] == [one.judgments for one in efforts[1]]
    assert not Decision.objects.exists()


def test_needs_are_edited_on_the_plan(client_of: Any, lead: Any, plan: str, collection: Any) -> None:
    browser = client_of(lead)
    first = [query for query, _ in browser.get(plan).context["needs"]["first"]]
    assert tuple(query.query_id for query in first) == browser.get(plan).context["plan"].order[: len(first)]
    seen = narratives.version(first[0])
    field = {"act": "needs", f"need-{first[0].uuid}": "A tent for two.", f"seen-{first[0].uuid}": seen}
    assert browser.post(plan, field).status_code == 200
    assert collection.queries.get(pk=first[0].pk).narrative == "A tent for two."
    response = browser.post(plan, {**field, f"need-{first[0].uuid}": "A house tent."})
    assert response.status_code == 409
    assert "A house tent." in response.content.decode()
    assert collection.queries.get(pk=first[0].pk).narrative == "A tent for two."
    assert not Decision.objects.exists()


def test_invited_people_get_a_link_each(client_of: Any, lead: Any, plan: str, collection: Any) -> None:
    response = client_of(lead).post(
        plan, {**VALUES, "people": "Rosa\nrudi@mail.example\n", "role": "rater", "act": "start"}
    )
    addresses = re.findall(r"https?://\S+/invite/#[-\w]+", response.content.decode())
    assert len(set(addresses)) == 2
    assert {link.round.name for link in InviteLink.objects.all()} == {"new"}
    assert not mail.outbox


def test_links_are_mailed_if_there_is_a_mail_server(client_of: Any, lead: Any, plan: str, settings: Any) -> None:
    settings.EMAIL_URL = "memorymail://"
    response = client_of(lead).post(
        plan, {**VALUES, "people": "Rosa\nrudi@mail.example", "role": "rater", "act": "start"}
    )
    assert [one.to for one in mail.outbox] == [["rudi@mail.example"]]
    assert [one.mailed for one in response.context["invited"]] == [False, True]
    assert response.context["invited"][1].address in mail.outbox[0].body


def test_engineers_are_invited_without_the_round(client_of: Any, lead: Any, plan: str) -> None:
    values = {**VALUES, "rate": "on", "people": "Emil", "role": "engineer", "act": "start"}
    client_of(lead).post(plan, values)
    link = InviteLink.objects.get()
    assert (link.role, link.round) == ("engineer", None)


def test_a_page_follows_the_decision_to_its_report(start: Any, rater: Any, client_of: Any, lead: Any) -> None:
    decision = start(*lists(0.8), closes=False)
    browser = client_of(lead)
    address = reverse("decision", args=["shop", decision.uuid])
    assert browser.get(address).context["parts"][0].verdict == "undecided"
    rate(decision, rater, most=100)
    browser.get(address)
    rate(decision, rater)
    part = browser.get(address).context["parts"][0]
    assert (part.verdict, len(part.gains)) == ("better", 10)
    assert part.numbers["queries"] < 40
    assert browser.get(address, {"format": "svg"}).headers["Content-Type"] == "image/svg+xml"
    interval, bounds, *_, verdict = layers_of(browser.get(address, {"format": "vl.json", "candidate": "0"}))
    assert interval[: len(part.trace)] == [vars(step) for step in part.trace]
    assert [row["difference"] for row in bounds] == [-decision.delta, 0, decision.delta]
    assert [(row["n"], row["verdict"]) for row in verdict] == [(part.numbers["queries"], "better")]
    report = browser.get(reverse("decision_report", args=["shop", decision.uuid]))
    text = report.content.decode()
    assert report["Content-Disposition"].startswith("attachment")
    assert not re.search(r"""(?:href|src)=["']|url\(|<script""", text)
    assert decisions.settings_of(decision)["metric"] in text


def test_the_state_is_hidden_from_a_lead_who_rates(
    start: Any, rater: Any, client_of: Any, lead: Any, api_of: Any
) -> None:
    decision = start(*lists(0.8), raters=[lead, rater], closes=False)
    rate(decision, rater, most=90)
    page = client_of(lead).get(reverse("decision", args=["shop", decision.uuid]))
    assert "parts" not in page.context
    picture = client_of(lead).get(reverse("decision", args=["shop", decision.uuid]), {"format": "vl.json"})
    assert picture.headers["Content-Type"].startswith("text/html")
    listed = client_of(lead).get(reverse("decisions", args=["shop"]) + "?format=csv")
    assert b"better" not in listed.getvalue()
    body = api_of(lead).get(f"/api/v1/collections/shop/decisions/{decision.uuid}/").json()
    assert {body["candidates"][0][name] for name in ("verdict", "difference", "low", "queries")} == {None}
    assert api_of(lead).get(f"/api/v1/collections/shop/decisions/{decision.uuid}/trace/").status_code == 403
    assert client_of(lead).get(reverse("decision_report", args=["shop", decision.uuid])).status_code == 302


def test_the_list_has_an_empty_state_and_verdicts(
    start: Any, rater: Any, client_of: Any, lead: Any, collection: Any
) -> None:
    browser = client_of(lead)
    assert browser.get(reverse("decisions", args=["shop"])).context["listing"].nothing
    decision = start(*lists(0.8))
    rate(decision, rater)
    decisions.look(decision)
    assert b"better" in browser.get(reverse("decisions", args=["shop"]) + "?format=csv").getvalue()


def test_a_lead_closes_a_round_before_the_verdict(start: Any, client_of: Any, lead: Any, engineer: Any) -> None:
    decision = start(*lists(0.5))
    address = reverse("decision_close", args=["shop", decision.uuid])
    assert client_of(engineer).post(address).status_code == 403
    client_of(lead).post(address)
    decision.round.refresh_from_db()
    assert decision.round.state == Round.State.CLOSED


def test_an_invited_person_joins_with_the_role_of_the_link(
    client_of: Any, lead: Any, plan: str, collection: Any
) -> None:
    values = {**VALUES, "rate": "on", "people": "Emil", "role": "engineer", "act": "start"}
    response = client_of(lead).post(plan, values)
    code = response.context["invited"][0].address.rpartition("#")[2]
    browser = client_of(None)
    browser.post(reverse("invite"), {"code": code})
    secret = "a-long-unusual-phrase-9"
    browser.post(reverse("invite"), {"username": "emilia", "password1": secret, "password2": secret})
    assert Membership.objects.get(user__username="emilia").role == "engineer"
