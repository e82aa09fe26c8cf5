"""Tests of parsing model answers: outcomes, probabilities, code fences, no invented grade."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.llm.model_reply import Reply, Stop, read_grade, read_yes_or_no

SCALE = (0, 1, 2, 3)

# The field's contract: text, why the model stopped, outcome, grade.
CASES: list[tuple[str, Stop, str, int | None]] = [
    ('{"grade": 2, "why": "partial"}', "done", "graded", 2),
    ('```json\n{"grade": 0}\n```', "done", "graded", 0),
    ('{"grade": 3.0}', "done", "graded", 3),
    ("##final score: 3", "done", "graded", 3),
    ("The intent is clear.\nFinal score: 1", "done", "graded", 1),
    ("Reasons.\n**Grade: 2**\n", "done", "graded", 2),
    ("##final score: 3\nThe passage relates to 1 aspect", "done", "unparseable", None),
    ("##final score: 2\nreasoning: compared to 3 other passages", "done", "unparseable", None),
    ("score: 2 of 3", "done", "unparseable", None),
    ("score: 2/3", "done", "unparseable", None),
    ("final score: 10", "done", "out_of_scale", None),
    ("final score: 2.5", "done", "out_of_scale", None),
    ("final score: -1", "done", "out_of_scale", None),
    ('{"grade": 7}', "done", "out_of_scale", None),
    ('{"grade": 1.5}', "done", "out_of_scale", None),
    ('{"grade": "3"}', "done", "unparseable", None),
    ('{"grade": true}', "done", "unparseable", None),
    ('{"grade": null}', "done", "unparseable", None),
    ('{"grade": NaN}', "done", "unparseable", None),
    ('{"grade": Infinity}', "done", "unparseable", None),
    ('{"score": 3}', "done", "unparseable", None),
    ("[3]", "done", "unparseable", None),
    ("3", "done", "unparseable", None),
    ("This passage from 2019 is relevant", "done", "unparseable", None),
    ("", "done", "unparseable", None),
    ("I cannot rate this.", "refused", "refused", None),
    ('{"grade": 2', "length", "truncated", None),
    ('{"grade": 2}', "length", "truncated", None),
    ("", "filtered", "blocked", None),
]


@pytest.mark.parametrize(("text", "stop", "outcome", "grade"), CASES)
def test_each_answer_ends_in_its_outcome(text: str, stop: Stop, outcome: str, grade: int | None) -> None:
    result = read_grade(Reply(text, stop), SCALE)
    assert (result.name, result.grade, result.raw) == (outcome, grade, text)


@pytest.mark.parametrize(
    "text", ['{"grade": %s}', '{"grade": -%s, "reason": "x"}', "Grade: %s", "A reason.\ngrade: %s.0"]
)
def test_a_number_that_no_float_holds_is_off_the_scale(text: str) -> None:
    # A document can talk a model into writing it: the run must go on.
    assert read_grade(Reply(text.replace("%s", "9" * 400)), SCALE).name == "out_of_scale"


# What a document can have a model write: the square of its length in steps would take hours, and stop all threads.
HOSTILE = """
from assay.llm.model_reply import Reply, json_object, read_grade, read_yes_or_no
n = 1_000_000
texts = ["`" * n, "{" * n, "a" + " " * n + "b", "grade 1" + "-" * n + "x", "_" * n + "x", "grade" + "_" * n + "x",
         "final" + chr(9) * n + "x", "grade " + "1" * n + "x", "grade 1." + "1" * n + "x", '{"grade":' + " " * n]
for text in texts:
    assert read_grade(Reply(text), (0, 1)).name == "unparseable", text[:20]
    assert read_yes_or_no(Reply(text)).name == "unparseable", text[:20]
    assert json_object(text) == {}
"""


def test_a_million_signs_are_read_in_about_as_many_steps() -> None:
    def limit() -> None:
        # So that the square fails instead of lasting for hours; what is linear takes a hundredth of it.
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))

    subprocess.run([sys.executable, "-c", HOSTILE], preexec_fn=limit, check=True)


@pytest.mark.parametrize("text", ["```json\n{}\n```", "```{}```", "``` {} ", "{}\n```", " {} "])
def test_fences_are_taken_off(text: str) -> None:
    assert read_grade(Reply(text.replace("{}", '{"grade": 1}')), SCALE).grade == 1


def test_no_answer_keeps_its_fault() -> None:
    outcome = read_grade(Reply(fault="503 from the provider, 5 attempts", tokens_in=4), SCALE)
    assert (outcome.name, outcome.raw, outcome.tokens_in) == ("transport_error", "503 from the provider, 5 attempts", 4)


def test_reason_relevance_and_probabilities_come_along() -> None:
    reply = Reply(
        json.dumps({"reason": "names the size", "grade": 2}), token_probabilities={"2": 0.6, " 3": 0.2, "the": 0.1}
    )
    outcome = read_grade(reply, SCALE, relevant_from=2)
    assert (outcome.rationale, outcome.relevant) == ("names the size", True)
    assert outcome.probabilities == pytest.approx({"0": 0, "1": 0, "2": 0.75, "3": 0.25})
    assert read_grade(Reply('{"grade": 1}'), SCALE, relevant_from=2).relevant is False


@given(st.text(max_size=300))
def test_only_a_grade_that_was_written_comes_out(text: str) -> None:
    outcome = read_grade(Reply(text), SCALE)
    assert (outcome.grade is None) == (outcome.name != "graded")
    assert outcome.grade is None or str(outcome.grade) in text


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("YES", 1),
        ("**YES**", 1),
        ("yes, it names the answer", 1),
        ("No.", 0),
        ("NO: other product", 0),
        ("Answer: YES", None),
        ("Note: yes", None),
        ("The text is not relevant", None),
        ("It does not match", None),
        ("Nobody knows", None),
        ("", None),
    ],
)
def test_yes_and_no_come_first(text: str, grade: int | None) -> None:
    outcome = read_yes_or_no(Reply(text))
    assert outcome.grade == grade
    assert outcome.name == ("unparseable" if grade is None else "graded")
