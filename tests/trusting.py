"""Says yes for the user of a test to all that a project folder asks for at this moment."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime
from pathlib import Path

from flowcabal_tui.project.trust.collect import collect
from flowcabal_tui.settings.key_hosts import bind_keys
from flowcabal_tui.settings.project_file import load_project
from flowcabal_tui.settings.trust import TrustRecord
from flowcabal_tui.store import Store


def confirmed(folder: Path) -> Path:
    """The folder, confirmed: for a copy, and after a test has written into it by hand. Works on and off a loop."""
    thread = threading.Thread(target=lambda: asyncio.run(_confirm(folder)))
    thread.start()
    thread.join()
    return folder


async def _confirm(folder: Path) -> None:
    settings = load_project(folder)
    store = await Store.open(folder, read_only=True, clock=lambda: datetime.now(UTC), language="en")
    try:
        documents = await store.workflows.documents()
    finally:
        await store.close()
    items = collect(folder, settings, documents).request.items
    bind_keys((item.name, item.target) for item in items if item.kind == "key")
    TrustRecord.of(folder, settings.project.id).add({item.digest for item in items}, create=True)
