"""A run pins its counter: a vocabulary that arrives changes no prompt that was paid for."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.models import vocabularies
from flowcabal_tui.models.vocabularies import Vocabulary
from flowcabal_tui.protocol.book import WriteMeta
from tests.faultserver import FaultServer
from tests.models.test_vocabularies import BODY, tiny
from tests.project.case import Case, both, calls, endpoint, make_one, opened

__all__ = ["tiny"]


async def counted_by(case: Case) -> str:
    request = RunRequest("quick-draft", await case.chapter(1))
    (node,) = (await case.project.workflows.get("quick-draft")).nodes
    return (await case.project.runs.preview_context(request, NodeId(node.id))).counted_by


async def test_a_vocabulary_that_arrives_counts_from_the_next_change_of_the_book_on(
    folder: Path, server: FaultServer, tiny: Vocabulary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vocabularies, "_MODELS", ((vocabularies.re.compile("mock"), "tiny"),))
    monkeypatch.setitem(vocabularies.KNOWN, "tiny", tiny)  # type: ignore[arg-type]  # a dict behind a Mapping
    tiny.file.unlink()
    await make_one(folder, both(endpoint(server)))
    async with opened(folder) as case:
        await case.project.carry_out(WriteMeta("style-guide", "Short sentences. " * 400))
        await case.run("quick-draft", 1)
        assert await counted_by(case) == ""
    paid = calls(server)
    tiny.file.write_bytes(BODY)
    async with opened(folder) as case:
        assert await counted_by(case) == ""  # the run's own counter
        await case.run("quick-draft", 1)
        assert calls(server) == paid
        await case.project.carry_out(WriteMeta("notes", "The bell is cracked."))
        assert await counted_by(case) == "tiny"
