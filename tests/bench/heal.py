"""The knowledge server killed, its folder deleted, the embedding endpoint down for a minute: what is missing after."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.protocol.book import ImportManuscript
from flowcabal_tui.protocol.memory import KnowledgeStatus
from flowcabal_tui.settings.project_file import OFFLINE, KnowledgeSettings, ModelsSettings
from flowcabal_tui.viking.server import free_port
from tests.bench.projects import new_project, novel, openviking, own_folders
from tests.bench.report import Figure, none_of
from tests.faultserver import FaultServer
from tests.project.case import Case, opened
from tests.project.served import counts, knowledge, whole
from tests.viking.fakes import Contents, server_process

CHAPTERS: Final = int(os.environ.get("FLOWCABAL_BENCH_CHAPTERS", "20"))
KILLS: Final = 3
DOWN_SECONDS: Final = 60.0
PATIENCE: Final = 900.0
SEED: Final = int(os.environ.get("FLOWCABAL_BENCH_SEED", "81"))


def measure() -> list[Figure]:
    """One line a fault, beside the ingest that nothing disturbed."""
    source = novel()
    openviking()
    with own_folders() as folder:
        return asyncio.run(_measure(folder, source))


class EmbeddingServer:
    """An embedding endpoint that can be taken away and brought back at the same address."""

    def __init__(self) -> None:
        self._port, self._open = free_port(), AsyncExitStack()

    async def up(self) -> None:
        """Begins to listen."""
        await self._open.enter_async_context(FaultServer(self._port))

    async def down(self) -> None:
        """Ends every connection and listens no more."""
        await self._open.aclose()

    def settings(self) -> ModelsSettings:
        """The project's models: nothing but the embedding costs anything, and that is near."""
        url = f"http://127.0.0.1:{self._port}/v1"
        embedding = Endpoint(model="vectors", base_url=url, dimensions=256, retries=0)
        return ModelsSettings(user=OFFLINE, agent=OFFLINE, embedding=embedding)


async def _measure(folder: Path, source: Path) -> list[Figure]:
    book, endpoint, chance = folder / "book", EmbeddingServer(), random.Random(SEED)
    await endpoint.up()
    models = endpoint.settings()
    await asyncio.to_thread(new_project, book, OFFLINE, OFFLINE, models=models, knowledge=KnowledgeSettings())
    try:
        async with opened(book) as case:
            await case.project.carry_out(ImportManuscript(str(source), last=CHAPTERS))
            await case.project.memory.settled()
        async with opened(book, knowledge=True) as case:
            began = time.monotonic()
            await whole(case, patience=PATIENCE)
            seconds, untouched = time.monotonic() - began, await counts(case)
            figures = [_ingest("an ingest that nothing disturbed, with the server's start", seconds, untouched)]
            faults: list[tuple[str, Callable[[], Awaitable[None]]]] = [
                *((f"server killed while it indexed ({n})", _kill(folder)) for n in range(1, KILLS + 1)),
                ("its folder deleted while it indexed", _delete(folder)),
                (f"embedding endpoint down for {DOWN_SECONDS:.0f} s", lambda: _away(endpoint)),
            ]
            for what, fault in faults:
                async with _anew(case) as told:
                    await asyncio.sleep(chance.uniform(0.05, 0.6) * seconds)
                    await fault()
                    figures += await _healed(what, case, untouched, told if "endpoint" not in what else 0)
        await asyncio.to_thread(shutil.rmtree, folder / "cache", ignore_errors=True)
        async with opened(book, knowledge=True) as case:
            figures += await _healed("its folder deleted while it was closed", case, untouched, 0)
    finally:
        await endpoint.down()
    return figures


@asynccontextmanager
async def _anew(case: Case) -> AsyncIterator[int]:
    """Everything is sent once more; gives how many states were told before."""
    told = len(case.told(KnowledgeStatus))
    await case.project._engine.call(knowledge(case).rebuild())
    await case.project._engine.call(case.project._parts.memory.background.heal({}))
    yield told


def _kill(folder: Path) -> Callable[[], Awaitable[None]]:
    async def kill() -> None:
        os.kill(server_process(folder / "cache"), signal.SIGKILL)

    return kill


def _delete(folder: Path) -> Callable[[], Awaitable[None]]:
    async def delete() -> None:
        await asyncio.to_thread(shutil.rmtree, folder / "cache", ignore_errors=True)

    return delete


async def _away(endpoint: EmbeddingServer) -> None:
    await endpoint.down()
    await asyncio.sleep(DOWN_SECONDS)
    await endpoint.up()


async def _healed(what: str, case: Case, untouched: Contents, told: int) -> list[Figure]:
    """How long it takes until all is there, and what is not as it was."""
    began = time.monotonic()
    await whole(case, told, PATIENCE)
    seconds, found = time.monotonic() - began, await counts(case)
    unlike = {name for name, _text in untouched.files.items() ^ found.files.items()}
    print(f"  {what}: {seconds:.0f} s", file=sys.stderr, flush=True)
    missing = found.missing + abs(found.vectors - untouched.vectors)
    return [
        _ingest(f"{what}, until all is there", seconds, found),
        none_of("  texts or vectors that differ", len(unlike) + missing),
    ]


def _ingest(what: str, seconds: float, found: Contents) -> Figure:
    return Figure(what, f"{seconds:.0f} s, {len(found.files)} files, {found.vectors} vectors")
