"""Whole data sets: documents, queries and qrels of several splits, in a folder or from ir_datasets."""
