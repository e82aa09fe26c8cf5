"""The stored answers of critics about a sample set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from assay.llm.judge import Context, Outcome
from assay.llm.judges.bulk_judging import Asking, Plan, Verdict
from assay.llm.model_reply import Reply
from assay.llm.providers import PROTOCOLS
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import Ended
from assay.rag.prompt_calls import Prompt, PromptReader
from assay.rag.provider_critic import ProviderCritic
from evaluation.models import RagCriticCall, RagCriticRun, RagSampleSet
from judgments.machines.judge_runs.call_log import keys_of, known_replies


def critic_of(sample_set: RagSampleSet) -> RagCriticRun | None:
    """Return the critic of a set's scorecards: its newest run."""
    return sample_set.critics.select_related("provider", "job", "created_by").first()


class LedgerCalls:
    """A critic that answers only from the stored calls of a collection and makes no calls."""

    def __init__(self, sample_set: RagSampleSet, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.plan = Plan.together([])
        self.ended: Ended | None = None
        self._collection = sample_set.collection_id

    def ask(self, prompts: Sequence[Prompt], reader: PromptReader) -> list[Outcome | None]:
        """Return the outcome of each prompt; None if it has no answer."""
        contexts = [Context(one.text, one.about, narrative=one.system) for one in prompts]
        questions = Asking(reader, self.endpoint, contexts, self._known(reader, contexts))
        self.plan = Plan.together([self.plan, questions.plan])
        outcomes: list[Outcome | None] = [None] * len(contexts)

        def add(verdict: Verdict) -> None:
            outcomes[verdict.place] = verdict.outcome

        self.ended = self._run(questions, add)
        return outcomes

    def _run(self, questions: Asking, add: Any) -> Ended:
        return questions.run(add, by=lambda *args, **options: Ended("stopped", "not asked", 0, 0))

    def _known(self, reader: PromptReader, contexts: Sequence[Context]) -> dict[str, Reply]:
        keys = list(dict.fromkeys(key for one in contexts for key in keys_of(reader, self.endpoint, one)))
        rows = RagCriticCall.objects.filter(run__sample_set__collection=self._collection)
        return known_replies(rows, keys)


def ledger_rows(sample_set: RagSampleSet) -> Iterator[dict[str, Any]]:
    """Yield every call of the set's critics, oldest first, under the names of the ledger of ``assay rag``."""
    rows = RagCriticCall.objects.filter(run__sample_set=sample_set).select_related("run")
    for row in rows.order_by("pk").iterator(2_000):
        yield {
            "key": row.key,
            "prompt_sha256": row.prompt_sha256,
            "critic": str(row.run.uuid),
            "base_url": row.run.parameters["base_url"],
            "model": row.requested_model,
            "answered_by": row.model_answered,
            **row.parameters,
            "tokens_in": row.tokens_in,
            "tokens_out": row.tokens_out,
            "cost_usd": row.cost_usd,
            "cost_estimated": row.cost_estimated,
            "left_out": row.left_out,
            "seconds": row.seconds,
            "outcome": row.outcome,
            "raw": row.raw,
            "at": row.at.isoformat(),
        }


def critic_in_ledger(run: RagCriticRun) -> ProviderCritic:
    """Return a critic that gives the stored answers of a run and makes no calls."""
    settings = run.parameters["asked_as"]
    endpoint = Endpoint(
        PROTOCOLS[run.parameters["protocol"]],
        run.model,
        run.parameters["base_url"],
        "",
        None,
        None,
        frozenset(settings.get("leave_out", ())),
        settings.get("thinks"),
        settings.get("most_tokens"),
    )
    return ProviderCritic(LedgerCalls(run.sample_set, endpoint))


def provenance(run: RagCriticRun, label: str) -> dict[str, Any]:
    """Return the description of the critic behind a metric for a scorecard."""
    rows = RagCriticCall.objects.filter(run__sample_set=run.sample_set, requested_model=run.model).order_by()
    answered = rows.exclude(model_answered="").values_list("model_answered", flat=True).distinct()
    return {
        "model": run.model,
        "models_answered": sorted(answered),
        "prompt": run.parameters["prompts"][label],
    }
