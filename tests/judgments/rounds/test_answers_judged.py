"""Machine judges on rounds of answers, and their calibration against people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main
from judgments.machines.judge_runs import labels_export
from judgments.models import JudgeRun, Round
from judgments.rating import assignment
from judgments.rounds import rounds
from judgments.rounds.answer_rounds import GivenAnswer, Passage, create_answer_rounds
from judgments.snapshots import snapshots
from tests.judgments.machines.model_replies import choice_of, grade, provider_at, started
from tests.model_server import serving
from tests.world import grade_together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_allowed")]


@pytest.fixture
def faithful(collection: Any, lead: Any, rater: Any, rater2: Any) -> Round:
    """Twelve answers, graded 2, 1, 0 by people in turn."""
    answers = [
        GivenAnswer(
            f"q{number}",
            f"What about shell {number}?",
            f"Shell {number} is waterproof [1].",
            (Passage("d1", f"Shell {number} was tested in rain.", "The test"),),
        )
        for number in range(12)
    ]
    (made,) = create_answer_rounds(
        collection, name="RAG", answers=answers, dimensions=["faithful"], raters=[rater, rater2], actor=lead
    )
    made = rounds.open_round(made, actor=lead)
    for person in (rater, rater2):
        batch = assignment.claim_batch(made, rater=person, size=50)
        grade_together(made, person, {pair.uuid: 2 - int(pair.query.query_id[1:]) % 3 for pair in batch})
    return made


def test_a_critic_is_calibrated_against_people(
    faithful: Round, collection: Any, lead: Any, commit: Any, tmp_path: Path, capsys: Any
) -> None:
    with serving(lambda prompt, number: grade(2 if "Shell 0 " in prompt or "Shell 3 " in prompt else 1)) as server:
        run = started(faithful, choice_of(provider_at(server.url, collection, lead)), lead, commit)
    assert (run.state, run.calls) == (JudgeRun.State.DONE, 12)
    # The judge reads the answer with its numbered evidence, and the guidelines of the dimension.
    prompt = next(one for one in server.prompts if "Shell 0 " in one)
    assert "Shell 0 is waterproof [1]." in prompt
    assert "[1] The test\nShell 0 was tested in rain." in prompt
    assert "is the answer faithful?" in prompt
    frozen = snapshots.freeze(collection, name="people", rounds=[faithful], actor=lead, override_reason="A small test.")
    labels = tmp_path / "labels.jsonl"
    labels.write_bytes(b"".join(labels_export.lines(run.judge, faithful, lead)))
    for name in ("qrels.txt", "ratings.csv"):
        (tmp_path / name).write_bytes(frozen.read_file(name))
        assert main(["calibrate", str(tmp_path / name), str(labels), "--bootstrap", "50", "--format", "json"]) == 0
        report = json.loads(capsys.readouterr().out)
        # People gave 2, 1 and 0 four times each; the judge is right about two of the 2s and about all of the 1s.
        assert report["pairs"] == 12
        assert report["kappa"]["unweighted"]["value"] == pytest.approx(0.25)
