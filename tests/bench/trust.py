"""What the question of trust costs at an opening: 50 workflows, 120 chapters; milliseconds, no network."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

from flowcabal_tui.demo import templates
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.project import create_project
from flowcabal_tui.project.trust.service import Trust
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings, load_project
from flowcabal_tui.settings.trust import TrustRecord
from flowcabal_tui.store import Store
from tests.bench.projects import own_folders
from tests.bench.report import Figure, checked
from tests.trusting import confirmed

WORKFLOWS, CHAPTERS, ROUNDS = 50, 120, 15
MOST: Final = 20.0
"""Milliseconds."""


def measure() -> list[Figure]:
    """A line for a confirmed project, for one that was changed outside, and for one that was never confirmed."""
    with own_folders() as folder:
        return asyncio.run(_figures(folder / "book"))


async def _figures(folder: Path) -> list[Figure]:
    await create_project(folder, name="Book", language="en", models=ModelsSettings(user=OFFLINE, agent=OFFLINE))
    settings = load_project(folder)
    store = await Store.open(folder, clock=lambda: datetime.now(UTC), language="en")
    try:
        model = next(each for each in templates("en") if each.id == "chapter")
        for number in range(WORKFLOWS - len(templates("en"))):
            await store.workflows.save(model.model_copy(update={"id": f"flow-{number}", "join": str(number)}))
        chapters = [ImportedChapter(f"Chapter {n}", f"Text {n}. " * 400) for n in range(CHAPTERS)]
        await store.book.import_chapters(chapters, lambda *_of: ())
        await asyncio.to_thread(confirmed, folder)
        trust = lambda: Trust(folder, lambda: settings, store, lambda _event: None)  # noqa: E731  # one of three
        await trust().begin()  # notes which documents are confirmed as they are
        found = [checked("confirmed", await _milliseconds(trust), MOST, "ms")]

        async def change(number: int) -> None:
            changed: Workflow = model.model_copy(update={"id": f"flow-{number}", "join": f"other {number}"})
            await store.workflows.save(changed)

        found.append(checked("one workflow changed outside", await _milliseconds(trust, change), MOST, "ms"))
        TrustRecord.of(folder, settings.project.id).forget()
        found.append(checked("never confirmed", await _milliseconds(trust), MOST, "ms"))
        return found
    finally:
        await store.close()


async def _milliseconds(trust: Callable[[], Trust], before: Callable[[int], Awaitable[None]] | None = None) -> float:
    """The median of some openings."""
    taken = []
    for number in range(ROUNDS):
        if before is not None:
            await before(number)
        opened, begun = trust(), time.perf_counter()
        await opened.begin()
        taken.append(1000 * (time.perf_counter() - begun))
    return median(taken)
