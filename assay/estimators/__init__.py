"""Estimators for missing judgments and their effect on systems."""
