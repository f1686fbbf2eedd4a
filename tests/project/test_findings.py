"""Findings in a project: stored before they are shown, of drafts, kept and imported chapters; decided, found again."""

from __future__ import annotations

from pathlib import Path

import pytest

from flowcabal_tui.domain.errors import RunError, UnknownName
from flowcabal_tui.domain.findings import FindingFilter, FindingRow
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.memory import Entity, Evidence
from flowcabal_tui.domain.story import Fact, RecordId
from flowcabal_tui.protocol.book import AddChapter, ImportManuscript, OutputChecked, WriteChapter
from flowcabal_tui.protocol.findings import (
    ChangeFromHere,
    CheckChapters,
    CheckProgress,
    DecideFindings,
    FindingsChanged,
    SwitchRule,
)
from flowcabal_tui.protocol.memory import WaiveFinding
from flowcabal_tui.protocol.messages import from_message, to_message
from flowcabal_tui.protocol.runs import NodeEvaluated
from flowcabal_tui.protocol.story import DecideProposals, PutEntity, PutRecord, UndoDecision
from flowcabal_tui.settings.project_file import OFFLINE, ModelsSettings, load_project
from tests.faultserver import FaultServer
from tests.project.case import NO_FINDINGS, Case, both, endpoint, make, make_one, opened, write_chapters

ANY = FindingFilter(states=(), folded=True)
FIRST = "Mara Quill was thirty years old when she came to the harbour. The lamp in her window was green."
SECOND = "It rained all day. As an AI language model, I cannot describe the storm.\n\nMara Quill was twelve years old."


async def rows(case: Case, where: FindingFilter = ANY) -> tuple[FindingRow, ...]:
    return (await case.project.findings.findings(where)).rows


async def said(case: Case) -> list[tuple[str, str]]:
    return [(row.proposal.origin.maker, row.proposal.state) for row in await rows(case)]


@pytest.fixture
async def case(folder: Path):
    async with opened(await make_one(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))) as case:
        await case.project.carry_out(PutEntity(Entity(EntityId("mara"), "character", "Mara Quill")))
        for number, text in enumerate((FIRST, SECOND), 1):
            await case.project.carry_out(AddChapter(f"Chapter {number}"))
            await case.project.carry_out(WriteChapter(await case.chapter(number), text))
        await case.settled()
        yield case


async def test_a_written_chapter_is_checked_and_its_findings_have_their_places(case: Case) -> None:
    found = {row.proposal.origin.maker: row.proposal for row in await rows(case)}
    assert set(found) == {"leftovers", "ages"}
    for proposal in found.values():
        place = proposal.place
        assert place and SECOND[place.start : place.end] == proposal.quotation
    ages = found["ages"].difference.after
    assert FIRST[ages.source.start : ages.source.end] == ages.source.text
    assert (ages.against, ages.about) == (await case.chapter(1), ("mara",))
    assert case.told(FindingsChanged)
    report = await case.project.findings.finding_report()
    assert (report.written, report.by_rules, report.unread) == (2, 2, ())


async def test_the_writers_word_stays_and_is_taken_back(case: Case) -> None:
    first, second = (row.proposal.id for row in await rows(case))
    with pytest.raises(RunError, match="reason"):
        await case.project.carry_out(DecideFindings((first,), "intended", " "))
    await case.project.carry_out(from_message(to_message(DecideFindings((first,), "intended", "a joke"))))
    await case.project.carry_out(DecideFindings((second,), "useless"))
    await case.project.carry_out(WriteChapter(await case.chapter(2), f"{SECOND} The end."))
    await case.settled()
    assert {state for _check, state in await said(case)} == {"intended", "useless"}
    rates = {rate.check: rate.useless for rate in (await case.project.findings.finding_report()).rates}
    assert sorted(rates.values()) == [0, 1]
    await case.project.carry_out(UndoDecision())
    await case.project.carry_out(UndoDecision())
    assert {state for _check, state in await said(case)} == {"waiting"}
    with pytest.raises(RunError, match="is a finding"):
        await case.project.carry_out(DecideProposals((first,), "drop"))


async def test_a_word_given_in_a_decision_counts_in_the_list(case: Case) -> None:
    row = next(row.proposal for row in await rows(case) if row.proposal.origin.maker == "ages")
    await case.project.carry_out(WaiveFinding(row.quotation, row.difference.after.source.text, "she lies"))
    kept = {each.proposal.origin.maker: (each.proposal.state, each.word) for each in await rows(case)}
    assert kept["ages"] == ("intended", "she lies")


