"""Screens under a pilot: it waits for the loop to be idle, and rows of lists chain nothing."""

from __future__ import annotations

from tests.project.case import demos
from tests.tui.frames import last_frames_are_drawn
from tests.tui.list_rows import rows_chain_nothing
from tests.tui.waiting import pilots_wait_for_the_loop

__all__ = ["demos", "last_frames_are_drawn", "pilots_wait_for_the_loop", "rows_chain_nothing"]
