"""What somebody turns out to be called later is in no question about an earlier chapter."""

from __future__ import annotations

import re
from pathlib import Path

from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.protocol.book import ImportManuscript, WriteChapter
from tests.faultserver import FaultServer
from tests.project.case import both, endpoint, make, opened
from tests.trusting import confirmed

LATER = "Ines was the Veiled Lady"
TEXTS = ("Ines Marlow rowed. Miss Tide, as the children call Ines, sang.", "It rained.", f"{LATER} of the quay.")
INES = Entity(EntityId("ines"), "character", "Ines Marlow", ("Ines", "Miss Tide", "the Veiled Lady"), by="agent")


async def test_a_chapter_that_is_read_anew_is_asked_about_with_the_names_of_its_time(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    (tmp_path / "texts").mkdir()
    for number, text in enumerate(TEXTS, start=1):
        (tmp_path / "texts" / f"{number}.txt").write_text(f"Chapter {number}\n\n{text}\n", encoding="utf-8")
    await make(folder, both(endpoint(server)))
    (folder / "prompts").mkdir(exist_ok=True)
    own = "Sum up.\n---\n<task>curator.l1</task> ${language} ${names} ${title} ${chapter}"
    (folder / "prompts" / "curator.l1.md").write_text(own, encoding="utf-8")
    confirmed(folder)
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(tmp_path / "texts")))
        await case.settled()
        await case.project._engine.call(case.project._parts.store.memory.put_entity(INES))
        before = len(server.log)
        await case.project.carry_out(WriteChapter(await case.chapter(1), f"{TEXTS[0]} Then she slept."))
        await case.settled()
    asked = [str(entry["body"]) for entry in server.log[before:]]
    earlier = [body for body in asked if LATER not in body]
    tasks = {task for body in earlier for task in re.findall(r"<task>([a-z0-9_.]+)</task>", body)}
    assert {"curator.l1", "curator.profile"} <= tasks
    assert any("Ines Marlow | Ines | Miss Tide" in body for body in earlier)
    assert [body for body in earlier if "Veiled Lady" in body] == []
