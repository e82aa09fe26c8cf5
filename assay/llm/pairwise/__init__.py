"""Pairwise preferences between documents, and the scores computed from them.

Two documents and a preference are a battle. `pair_selection` chooses the battles, `bradley_terry` turns them into
scores.
"""
