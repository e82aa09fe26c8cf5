"""Outcomes of a machine judge: a grade or a type of failure."""

from __future__ import annotations

from typing import Literal, get_args

OutcomeName = Literal["graded", "unparseable", "out_of_scale", "refused", "truncated", "blocked", "transport_error"]
OUTCOMES: tuple[OutcomeName, ...] = get_args(OutcomeName)
