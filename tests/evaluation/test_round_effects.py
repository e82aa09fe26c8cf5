"""Do pages and API tell what hangs on raters and conflicts, to whom they may, and say why where they cannot?"""

from __future__ import annotations

import json

import pytest
from django.core.cache import cache
from django.core.files.storage import default_storage
from django.db.models import F
from django.utils import timezone

from evaluation import conflict_effects as told_here
from evaluation import rater_effect, round_effects, round_runs
from evaluation.models import RoundEffect
from judgments import adjudication, conflict_effects, jobs, rounds
from judgments.models import Job, Pair, Tally

pytestmark = pytest.mark.django_db


@pytest.fixture
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


def test_who_turns_the_ranking_alone_is_told(rated, client_of, engineer):
    page, call = pages(rated)
    told = client_of(engineer).get(call).json()
    assert (told["metric"], told["rule"], told["runs"]) == ("nDCG@10", "median", ["bm25", "neural"])
    assert len(told["raters"]) == 3
    turned = [one for one in told["raters"] if one["alone"]["tau"] == -1]
    assert len(turned) == 1
    assert (turned[0]["without"]["tau"], turned[0]["alone"]["moved"]) == (1, 1)
    html = client_of(engineer).get(page).content.decode()
    assert "What hangs on each rater" in html
    rows = client_of(engineer).get(page).context["listing"].rows
    assert {row["rater"]: row["agreement"] for row in rows}[turned[0]["rater"]] == 1, "the others agree in everything"
    file = b"".join(client_of(engineer).get(page, {"format": "csv"}).streaming_content)
    assert file.count(b"\n") == 4


def test_what_cannot_be_asked_is_said(rated, client_of, engineer):
    page, call = pages(rated)
    client = client_of(engineer)
    for asked in ({"metric": "nDCC@10"}, {"metric": "GMAP"}, {"rule": "dice"}):
        assert client.get(call, asked).status_code == 400
        assert client.get(page, asked).status_code == 422
    assert client.get(page, {"metric": "P@2", "rule": "max"}).status_code == 200


def test_every_rule_that_can_be_asked_is_offered(rated, client_of, engineer, monkeypatch):
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
    assert "fewer than two raters" in client_of(engineer).get(page).content.decode()
    stage.graded(round_, lambda pair, place: 1)
    assert "two runs" in client_of(engineer).get(page).content.decode()
    assert client_of(engineer).get(call).status_code == 400


def test_a_lead_who_still_rates_is_told_nothing(stage, client_of, lead, engineer):
    stage.queries(2)
    stage.documents()
    stage.run("bm25", "012", queries=2)
    stage.run("neural", "210", queries=2)
    round_ = stage.round(raters=2, ratings_per_pair=2)
    rounds.invite(round_, [lead], actor=lead)
    stage.graded(round_, lambda pair, place: place, raters=1)
    page, call = pages(round_)
    assert "You may still be asked" in client_of(lead).get(page).content.decode()
    assert client_of(lead).get(call).status_code == 403
    assert "fewer than two raters" in client_of(engineer).get(page).content.decode()


def test_what_hangs_on_a_conflict_is_known_to_the_room_below(rated, lead):
    found = conflict_effects.effects(rated)
    assert found.metric == "nDCG@10"
    assert set(found.moves) == set(rated.pairs.values_list("pk", flat=True))
    # The third of three good documents at the third rank moves nothing: the ranking is perfect with it and without it.
    assert (min(found.moves.values()), max(found.moves.values()) > 0) == (0, True)
    pair = rated.pairs.select_related("query", "document", "round__collection").first()
    rows = conflict_effects.detail(pair, [0, 3])
    assert {row["run"] for row in rows} == {"bm25", "neural"}
    spread = max(abs(row["values"][3] - row["values"][0]) for row in rows)
    assert spread == pytest.approx(found.moves[pair.pk])
    assert rows[0]["rank"] in {1, 2, 3}
    adjudication.settle(pair, grade=3, reason="Just what was asked for.", actor=lead)
    assert conflict_effects.effects(rated) is not None


@pytest.fixture
def large(rated, monkeypatch):
    monkeypatch.setattr("evaluation.round_runs.GRADES_AT_ONCE", 10)
    return rated


def work():
    """What waits in line, worked off."""
    for job in Job.objects.filter(kind="effects", state="queued"):
        jobs.work_on_job.func(str(job.uuid))


def test_of_a_large_round_a_job_counts_the_conflicts(rated, client_of, lead, monkeypatch):
    """It says what a small round's page says, and until then the pages say that it is being counted."""
    at_once = conflict_effects.effects(rated).moves
    monkeypatch.setattr("evaluation.round_runs.GRADES_AT_ONCE", 10)
    list_, client = f"/rounds/{rated.uuid}/conflicts/", client_of(lead)
    assert "is not told yet. The round is large: a job counts it now." in client.get(list_).content.decode()
    assert Job.objects.get(kind="effects").state == "queued"
    work()
    response = client.get(list_, {"sort": "-effect"})
    assert response.context["effects"].moves == at_once
    assert "is not told" not in response.content.decode()
    pair = response.context["listing"].rows[0]
    most = max(at_once.values())
    assert at_once[pair.pk] == most > 0
    html = " ".join(client.get(f"/rounds/{rated.uuid}/conflicts/{pair.uuid}/").content.decode().split())
    assert f"lie {most:.4f} of nDCG@10" in html
    told = client.get(f"/api/v1/rounds/{rated.uuid}/conflicts/").json()["results"]
    assert {one["pair"]: one["effect"] for one in told}[str(pair.uuid)] == most


