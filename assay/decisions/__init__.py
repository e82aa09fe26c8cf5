"""Release decisions: rules, and the verdict on a candidate run."""
