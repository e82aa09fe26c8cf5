"""The ledger of critics: what a provider's model answered about a sample set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.rag.prompt_calls import Prompt, PromptReader
from assay.rag.provider_critic import ProviderCritic
from evaluation.models import RagCriticCall, RagCriticRun, RagSampleSet
from judgments.answers_kept import reply_of
from judgments.battles_kept import KEYS, keys_of
from judgments.judges.answers import Reply
from judgments.judges.asking import Asking, Plan, Verdict
from judgments.judges.contract import Context, Outcome
from judgments.providers import PROTOCOLS
from judgments.providers.calls import Ended
from judgments.providers.protocol import Endpoint


def critic_of(sample_set: RagSampleSet) -> RagCriticRun | None:
    """The critic of a set's scorecards: its newest run."""
    return sample_set.critics.select_related("provider", "job", "created_by").first()


class LedgerCalls:
    """The answers that the ledger of a collection holds, for a critic; it asks nothing.

    Attributes
    ----------
    plan : Plan
        What is known, and what asking the rest would cost.
    ended : Ended or None
        Why the last questions ended.
    """

    def __init__(self, sample_set: RagSampleSet, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.plan = Plan.together([])
        self.ended: Ended | None = None
        self._collection = sample_set.collection_id

    def ask(self, prompts: Sequence[Prompt], reader: PromptReader) -> list[Outcome | None]:
        """Return the outcome of each prompt; None for one without an answer."""
        contexts = [Context(one.text, one.about, narrative=one.system) for one in prompts]
        questions = Asking(reader, self.endpoint, contexts, self._known(reader, contexts))
        self.plan = Plan.together([self.plan, questions.plan])
        found: list[Outcome | None] = [None] * len(contexts)

        def add(verdict: Verdict) -> None:
            found[verdict.place] = verdict.outcome

        self.ended = self._run(questions, add)
        return found

    def _run(self, questions: Asking, add: Any) -> Ended:
        return questions.run(add, by=lambda *args, **options: Ended("stopped", "not asked", 0, 0))

    def _known(self, reader: PromptReader, contexts: Sequence[Context]) -> dict[str, Reply]:
        keys = list(dict.fromkeys(key for one in contexts for key in keys_of(reader, self.endpoint, one)))
        rows = RagCriticCall.objects.filter(run__sample_set__collection=self._collection)
        rows = rows.exclude(outcome="transport_error")
        found: dict[str, Reply] = {}
        for begin in range(0, len(keys), KEYS):
            found |= {row.key: reply_of(row) for row in rows.filter(key__among=keys[begin : begin + KEYS])}
        return found


def critic_in_ledger(run: RagCriticRun) -> ProviderCritic:
    """A critic that gives the stored answers of a run, and asks nothing."""
    told = run.parameters["asked_as"]
    endpoint = Endpoint(
        PROTOCOLS[run.parameters["protocol"]],
        run.model,
        run.parameters["base_url"],
        "",
        None,
        None,
        frozenset(told.get("leave_out", ())),
        told.get("thinks"),
        told.get("most_tokens"),
    )
    return ProviderCritic(LedgerCalls(run.sample_set, endpoint))


def provenance(run: RagCriticRun, label: str) -> dict[str, Any]:
    """What a scorecard says of the critic behind a metric."""
    rows = RagCriticCall.objects.filter(run__sample_set=run.sample_set, model_asked=run.model).order_by()
    answered = rows.exclude(model_answered="").values_list("model_answered", flat=True).distinct()
    return {
        "model": run.model,
        "models_answered": sorted(answered),
        "prompt": run.parameters["prompts"][label],
    }