def test_of_a_large_round_those_conflicts_are_kept_that_move_most(large, monkeypatch):
    everything = told_here.counted(large, round_runs.all_runs(large.collection))["moves"]
    monkeypatch.setattr(told_here, "MOST", 1)  # for a page that waits, not for a job
    monkeypatch.setattr(told_here, "KEPT", 4)
    kept = told_here.counted(large, round_runs.all_runs(large.collection))["moves"]
    assert len(kept) == 4
    assert set(kept.items()) < set(everything.items())
    assert sorted(kept.values()) == sorted(everything.values())[-4:]


def test_of_a_large_round_a_job_counts_what_hangs_on_raters(rated, client_of, engineer, monkeypatch):
    at_once = rater_effect.look(rated, metric="P@2")
    monkeypatch.setattr("evaluation.round_runs.GRADES_AT_ONCE", 10)
    page, call = pages(rated)
    client = client_of(engineer)
    html = client.get(page, {"metric": "P@2"}).content.decode()
    assert "a job counts it now" in html
    assert 'hx-get="?metric=P%402" hx-trigger="every 4s"' in html, "the page looks again by itself"
    refused = client.get(call, {"metric": "P@2"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")
    work()
    assert rater_effect.look(rated, metric="P@2") == at_once
    assert client.get(call, {"metric": "P@2"}).json() == json.loads(json.dumps(at_once.as_json()))
    html = client.get(page, {"metric": "P@2"}).content.decode()
    assert "By this rater alone" in html
    assert "every 4s" not in html
    # Another metric is another count.
    assert client.get(call).status_code == 409
    assert Job.objects.filter(kind="effects").count() == 2


def test_what_came_since_is_told_and_counted_a_minute_later(large, client_of, engineer):
    page, call = pages(large)
    client = client_of(engineer)
    client.get(call)
    work()
    Tally.objects.filter(round=large, rater=large.raters.first().user).update(events=F("events") + 3)
    assert client.get(call).json()["newer"] == 3
    assert "3 answers or changes came since" in " ".join(client.get(page).content.decode().split())
    assert Job.objects.get(kind="effects").state == "done"
    RoundEffect.objects.update(computed_at=timezone.now() - round_effects.PATIENCE)
    assert client.get(call).json()["newer"] == 3
    assert Job.objects.get(kind="effects").state == "queued"
    work()
    assert client.get(call).json()["newer"] == 0


def test_what_the_count_finds_wrong_is_said(stage, client_of, lead, engineer, monkeypatch):
    monkeypatch.setattr("evaluation.round_runs.GRADES_AT_ONCE", 0)
    stage.queries(2)
    stage.documents()
    stage.run("bm25", "012", queries=2)
    round_ = stage.round(raters=2, ratings_per_pair=2)
    stage.graded(round_, lambda pair, place: 3 * place, raters=2)
    page, call = pages(round_)
    client_of(engineer).get(page)
    work()
    assert "An order needs two runs" in client_of(engineer).get(page).content.decode()
    assert client_of(engineer).get(call).status_code == 400
    # Another run, and it is counted anew.
    stage.run("neural", "210", queries=2)
    RoundEffect.objects.update(computed_at=timezone.now() - round_effects.PATIENCE)
    client_of(engineer).get(page)
    work()
    assert client_of(engineer).get(call).status_code == 200
    # Runs that no worker could hold.
    monkeypatch.setattr("evaluation.round_runs.ROWS_BY_JOB", 3)
    list_ = f"/rounds/{round_.uuid}/conflicts/"
    client_of(lead).get(list_)
    work()
    assert (
        "is not told yet. The runs have 12 rows together, and up to 3 are"
        in client_of(lead).get(list_).content.decode()
    )


def test_a_count_that_breaks_is_not_begun_at_every_look(large, client_of, engineer, monkeypatch):
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
    assert "counts it, since the round is large, and stopped" in client.get(page).content.decode()
    Job.objects.update(finished_at=timezone.now() - jobs.AFTER_A_FAULT)
    client.get(page)
    assert Job.objects.get(kind="effects").state == "queued"


def test_of_a_large_round_one_conflict_tells_no_means(large):
    assert told_here.detail(large.pairs.first(), [0, 3]) == []


def test_without_runs_nothing_is_told_and_no_job_begun(stage, monkeypatch):
    monkeypatch.setattr("evaluation.round_runs.GRADES_AT_ONCE", 0)
    stage.queries(1)
    stage.documents()
    round_ = stage.round(raters=2, ratings_per_pair=2, runs=0)
    stage.graded(round_, lambda pair, place: place, raters=2)
    assert told_here.effects(round_) is None
    assert told_here.why_not(round_) == ""
    assert told_here.detail(round_.pairs.first(), [0, 1]) == []
    assert not Job.objects.filter(kind="effects").exists()
