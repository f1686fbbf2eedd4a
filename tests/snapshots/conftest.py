"""Pictures are taken when the loop is idle."""

from __future__ import annotations

from tests.tui.waiting import pilots_wait_for_the_loop

__all__ = ["pilots_wait_for_the_loop"]
