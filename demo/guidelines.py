"""Rating guidelines of the demo's shop, with examples from its products."""

from __future__ import annotations

GUIDELINES = """\
# How to grade products for Larch & Ridge

## Intent

Somebody typed a query into the shop's search. The sentence under the query says what they need. Grade how well **this \
product alone** serves that need, as if it were the only answer. Price and stock play no part.

## The grades

| Grade | Name | Give it when | Example |
|---|---|---|---|
| 3 | Perfect | It is the kind of thing asked for, and every attribute of the need fits. | \
"ultralight tent": a one-person tent of 900 g |
| 2 | Good | It is the kind of thing asked for; one attribute is off, or the product does not say. | \
"ultralight tent": a two-person tent of 1.9 kg |
| 1 | Fair | It is a neighbor on the shelf, or a part of the thing. | \
"ultralight tent": a tarp, or a groundsheet for a tent |
| 0 | Poor | It does not help. | "ultralight tent": a gas stove whose text mentions a tent |

## Edge cases

- **A word matches and the thing does not:** 0. "sleeping bag" is not served by a bag for stuff.
- **An accessory of the thing:** 1, and 0 where the need clearly means the thing itself.
- **Men's instead of women's, or the other way round:** 1 when the need names one.
- **A brand was asked for, another one is shown:** at most 1.
- **A misspelled query:** grade what was meant.

## Duplicates

The same product in two sizes or colors is graded twice, with the same grade.

## Freshness

Grade what the page says today. A model of last year is as good as its text.

## When you cannot judge

Choose **Cannot judge** and say why, when the page says too little to tell. Do not guess: a guess looks like a \
judgment. Choose **Later** when you want to come back to it.
"""
