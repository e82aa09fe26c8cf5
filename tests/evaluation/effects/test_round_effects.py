"""Tests of the effects of raters and conflicts: pages, API, visibility and reasons."""

from __future__ import annotations

import json

import pytest
from django.core.cache import cache
from django.core.files.storage import default_storage
from django.db.models import F
from django.utils import timezone

from evaluation.effects import job as round_effects
from evaluation.effects import pair_effects, rater_effect, round_runs
from evaluation.models import RoundEffect
from judgments.agreement import conflicts, resolutions
from judgments.jobs import jobs
from judgments.models import Job, Pair, Tally
from judgments.rounds import rounds
from tests.cached_rows import cached_fixture

pytestmark = pytest.mark.django_db


@pytest.fixture
@cached_fixture
def rated(stage):
    """Two runs of other documents; the third rater alone likes what the second run returns."""
    stage.queries(4)
    stage.documents()
    stage.run("bm25", "012", queries=4)
    stage.run("neural", "345", queries=4)
    round_ = stage.round(raters=3, ratings_per_pair=3)

    def grade(pair: Pair, place: int) -> int:
        first = pair.document.doc_id in {"d0", "d1", "d2"}
        return (3 if first else 0) if place < 2 else (0 if first else 3)

    stage.graded(round_, grade, raters=3)
    return round_


def pages(round_):
    return f"/rounds/{round_.uuid}/raters/", f"/api/v1/rounds/{round_.uuid}/raters/"


def test_a_rater_who_changes_the_ranking_is_named(rated, client_of, engineer):
    page, call = pages(rated)
    body = client_of(engineer).get(call).json()
    assert (body["metric"], body["rule"], body["runs"]) == ("nDCG@10", "median", ["bm25", "neural"])
    assert len(body["raters"]) == 3
    turned = [one for one in body["raters"] if one["alone"]["tau"] == -1]
    assert len(turned) == 1
    assert (turned[0]["without"]["tau"], turned[0]["alone"]["moved"]) == (1, 1)
    html = client_of(engineer).get(page).content.decode()
    assert "Effect of each rater" in html
    rows = client_of(engineer).get(page).context["listing"].rows
    assert {row["rater"]: row["agreement"] for row in rows}[turned[0]["rater"]] == 1, "the others agree in everything"
    file = b"".join(client_of(engineer).get(page, {"format": "csv"}).streaming_content)
    assert file.count(b"\n") == 4


def test_invalid_requests_are_explained(rated, client_of, engineer):
    page, call = pages(rated)
    client = client_of(engineer)
    for request in ({"metric": "nDCC@10"}, {"metric": "GMAP"}, {"rule": "dice"}):
        assert client.get(call, request).status_code == 400
        assert client.get(page, request).status_code == 422
    assert client.get(page, {"metric": "P@2", "rule": "max"}).status_code == 200


def test_every_supported_rule_is_offered(rated, client_of, engineer, monkeypatch):
    """The rule that is fitted is offered where fitting it for each rater takes no time, and nowhere else."""
    page, _ = pages(rated)
    client = client_of(engineer)
    response = client.get(page, {"rule": "dawid-skene"})
    assert response.status_code == 200
    assert '<option value="dawid-skene" selected>' in response.content.decode()
    monkeypatch.setattr(rater_effect, "MOST_FITTED", 10)
    assert "dawid-skene" not in dict(client.get(page).context["rules"])
    assert client.get(page, {"rule": "dawid-skene", "metric": "P@5"}).status_code == 422


def test_without_runs_or_raters_the_page_says_why(stage, client_of, engineer):
    stage.queries(1)
    stage.documents()
    round_ = stage.round(runs=0)
    page, call = pages(round_)
    assert "ewer than two raters" in client_of(engineer).get(page).content.decode()
    stage.graded(round_, lambda pair, place: 1)
    assert "two runs" in client_of(engineer).get(page).content.decode()
    assert client_of(engineer).get(call).status_code == 400


