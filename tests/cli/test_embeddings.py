"""The question whether texts may be sent to an embedding model, on the command line."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path

from flowcabal_tui.protocol.book import AddChapter
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings
from tests.cli.conftest import Call
from tests.faultserver import FaultServer
from tests.project.case import change, endpoint, make, opened


def test_a_run_with_the_server_ends_before_it_pays_until_somebody_has_answered(tmp_path: Path, call: Call) -> None:
    folder = tmp_path / "book"

    async def prepare() -> None:
        async with FaultServer() as server:
            paid = endpoint(server, dimensions=8, price_in=Decimal(1))
            await make(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE, embedding=paid))
            async with opened(folder) as case:
                await case.project.carry_out(AddChapter("The Glove"))
        change(folder, "knowledge", enabled=True)

    asyncio.run(prepare())
    refused = call("run", folder, "quick-draft", "--chapter", "1", "--knowledge", "--plain")
    assert refused.code == 3
    assert "--embeddings" in refused.err and "Nothing was sent" in refused.err
    assert call("runs", folder).out.strip() == "" or "quick-draft" not in call("runs", folder).out
    told = call("run", folder, "quick-draft", "--chapter", "1", "--embeddings", "no", "--plain")
    assert told.code == 0
