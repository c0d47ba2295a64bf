"""Caltech7, complete, with values removed by our protocol."""

from __future__ import annotations

from leaderboard.case import own_protocol

CASES = own_protocol("Caltech7")
