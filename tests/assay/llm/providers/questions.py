"""Shared setup of provider tests: questions and their outcomes from a local server."""

from __future__ import annotations

from assay.llm.model_reply import Reply
from assay.llm.providers import PROTOCOLS, Question
from assay.llm.providers.limits import Budget, Limits
from assay.llm.providers.protocol import Endpoint
from assay.llm.providers.question_run import Ended, ask
from tests.model_server import ModelServer

SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "grade": {"type": "integer", "enum": [0, 1, 2, 3]}},
    "required": ["reason", "grade"],
    "additionalProperties": False,
}
QUICK = Limits(concurrency=4, attempts=3, timeout=5, longest_wait=0.05)


def questions(number: int) -> list[Question]:
    return [Question(f"k{place}", "You judge.", f"Document {place}", SCHEMA) for place in range(number)]


def ask_server(
    server: ModelServer,
    number: int = 10,
    *,
    protocol: str = "openai",
    limits: Limits = QUICK,
    budget: Budget | None = None,
    key: str = "",
) -> tuple[Ended, dict[str, Reply]]:
    endpoint = Endpoint(PROTOCOLS[protocol], "a-model", server.url, key, price_in=1.0, price_out=4.0)
    replies: dict[str, Reply] = {}
    ended = ask(
        endpoint,
        questions(number),
        lambda question, reply: replies.update({question.key: reply}),
        limits=limits,
        budget=budget,
    )
    return ended, replies
