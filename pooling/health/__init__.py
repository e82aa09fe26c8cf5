"""Run health: depth, ties, agreement of ranks and scores, and similarity to other runs."""
