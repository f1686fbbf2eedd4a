"""What the screen is told of the knowledge server, and when."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import DiskFull
from flowcabal_tui.project.memory.knowledge import KnowledgeConnection
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.protocol.memory import KnowledgeStatus
from flowcabal_tui.settings.project_file import KnowledgeSettings
from flowcabal_tui.viking.client import Address, KnowledgeClient
from flowcabal_tui.viking.manifest import Head
from flowcabal_tui.viking.status import Ready
from flowcabal_tui.viking.sync import KnowledgeSync
from tests.guards import NOTHING_GUARDED
from tests.waiting import until


class EmptySync(KnowledgeSync):
    """A server that holds nothing and lost nothing."""

    async def repair(self, *, thorough: bool) -> tuple[str, ...]:
        return ()


@pytest.mark.parametrize("refused", [False, True])
async def test_a_server_is_ready_only_when_what_it_is_owed_is_booked(tmp_path: Path, refused: bool) -> None:
    told: list[str] = []

    def emit(event: Event) -> None:
        if isinstance(event, KnowledgeStatus):
            told.append(event.state)

    async def ready(held: Mapping[str, str]) -> None:
        await asyncio.sleep(0)
        told.append(f"booked {len(held)}")
        if refused:
            raise DiskFull("the disk is full")

    case = KnowledgeConnection(KnowledgeSettings(), ("id", "The Ferry", tmp_path), "en", emit, ready, NOTHING_GUARDED)
    case._client = KnowledgeClient(lambda: Address("http://127.0.0.1:1", "key"))
    case._sync = EmptySync(case._client, Head("viking://resources/the-ferry", "en", "offline/8"), tmp_path)
    case._changed(Ready("http://127.0.0.1:1", repair=False))
    await until(lambda: case.is_up)
    assert told == ["booked 0", "ready"]
    await case.close()
