"""Rating guidelines of the demo's shop, with examples from its products."""

GUIDELINES = """\
# How to grade products for Larch & Ridge

## Intent

A customer typed a query into the shop's search. The sentence below the query describes what they need. Grade how well \
**this product alone** meets that need, as if it were the only result. Ignore price and stock.

## Grades

| Grade | Name | Give it when | Example |
|---|---|---|---|
| 3 | Perfect | It is the right kind of product, and every attribute matches the need. | \
"ultralight tent": a one-person tent of 900 g |
| 2 | Good | It is the right kind of product; one attribute does not match or is missing. | \
"ultralight tent": a two-person tent of 1.9 kg |
| 1 | Fair | It is a similar product, or a part of the right one. | \
"ultralight tent": a tarp, or a groundsheet for a tent |
| 0 | Poor | It does not help. | "ultralight tent": a gas stove whose text mentions a tent |

## Edge cases

- **A word matches but the product does not:** 0. A storage bag is no result for "sleeping bag".
- **An accessory of the product:** 1, or 0 if the need clearly means the product itself.
- **Men's instead of women's, or the reverse:** 1 if the need names one.
- **Another brand than the one in the query:** at most 1.
- **A misspelled query:** grade the intended query.

## Duplicates

Give the same product in two sizes or colors the same grade.

## Freshness

Grade the current text. Do not grade a product lower because it is last year's model.

## When you cannot judge

If the text says too little, choose **Cannot judge** and select a reason. Do not guess, because a guess looks like a \
judgment. To come back to a product, choose **Later**.
"""
