"""A model with a small window gets less context than the settings allow, and still an answer's room."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.settings.project_file import ModelsSettings
from tests.faultserver import FaultServer
from tests.project.desk import endpoint, make_one, opened


@pytest.mark.parametrize(("window", "budget"), [(None, 25_000), (200_000, 25_000), (16_000, 7_808), (6_000, 0)])
async def test_the_context_fits_the_models_window(
    folder: Path, server: FaultServer, window: int | None, budget: int
) -> None:
    await make_one(folder, ModelsSettings(user=endpoint(server, context_window=window)))
    async with opened(folder) as desk:
        request = RunRequest("quick-draft", await desk.chapter(1))
        (node,) = (await desk.project.workflow("quick-draft")).nodes
        receipt = await desk.project.preview_context(request, NodeId(node.id))
        assert (receipt.budget, receipt.used <= budget) == (budget, True)
