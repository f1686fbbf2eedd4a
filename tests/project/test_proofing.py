"""Proofing of a project: in the helper process, by the rules that the book wants."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import UnknownName
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.protocol.book import AddChapter, SwitchProofRule, WriteChapter
from flowcabal_tui.settings.project_file import load_project
from tests.project.case import make, opened

pytestmark = pytest.mark.helper_process

ONE = "He saw the the door. She definately knew. The river kept its slow and muddy promise to the town of Saltreach."
TWO = "All well. The river kept its slow and muddy promise to the town of Saltreach."


async def test_rules_mark_places_and_can_be_silenced_for_the_book(folder: Path) -> None:
    await make(folder)
    async with opened(folder) as case:
        project = case.project
        for text in (ONE, TWO):
            await project.carry_out(WriteChapter(ChapterId(await project.carry_out(AddChapter("C"))), text))
        one, two = await project.book.proof()
        assert [mark.rule for mark in one.marks] == ["doubled-words", "wrong-words"] and not two.marks
        assert one.around[0] == ("He saw ", " door. She definately kn")
        one, two = await project.book.proof(rules=("repeats",))
        assert [mark.also for mark in (*one.marks, *two.marks)] == [2, 1]
        assert [mark.words for mark in await project.book.proof_text("It is is.")] == ["is is"]
        await project.carry_out(SwitchProofRule("wrong-words"))
        await project.carry_out(SwitchProofRule("repeats", on=True))
        one, two = await project.book.proof()
        assert [mark.rule for mark in one.marks] == ["doubled-words", "repeats"]
        with pytest.raises(UnknownName):
            await project.carry_out(SwitchProofRule("spelling"))
    kept = load_project(folder).proofing
    assert (kept.off, kept.on) == (("wrong-words",), ("repeats",))
    async with opened(folder) as case:
        await case.project.carry_out(SwitchProofRule("wrong-words", on=True))
        await case.project.carry_out(SwitchProofRule("repeats"))
    assert load_project(folder).proofing.off == load_project(folder).proofing.on == ()
