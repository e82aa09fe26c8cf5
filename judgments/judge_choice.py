"""Configuration that a lead chose for a machine judge, checked against the round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judgments import expected_answers
from judgments.core.errors import NotValid
from judgments.judge_kinds import GRADED, Kind
from judgments.judges.contract import Outcome
from judgments.models import Judge, Provider, Round, Snapshot
from judgments.prompts_kept import Named, of_kind

WARMEST = 2.0


@dataclass(frozen=True)
class Choice:
    """What a lead chose for a judge.

    Parameters
    ----------
    provider : Provider, optional
        Who is asked, by kinds that ask a model.
    model : str
        Which of its models.
    prompt : Named, optional
        In whose words; of kinds other than ``graded`` those that come with Assay where None.
    examples : int
        How many pairs that people graded it is shown.
    snapshot : Snapshot, optional
        Whose labels those are.
    seed : int
        Of the examples, and for providers that take one.
    probabilities : bool
        Whether the probabilities of the grades are asked for.
    kind : str
        A member of `judge_kinds.kinds`.
    expected : mapping of str to list of str
        Accepted answers by ``query_id``, for kinds that compare with them.
    yes : int, optional
        The grade that a yes stands for; the lowest relevant one of the scale where None.
    text_metric : str
        What scores the answers of a system against the accepted ones.
    temperature : float
        0 for the most probable answer.
    parameters : mapping
        What kinds take that ask no model.
    judges : sequence of Judge
        Whom an ensemble puts together.
    """

    provider: Provider | None = None
    model: str = ""
    prompt: Named | None = None
    examples: int = 0
    snapshot: Snapshot | None = None
    seed: int = 1
    probabilities: bool = False
    kind: str = GRADED
    expected: Mapping[str, Sequence[str]] = field(default_factory=dict)
    yes: int | None = None
    text_metric: str = ""
    temperature: float = 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    judges: Sequence[Judge] = ()

    def asked(self) -> tuple[Provider, str]:
        """Who is asked.

        Raises
        ------
        NotValid
            Nobody was chosen, or the provider does not have the model.
        """
        if self.provider is None:
            raise NotValid("This judge asks a model: choose one.", {"provider": "Choose one.", "model": "Choose one."})
        if self.provider.offered(self.model) is None:
            said = f"{self.provider} has no model {self.model!r}. Its list stands on its page."
            raise NotValid(said, {"model": said})
        if not 0 <= self.temperature <= WARMEST:
            raise NotValid("The temperature is out of bounds.", {"temperature": f"From 0 to {WARMEST:g}."})
        return self.provider, self.model


def check_used(choice: Choice, kind: Kind) -> None:
    """Refuse what the kind makes no use of: whoever sent it believes that it does something.

    Raises
    ------
    NotValid
        By field.
    """
    idle = {
        "expected": choice.expected and not kind.needs_expected,
        "yes": choice.yes is not None and kind.says != "yes",
        "text_metric": choice.text_metric and kind.says != "usefulness",
        "parameters": choice.parameters and kind.asks == "model",
        "judges": choice.judges and kind.asks != "judges",
        "examples": choice.examples and kind.name != GRADED,
        "probabilities": choice.probabilities and kind.name != GRADED,
        "provider": choice.provider is not None and kind.asks != "model",
        "prompt": choice.prompt is not None and choice.prompt.asks != of_kind(kind.name),
    }
    if wrong := {name: f"The judge {kind.name} takes none." for name, given in idle.items() if given}:
        raise NotValid(f"The judge {kind.name} takes no {', '.join(wrong)}. Leave that out.", wrong)


def fitting(round_: Round, kind: Kind, choice: Choice) -> dict[str, Any]:
    """What a judge has to be told that the round itself does not say: accepted answers, and what a yes stands for.

    Raises
    ------
    NotValid
        No query of the round has an accepted answer, or the grade for a yes is not on the scale.
    """
    told: dict[str, Any] = {}
    if kind.needs_expected:
        told["expected"] = expected_answers.checked(choice.expected)
        here = round_.pairs.filter(query__query_id__in=list(told["expected"]))
        if not here.exists():
            said = "No query of this round has an expected answer. Give them by query_id."
            raise NotValid(said, {"expected": said})
    if kind.says == "yes":
        values = round_.scale.values()
        relevant = next((value for value in values if value >= round_.scale.relevant_from), values[-1])
        yes = relevant if choice.yes is None else choice.yes
        if yes not in values[1:]:
            said = f"Choose a grade of the scale above its lowest: {', '.join(str(value) for value in values[1:])}."
            raise NotValid(said, {"yes": said})
        told |= {"yes": yes, "no": values[0]}
    return told


def beside(told: Mapping[str, Any]) -> dict[str, Any]:
    """The same as a judge's parameters name it: accepted answers by their hash."""
    named = {name: told[name] for name in ("yes", "no") if name in told}
    return named | ({"expected_sha256": expected_answers.sha256(told["expected"])} if "expected" in told else {})


def on_scale(outcome: Outcome, told: Mapping[str, Any], values: Sequence[int]) -> Outcome:
    """The outcome on the round's scale: a yes or no as the grade for which it stands, a grade off the scale as none."""
    if outcome.grade is not None and outcome.relevant is not None and "yes" in told:
        outcome = replace(outcome, grade=told["yes"] if outcome.relevant else told["no"])
    return outcome.on_scale(values)
