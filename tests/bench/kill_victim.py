"""The process that is killed: opens a book, does one operation, follows it to its end, and waits.

`python -m tests.bench.kill_victim BOOK OPERATION [POINT]`. Prints `ready`, waits for a line, prints `acting`, `done N`
and `settled N`. With POINT it kills itself at that point: N counts points from `acting` on, one before and one after
each commit and each file that is replaced or removed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from flowcabal_tui.project import Project
from flowcabal_tui.store.file.connection import Writer
from tests.bench.kill_operations import OPERATIONS, TWO_STEPS
from tests.bench.paid_ledger import keep_ledger


class Points:
    """Counts the moments at which something reaches the disk; the one that is wished is the last."""

    def __init__(self, last: int) -> None:
        self._last, self.count, self.counting = last, 0, False

    def pass_one(self) -> None:
        """The process ends here, or it goes on."""
        self.count += self.counting
        if self.counting and self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same work with a point before and one after it."""

        def pointed(*arguments: Any, **named: Any) -> Any:
            self.pass_one()
            value = work(*arguments, **named)
            self.pass_one()
            return value

        return pointed


async def main(arguments: Sequence[str]) -> None:
    """Goes to the end unless it is killed."""
    folder, name, last = Path(arguments[0]), arguments[1], int(arguments[2]) if len(arguments) > 2 else 0
    (operation,) = (one for one in (*OPERATIONS, TWO_STEPS) if one.name == name)
    points = Points(last)
    pointed = ((Writer, "_commit"), (Writer, "_each_alone"), (os, "replace"), (os, "rename"), (os, "unlink"))
    for owner, method in pointed:
        setattr(owner, method, points.around(getattr(owner, method)))
    keep_ledger(folder.parent)
    project = await Project.open(folder, knowledge=False, pace=0.0, trust=True)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    print("acting", flush=True)
    points.counting = True
    await operation.act(project)
    print(f"done {points.count}", flush=True)
    await project.memory.settled()
    print(f"settled {points.count}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
