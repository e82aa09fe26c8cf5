"""Fuzzing of every reader for up to two minutes, with the same files each time."""

from __future__ import annotations

import sys

import pytest

from tests.assay.formats import fuzz

pytestmark = pytest.mark.slow


def test_no_damaged_file_leads_to_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["fuzz", "--seconds", "120", "--rounds", "8", "--seed", "1"])
    assert fuzz.main() == 0
