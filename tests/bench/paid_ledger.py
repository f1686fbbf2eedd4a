"""A list, outside of the project, of what models were asked and which of their answers were kept."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.model_calls import Answer

_PAY = PaidOnce._pay
_NAME = "paid.txt"


def keep_ledger(folder: Path) -> None:
    """From now on calls of this process are listed in a file of `folder`, written through to the disk."""

    async def pay(self: PaidOnce, key: Digest, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        async def asked() -> Answer:
            _note(folder, f"asked {key}")
            return await ask()

        answer = await _PAY(self, key, asked)
        if answer.whole:
            _note(folder, f"kept {key}")
        return answer

    PaidOnce._pay = pay  # type: ignore[method-assign]  # the one place that every paid call of an agent passes


def paid_twice(folder: Path) -> int:
    """How often an answer was asked for again after it had been kept."""
    again, kept = 0, set[str]()
    file = folder / _NAME
    for line in file.read_text("utf-8").splitlines() if file.exists() else ():
        word, _space, key = line.partition(" ")
        again += word == "asked" and key in kept
        kept |= {key} if word == "kept" else set()
    return again


def _note(folder: Path, line: str) -> None:
    with (folder / _NAME).open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())
