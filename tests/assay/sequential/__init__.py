"""Tests of sequential decisions."""
