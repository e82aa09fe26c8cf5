"""Files for the fine-tuning of retrieval models: triplets with hard negatives, and graded pairs."""
