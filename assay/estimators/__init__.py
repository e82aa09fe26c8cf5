"""Estimators for missing judgments: what was missed, and which systems that would hurt."""
