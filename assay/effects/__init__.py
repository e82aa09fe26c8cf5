"""Scores of runs under alternative labels. A run is matched once and scored under many sets of labels."""
