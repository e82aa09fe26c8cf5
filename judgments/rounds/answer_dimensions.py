"""Dimensions on which people grade answers, with default scale and guidelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgments.models import Round
from judgments.rounds.settings import Row


@dataclass(frozen=True)
class Level:
    """One grade of a dimension's default scale: its cue on the button, and when to give it."""

    value: int
    label: str
    cue: str
    when: str = ""  # the cue, unless there is more to say


@dataclass(frozen=True)
class Dimension:
    """A property of an answer that people grade."""

    name: str
    question: str
    levels: tuple[Level, ...]
    task: str
    edge_cases: str

    @property
    def grades(self) -> Sequence[Row]:
        """The default scale in the form that rounds accept."""
        return [(one.value, one.label, one.cue) for one in self.levels]

    @property
    def guidelines(self) -> str:
        """The default guidelines, as Markdown."""
        table = "\n".join(f"| {one.value} | {one.label} | {one.when or one.cue} |" for one in reversed(self.levels))
        return (
            f"# How to grade: is the answer {self.name}?\n\n{self.task}\n## The grades\n\n"
            f"| Grade | Name | Give it when |\n|---|---|---|\n{table}\n\n## Edge cases\n\n{self.edge_cases}\n{_END}"
        )


_DOES_NOT_KNOW = (
    "**The answer says that it does not know:** 0 if the reference has an answer. 2 if the question has none."
)

_END = """\
## Every answer by itself

Grade each answer by itself, even when you have just seen a similar one. Length, style and politeness do not count, \
unless they hide what the answer says.

## When you cannot judge

Choose **Cannot judge** and give the reason when the answer is in a language that you do not read, or when the \
question cannot be understood. Do not guess. Choose **Later** to come back to an answer.
"""

FAITHFUL = Dimension(
    Round.Dimension.FAITHFUL.value,
    "Does the evidence support the answer?",
    (
        Level(
            0,
            "Not supported",
            "The evidence does not say this.",
            "The main claim is not in the evidence, or the evidence contradicts a claim.",
        ),
        Level(
            1,
            "Partly supported",
            "The main claim is in the evidence; a minor claim is not.",
            "The evidence supports the main claim. A minor claim is not in the evidence.",
        ),
        Level(
            2,
            "Fully supported",
            "The evidence supports every claim.",
            "The evidence supports every claim. Claims may be reworded or follow directly from it.",
        ),
    ),
    """\
Grade whether **the evidence supports the answer**. The evidence is the list of passages below the answer. Use nothing \
else: not what you know, and not what you could look up. An answer that is right but not in the evidence is not \
faithful. An answer that repeats an error of the evidence is faithful.

## Steps

1. Split the answer into its claims.
2. Find each claim in the evidence. The marks show sentences that share words with the answer. They are a hint: a \
marked sentence may say something else, and an unmarked one may support the claim.
3. Grade by the claim that is supported least.
""",
    """\
- **The answer says that it does not know:** 2. It claims nothing that needs evidence.
- **A citation points to the wrong passage:** grade 2 if another passage supports the claim, and write a note.
- **The answer has no evidence:** 0 if it makes a claim.
- **Numbers, names and dates** must match the evidence. "About 50" for 48 is supported.
""",
)

CORRECT = Dimension(
    Round.Dimension.CORRECT.value,
    "Is the answer correct?",
    (
        Level(0, "Wrong", "The answer to the question is wrong or missing."),
        Level(
            1,
            "Partly correct",
            "The answer is right, but something in it is wrong.",
            "The answer to the question is right, and something else in it is wrong or misleading.",
        ),
        Level(
            2,
            "Correct",
            "The answer is right, and nothing in it is wrong.",
            "The answer to the question is right, and nothing in it is wrong.",
        ),
    ),
    """\
Grade whether **what the answer says is true** as a reply to the question. Compare it with the reference answer, if \
there is one. The answer may use other words, and it may say more than the reference. If there is no reference, use \
the evidence and what you know.
""",
    f"""\
- **The answer leaves something out:** still 2 if all it says is right. A separate round grades what is missing.
- {_DOES_NOT_KNOW}
- **The reference looks wrong:** grade by what is true, and write a note.
""",
)

COMPLETE = Dimension(
    Round.Dimension.COMPLETE.value,
    "Does the answer cover the whole question?",
    (
        Level(0, "Incomplete", "The main point is missing."),
        Level(
            1,
            "Partly complete",
            "The main point is covered; another part is missing.",
            "The main point is covered. Another part that the question asks for is missing.",
        ),
        Level(
            2,
            "Complete",
            "No part of the answer is missing.",
            "The answer covers everything that the question asks for.",
        ),
    ),
    """\
Grade whether the answer **covers everything that the question asks for**. The reference answer, if there is one, \
shows what belongs to it. Details beyond the question do not count.
""",
    f"""\
- **A part of the answer is wrong:** it still covers that part. A separate round grades what is wrong.
- {_DOES_NOT_KNOW}
- **The question has several parts:** the main point is what the person needs first.
""",
)

DIMENSIONS: Mapping[str, Dimension] = {one.name: one for one in (FAITHFUL, CORRECT, COMPLETE)}
