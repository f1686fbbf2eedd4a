"""A workshop without a helper process: most tests that open a project are about something else."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable

from flowcabal_tui.agents.checking.rules import kept
from flowcabal_tui.project import helper
from flowcabal_tui.project.helper import WorkLimits
from flowcabal_tui.project.workshop import USUAL, Arguments, T, Workshop


class ThreadWorkshop(Workshop):
    """Does the work in a thread. What goes in and out is pickled, as for a process; limits do not apply."""

    async def do(self, work: Callable[[*Arguments], T], *arguments: *Arguments, limits: WorkLimits = USUAL) -> T:
        async with self._turn:
            its, given = pickle.loads(pickle.dumps((work, arguments)))
            try:
                result: T = pickle.loads(pickle.dumps(await asyncio.to_thread(its, *given)))
            except Exception as error:  # as at the edge of the process
                raise pickle.loads(helper._pickled(error)) from None
            return result

    async def close(self) -> None:
        """Forgets what the rules have read, as the end of a process does."""
        async with self._turn:
            kept._read.clear()
