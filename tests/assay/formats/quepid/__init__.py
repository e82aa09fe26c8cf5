"""Tests of the files of Quepid."""