async def test_what_changes_from_here_on_is_written_and_ends_what_was_said_before(case: Case) -> None:
    row = next(row.proposal for row in await rows(case) if row.proposal.origin.maker == "ages")
    one, two = await case.chapter(1), await case.chapter(2)
    source = row.difference.after.source
    said_there = Evidence(source.text, one, source.start, source.end)
    old = Fact(RecordId("old"), "Mara is thirty.", (EntityId("mara"),), since=one, evidence=(said_there,))
    await case.project.carry_out(PutRecord(old))
    written = await case.project.carry_out(ChangeFromHere(row.id))
    facts = {fact.id: fact for fact in (await case.project.story.all()).facts}
    assert (facts["old"].until, facts[written].since, facts[written].about) == (two, two, ("mara",))
    assert facts[written].text == row.quotation
    await case.project.carry_out(UndoDecision())
    assert [fact.until for fact in (await case.project.story.all()).facts if fact.by == "hand"] == [None]
    assert ("ages", "waiting") in await said(case)


async def test_an_edit_resolves_and_a_rule_that_is_off_says_nothing(case: Case, folder: Path) -> None:
    await case.project.carry_out(
        WriteChapter(await case.chapter(2), "It rained all day.\n\nMara Quill was twelve years old.")
    )
    await case.settled()
    assert set(await said(case)) == {("leftovers", "resolved"), ("ages", "waiting")}
    await case.project.carry_out(SwitchRule("ages"))
    assert ("ages", "withdrawn") in await said(case)
    assert load_project(folder).checks.off == ("ages",)
    assert await case.project.carry_out(CheckChapters()) == "0"
    await case.project.carry_out(SwitchRule("ages", on=True))
    assert await case.project.carry_out(CheckChapters(2, 2)) == "1"
    assert [(event.done, event.total) for event in case.told(CheckProgress)][-2:] == [(0, 1), (1, 1)]
    with pytest.raises(UnknownName):
        await case.project.carry_out(SwitchRule("taste"))


async def test_imported_chapters_are_checked_by_rule_alone_and_tell_nobody(folder: Path, tmp_path: Path) -> None:
    await make_one(folder, ModelsSettings(user=OFFLINE, agent=OFFLINE))
    texts = write_chapters(tmp_path / "texts")
    (sorted(texts.iterdir())[-1]).write_text(SECOND, encoding="utf-8")
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(texts)))
        await case.settled()
        assert ("leftovers", "waiting") in await said(case)
        assert case.told(OutputChecked) == []
        assert (await case.project.findings.finding_report()).by_model == 0


async def test_findings_of_a_draft_are_stored_before_it_is_shown_and_follow_it_into_the_chapter(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts"))))
        await case.project.carry_out(AddChapter("Chapter 4"))
        await case.settled()
        server.push({"content": SECOND}, {"content": NO_FINDINGS, "times": -1})
        run = await case.run("quick-draft", 4)
        assert case.told(NodeEvaluated)
        (before,) = [row.proposal for row in await rows(case) if row.proposal.origin.maker == "leftovers"]
        assert before.difference.after.draft == "draft"
        await case.keep(run, "draft")
        await case.settled()
        (kept,) = [row.proposal for row in await rows(case) if row.proposal.origin.maker == "leftovers"]
        assert (kept.id, kept.difference.after.draft, kept.state) == (before.id, "", "waiting")
        text = await case.project.book.chapter_text(await case.chapter(4))
        assert kept.place and text[kept.place.start : kept.place.end] == kept.quotation


async def test_a_check_by_a_model_has_a_quote_and_is_noted_as_read(folder: Path, server: FaultServer) -> None:
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        server.push({"content": "{}", "times": -1})
        for number, text in enumerate((FIRST, SECOND), 1):
            await case.project.carry_out(AddChapter(f"Chapter {number}"))
            await case.project.carry_out(WriteChapter(await case.chapter(number), text))
        await case.settled()
        assert (await case.project.findings.quote_check()).likely.calls >= 2
        await case.project.carry_out(CheckChapters(model=True))
        report = await case.project.findings.finding_report()
        assert (report.by_rules, report.by_model) == (2, 1)
        assert {check.outcome for _chapter, check in report.not_checked} == {"not checked"}
        assert report.compared_by_rules.statements >= 4
        assert report.compared_by_model.statements == 0, "its answers gave no verdict"
        server.clear()
        server.push({"content": NO_FINDINGS, "times": -1})
        await case.project.carry_out(CheckChapters(model=True))
        compared = (await case.project.findings.finding_report()).compared_by_model
        assert 0 < compared.statements <= compared.pairs and 0 < compared.passages <= compared.pairs
        await case.project.carry_out(SwitchRule("ages"))
        assert (await case.project.findings.finding_report()).off == ("ages",)