def test_leads_who_still_rate_see_nothing(stage, client_of, lead, engineer):
    stage.queries(2)
    stage.documents()
    stage.run("bm25", "012", queries=2)
    stage.run("neural", "210", queries=2)
    round_ = stage.round(raters=2, ratings_per_pair=2)
    rounds.invite(round_, [lead], actor=lead)
    stage.graded(round_, lambda pair, place: place, raters=1)
    page, call = pages(round_)
    assert "You may still have to grade pairs of this round" in client_of(lead).get(page).content.decode()
    assert client_of(lead).get(call).status_code == 403
    assert "ewer than two raters" in client_of(engineer).get(page).content.decode()


def test_judgments_shows_the_effects_of_conflicts(rated, lead):
    result = conflicts.effects(rated)
    assert result.metric == "nDCG@10"
    assert set(result.moves) == set(rated.pairs.values_list("pk", flat=True))
    # The third of three good documents at the third rank moves nothing: the ranking is perfect with it and without it.
    assert (min(result.moves.values()), max(result.moves.values()) > 0) == (0, True)
    pair = rated.pairs.select_related("query", "document", "round__collection").first()
    rows = conflicts.detail(pair, [0, 3])
    assert {row["run"] for row in rows} == {"bm25", "neural"}
    spread = max(abs(row["values"][3] - row["values"][0]) for row in rows)
    assert spread == pytest.approx(result.moves[pair.pk])
    assert rows[0]["rank"] in {1, 2, 3}
    resolutions.resolve(pair, grade=3, reason="Just what was asked for.", actor=lead)
    assert conflicts.effects(rated) is not None


@pytest.fixture
def large(rated, monkeypatch):
    monkeypatch.setattr("evaluation.effects.round_runs.GRADES_AT_ONCE", 10)
    return rated


def work():
    """What waits in line, worked off."""
    for job in Job.objects.filter(kind="effects", state="queued"):
        jobs.work_on_job.func(str(job.uuid))


def test_of_a_large_round_a_job_counts_the_conflicts(rated, client_of, lead, monkeypatch):
    """It says what a small round's page says, and until then the pages say that it is being counted."""
    at_once = conflicts.effects(rated).moves
    monkeypatch.setattr("evaluation.effects.round_runs.GRADES_AT_ONCE", 10)
    list_, client = f"/rounds/{rated.uuid}/conflicts/", client_of(lead)
    assert (
        "are not available yet. The round is large, so a job is computing the numbers."
        in client.get(list_).content.decode()
    )
    assert Job.objects.get(kind="effects").state == "queued"
    work()
    response = client.get(list_, {"sort": "-effect"})
    assert response.context["effects"].moves == at_once
    assert "is not available yet" not in response.content.decode()
    pair = response.context["listing"].rows[0]
    most = max(at_once.values())
    assert at_once[pair.pk] == most > 0
    html = " ".join(client.get(f"/rounds/{rated.uuid}/conflicts/{pair.uuid}/").content.decode().split())
    assert f"up to {most:.4f}" in html
    results = client.get(f"/api/v1/rounds/{rated.uuid}/conflicts/").json()["results"]
    assert {one["pair"]: one["effect"] for one in results}[str(pair.uuid)] == most


def test_a_large_round_stores_the_conflicts_with_the_largest_effect(large, monkeypatch):
    everything = pair_effects.counted(large, round_runs.all_runs(large.collection))["moves"]
    monkeypatch.setattr(pair_effects, "MOST", 1)  # for a page that waits, not for a job
    monkeypatch.setattr(pair_effects, "MOST_STORED", 4)
    moves = pair_effects.counted(large, round_runs.all_runs(large.collection))["moves"]
    assert len(moves) == 4
    assert set(moves.items()) < set(everything.items())
    assert sorted(moves.values()) == sorted(everything.values())[-4:]


