"""A round for one rater in the server's database: short texts, and long ones among them. Prints the station's address.

python long_round.py COUNT document|answer
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

WORDS = ["rain", "jacket", "tent", "boot", "stove", "lamp", "rope", "map", "sock", "wool", "light", "trail", "river"]
PER_QUERY = 20
# Of twelve documents two are an article and one is as long as a text may be shown.
SHORT, ARTICLE, LONGEST = 60, 4_000, 34_000


def main() -> None:
    """Make collection, rater and round."""
    import django

    django.setup()
    from assay.core.content_hash import content_hash
    from judgments.guidelines import guidelines
    from judgments.members import collections
    from judgments.models import Document, Membership, Query, User
    from judgments.rounds import rounds

    count = int(sys.argv[1])
    rng = random.Random(5)
    lead, rater = (User.objects.create_user(name, password="a long password") for name in ("lead", "rater"))
    collection = collections.create_collection(actor=lead, slug="long", name="Long texts")
    Membership.objects.create(collection=collection, user=rater, role="rater")
    if sys.argv[2:] == ["answer"]:
        return answers(collection, lead, rater, count, rng)
    chosen = []
    for number in range(count):
        if number % PER_QUERY == 0:
            text = " ".join(rng.sample(WORDS, 3))
            query = Query.objects.create(
                collection=collection, query_id=f"q{number}", text=text, narrative=f"Somebody looks for {text}."
            )
        title, body = f"Document {number}", written(rng, number)
        document = Document.objects.create(
            collection=collection,
            doc_id=f"d{number}",
            title=title,
            text=body,
            fields={"brand": "Fell", "price": number},
            content_sha256=content_hash(title, body, "", "", {}),
        )
        chosen.append(rounds.Candidate(query, document, {}))
    version = guidelines.add_version(collection, markdown="Grade what helps.", actor=lead)
    made = rounds.create_round(
        collection,
        name="Round",
        candidates=chosen,
        provenance={},
        guidelines=version,
        actor=lead,
        raters=[rater],
        ratings_per_pair=1,
    )
    print(f"/rounds/{rounds.open_round(made, actor=lead).uuid}/rate/")
    return None


def answers(collection: Any, lead: Any, rater: Any, count: int, rng: random.Random) -> None:
    """Make a round of answers with five passages each, of which one is long."""
    from judgments.rounds import rounds
    from judgments.rounds.answer_rounds import GivenAnswer, Passage, create_answer_rounds

    given = []
    for number in range(count):
        evidence = tuple(
            Passage(f"d{number}-{place}", written(rng, 5 if place == 4 else 0), f"Passage {place}")
            for place in range(5)
        )
        response = " ".join(f"{one.text.split('.')[0]} [{place}]." for place, one in enumerate(evidence[:3], 1))
        text = f"What about shell {number // PER_QUERY}?"
        given.append(GivenAnswer(f"q{number // PER_QUERY}", text, f"{response} Number {number}.", evidence))
    (made,) = create_answer_rounds(
        collection,
        name="Answers",
        answers=given,
        dimensions=["faithful"],
        raters=[rater],
        actor=lead,
        ratings_per_pair=1,
    )
    print(f"/rounds/{rounds.open_round(made, actor=lead).uuid}/rate/")


def written(rng: random.Random, number: int) -> str:
    """A text of sentences; every other long one has markup."""
    words = {5: ARTICLE, 8: ARTICLE, 11: LONGEST}.get(number % 12, SHORT)
    sentences = [" ".join(rng.choices(WORDS, k=9)).capitalize() + "." for _ in range(words // 9)]
    parts = [" ".join(sentences[start : start + 5]) for start in range(0, len(sentences), 5)]
    return "".join(f"<p>{part}</p>" for part in parts) if number % 2 else "\n\n".join(parts)


if __name__ == "__main__":
    main()
