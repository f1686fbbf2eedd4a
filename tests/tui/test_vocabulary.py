"""The vocabulary of the writing model is offered where its models are checked; nothing fetches it by itself."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from flowcabal_tui.models import vocabularies
from flowcabal_tui.models.vocabularies import HOST, Vocabulary, on_disk
from flowcabal_tui.project import doctor
from flowcabal_tui.protocol.book import WriteChapter
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.faultserver import FaultServer
from tests.models.test_vocabularies import BODY, tiny
from tests.project.case import both, endpoint, make_one
from tests.project.case import opened as case_of
from tests.project.conftest import folder, server
from tests.tui.hosts import shown
from tests.tui.test_ghost_drafts import opened
from tests.tui.waiting import until

__all__ = ["folder", "server", "tiny"]


async def test_a_missing_vocabulary_is_offered_with_its_host_and_fetched_only_after_yes(
    folder: Path, server: FaultServer, tiny: Vocabulary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fetch(known: Vocabulary, url: str = "") -> None:
        known.file.write_bytes(BODY)

    monkeypatch.setattr(vocabularies, "_MODELS", ((vocabularies.re.compile("mock"), "tiny"),))
    monkeypatch.setitem(vocabularies.KNOWN, "tiny", tiny)  # type: ignore[arg-type]  # a dict behind a Mapping
    monkeypatch.setattr(doctor, "fetch", fetch)
    tiny.file.unlink()
    await make_one(folder, both(endpoint(server, price_in=Decimal(1), price_out=Decimal(1))))
    async with case_of(folder) as case:
        await case.project.carry_out(WriteChapter(await case.chapter(1), "The lamp was lit."))
    async with opened(folder, tmp_path) as (project, pilot):
        for answer in ("n", "y"):
            await pilot.press("shift+f7")
            await until(pilot, lambda: "This costs money." in "\n".join(shown(pilot.app)))
            await pilot.press("y")
            await until(pilot, lambda: "This costs money." not in "\n".join(shown(pilot.app)))
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
            assert HOST in "\n".join(shown(pilot.app)) and not on_disk(tiny)
            await pilot.press(answer)
            await until(
                pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and not pilot.app.screen.is_opening
            )
            await until(pilot, lambda: not any(each.group == "models" for each in pilot.app.workers if each.is_running))
        assert on_disk(tiny)
        assert doctor.missing_vocabulary(dict(project.info.models)["user"]) is None