def test_a_job_counts_rater_effects_of_a_large_round(rated, client_of, engineer, monkeypatch):
    at_once = rater_effect.look(rated, metric="P@2")
    monkeypatch.setattr("evaluation.effects.round_runs.GRADES_AT_ONCE", 10)
    page, call = pages(rated)
    client = client_of(engineer)
    html = client.get(page, {"metric": "P@2"}).content.decode()
    assert "a job is computing the numbers" in html
    assert 'hx-get="?metric=P%402" hx-trigger="every 4s"' in html, "the page looks again by itself"
    refused = client.get(call, {"metric": "P@2"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")
    work()
    assert rater_effect.look(rated, metric="P@2") == at_once
    assert client.get(call, {"metric": "P@2"}).json() == json.loads(json.dumps(at_once.as_json()))
    html = client.get(page, {"metric": "P@2"}).content.decode()
    assert "Tau of this rater alone" in html
    assert "every 4s" not in html
    # Another metric is another count.
    assert client.get(call).status_code == 409
    assert Job.objects.filter(kind="effects").count() == 2


def test_new_judgments_are_reported_and_counted_a_minute_later(large, client_of, engineer):
    page, call = pages(large)
    client = client_of(engineer)
    client.get(call)
    work()
    Tally.objects.filter(round=large, rater=large.raters.first().user).update(events=F("events") + 3)
    assert client.get(call).json()["newer"] == 3
    assert "3 judgments were added or changed after" in " ".join(client.get(page).content.decode().split())
    assert Job.objects.get(kind="effects").state == "done"
    RoundEffect.objects.update(computed_at=timezone.now() - round_effects.PATIENCE)
    assert client.get(call).json()["newer"] == 3
    assert Job.objects.get(kind="effects").state == "queued"
    work()
    assert client.get(call).json()["newer"] == 0


def test_errors_of_the_count_are_reported(stage, client_of, lead, engineer, monkeypatch):
    monkeypatch.setattr("evaluation.effects.round_runs.GRADES_AT_ONCE", 0)
    stage.queries(2)
    stage.documents()
    stage.run("bm25", "012", queries=2)
    round_ = stage.round(raters=2, ratings_per_pair=2)
    stage.graded(round_, lambda pair, place: 3 * place, raters=2)
    page, call = pages(round_)
    client_of(engineer).get(page)
    work()
    assert "A ranking needs at least two runs" in client_of(engineer).get(page).content.decode()
    assert client_of(engineer).get(call).status_code == 400
    # Another run, and it is counted anew.
    stage.run("neural", "210", queries=2)
    RoundEffect.objects.update(computed_at=timezone.now() - round_effects.PATIENCE)
    client_of(engineer).get(page)
    work()
    assert client_of(engineer).get(call).status_code == 200
    # Runs that no worker could hold.
    monkeypatch.setattr("evaluation.effects.round_runs.ROWS_BY_JOB", 3)
    list_ = f"/rounds/{round_.uuid}/conflicts/"
    client_of(lead).get(list_)
    work()
    assert (
        "are not available yet. The runs have 12 rows together. The limit is 3"
        in client_of(lead).get(list_).content.decode()
    )


def test_a_failed_count_is_not_restarted_by_every_visit(large, client_of, engineer, monkeypatch):
    """Files of a run that are gone are a fault of ours: it is told, and tried again after a while."""
    for run in large.collection.runs.all():
        default_storage.delete(run.path)
    cache.clear()  # the pool was drawn a moment ago
    client, (page, call) = client_of(engineer), pages(large)
    for _ in range(2):
        client.get(call)
        work()
    job = Job.objects.get(kind="effects")
    assert (job.state, job.attempts) == ("failed", 1)
    assert "The job that computes the numbers failed" in client.get(page).content.decode()
    Job.objects.update(finished_at=timezone.now() - jobs.AFTER_A_FAULT)
    client.get(page)
    assert Job.objects.get(kind="effects").state == "queued"


def test_of_a_large_round_one_conflict_tells_no_means(large):
    assert pair_effects.detail(large.pairs.first(), [0, 3]) == []


def test_without_runs_no_effects_are_shown_and_no_job_starts(stage, monkeypatch):
    monkeypatch.setattr("evaluation.effects.round_runs.GRADES_AT_ONCE", 0)
    stage.queries(1)
    stage.documents()
    round_ = stage.round(raters=2, ratings_per_pair=2, runs=0)
    stage.graded(round_, lambda pair, place: place, raters=2)
    assert pair_effects.effects(round_) is None
    assert pair_effects.why_not(round_) == ""
    assert pair_effects.detail(round_.pairs.first(), [0, 1]) == []
    assert not Job.objects.filter(kind="effects").exists()
