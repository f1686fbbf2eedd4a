"""Profiles and arcs in a project: made by the background, handled by the writer, read by contexts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.ids import EntityId, Generation, NodeId
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.project.views import ProfileView
from flowcabal_tui.protocol.book import AddChapter, EditChapter, ImportManuscript, MergeChapters, WriteChapter
from flowcabal_tui.protocol.memory import (
    BackgroundChanged,
    CancelBackground,
    PinProfile,
    ProfileUpdated,
    Rebuild,
    RegenerateProfile,
    RetryBackground,
    TakeProfile,
    WriteProfile,
)
from flowcabal_tui.protocol.story import PutEntity
from flowcabal_tui.settings.project_file import OFFLINE
from tests.agents.test_profile_kinds import add
from tests.faultserver import FaultServer
from tests.project.case import Case, both, endpoint, make, opened, write_chapters

INES = "profiles/characters/ines"
FOURTH = (
    "Ines Marlow wept on the ferry at Saltreach. Tobias Crane had sold the bell to the king.\n\n"
    "Ines Marlow no longer trusted Tobias Crane. Ines Marlow untied the rope and Tobias Crane let her go."
)


async def imported(case: Case, tmp_path: Path, chapters: dict[str, str] | None = None) -> None:
    await case.project.carry_out(PutEntity(Entity(EntityId("ines"), "character", "Ines Marlow")))
    await case.project.carry_out(PutEntity(Entity(EntityId("tobias"), "character", "Tobias Crane")))
    await case.project.carry_out(ImportManuscript(str(write_chapters(tmp_path / "texts", chapters))))
    await case.settled()


@pytest_asyncio.fixture
async def case(folder: Path, tmp_path: Path) -> AsyncIterator[Case]:
    """Three chapters with the offline model, all that follows from them, and a fourth that is empty."""
    await make(folder, both(OFFLINE))
    async with opened(folder) as case:
        await imported(case, tmp_path, {f"Chapter {n} The Rope": FOURTH for n in (1, 2, 3)})
        await case.project.carry_out(AddChapter("Chapter 4 The Bell"))
        yield case


async def write(case: Case, number: int, text: str) -> None:
    await case.project.carry_out(WriteChapter(await case.chapter(number), text))
    await case.settled()


async def texts(case: Case, uri: str = INES) -> dict[str, str]:
    return {level: state.text for level, state in (await case.levels(uri)).items()}


def newest(view: ProfileView, method: str) -> Generation:
    return next(state.generation for state in view.history if state.method == method)


async def test_every_kind_gets_its_profiles_and_each_has_three_levels(case: Case) -> None:
    for number in range(4, 8):
        if number > 4:
            await case.project.carry_out(AddChapter(f"Chapter {number}"))
        await write(case, number, FOURTH.replace("the king", f"king number {number}"))
    rows = await case.project.memory.profiles()
    kinds = list(dict.fromkeys(row.kind for row in rows))
    assert kinds == ["characters", "emotional-arcs", "style", "themes", "world-state", "chapters"]
    assert {row.kind_title for row in rows if row.kind == "emotional-arcs"} == {"Emotional arcs"}
    for row in rows:
        if row.kind != "chapters":
            levels = await case.levels(row.uri)
            assert set(levels) == {"L0", "L1", "L2"}, row.uri
            for evidence in (*levels["L1"].evidence, *levels["L2"].evidence):
                text = await case.project.book.chapter_text(evidence.chapter)
                assert evidence.sentence in text[evidence.start : evidence.end] or levels["L1"].method == "model"
    whole = (await case.levels(INES))["L2"]
    assert [each.chapter for each in whole.evidence][::2] == [
        chapter.id for chapter in await case.project.book.chapters()
    ]


async def test_what_the_writer_wrote_stands_and_what_is_made_later_is_offered_beside_it(case: Case) -> None:
    await case.project.carry_out(WriteProfile(INES, "L1", "Ines Marlow cannot swim."))
    assert await texts(case) | {"L2": ""} == (await texts(case)) | {"L1": "Ines Marlow cannot swim.", "L2": ""}
    await write(case, 4, FOURTH)
    view = await case.project.memory.profile(INES)
    assert (await texts(case))["L1"] == "Ines Marlow cannot swim."
    (offered,) = [state for state in view.offered if state.level == "L1"]
    assert offered.position == 4
    assert offered.text != "Ines Marlow cannot swim."
    await case.project.carry_out(TakeProfile(INES))
    assert (await texts(case))["L1"] == offered.text
    assert (await case.project.memory.profile(INES)).offered == ()


async def test_sentences_that_the_writer_keeps_keep_their_evidence(case: Case) -> None:
    before = (await case.levels(INES))["L1"]
    kept = before.evidence[0]
    await case.project.carry_out(WriteProfile(INES, "L1", f"{kept.sentence}\nShe cannot swim."))
    assert {each.sentence for each in (await case.levels(INES))["L1"].evidence} == {kept.sentence}


async def test_a_pinned_state_is_what_contexts_read_until_it_is_unpinned(case: Case) -> None:
    await case.project.carry_out(WriteProfile(INES, "L1", "Ines Marlow cannot swim."))
    by_hand = newest(await case.project.memory.profile(INES), "hand")
    await case.project.carry_out(WriteProfile(INES, "L1", "Ines Marlow swims well."))
    await case.project.carry_out(PinProfile(INES, by_hand))
    view = await case.project.memory.profile(INES)
    assert (view.pinned, (await texts(case))["L1"]) == (by_hand, "Ines Marlow cannot swim.")
    await case.project.carry_out(PinProfile(INES))
    assert (await texts(case))["L1"] == "Ines Marlow swims well."
    assert {updated.profiles[0][2] for updated in case.told(ProfileUpdated)} >= {INES}


async def test_a_profile_is_made_again_when_the_writer_asks(case: Case) -> None:
    before = (await case.project.memory.profile(INES)).history
    await case.project.carry_out(RegenerateProfile(INES))
    await case.settled()
    after = (await case.project.memory.profile(INES)).history
    assert len(after) == len(before) + 2
    assert after[0].position == before[0].position
    await case.project.carry_out(RetryBackground())
    await case.settled()
    assert (await case.project.memory.profile(INES)).history == after


async def test_what_is_no_profile_is_refused_and_changes_nothing(case: Case) -> None:
    for command in (
        WriteProfile(INES, "L2", "All of it."),
        WriteProfile(INES, "L1", " \n"),
        WriteProfile("profiles/characters/nobody", "L1", "Nobody."),
        WriteProfile("profiles/nothing/book", "L1", "Nothing."),
        PinProfile(INES, Generation(999_999)),
        TakeProfile("profiles/characters/nobody"),
        RegenerateProfile("profiles/style/ines"),
        RegenerateProfile("meta/outline"),
    ):
        before = await texts(case)
        with pytest.raises(RunError, match=r"nothing|no text|full text|no state"):
            await case.project.carry_out(command)
        assert await texts(case) == before


async def test_a_kind_that_the_writer_added_is_made_and_one_that_is_wrong_says_so(case: Case, folder: Path) -> None:
    settings = 'subject = "book"\nscenes = ["daily"]\n[title]\nen = "Ropes"\n[words]\nen = ["rope"]\n'
    add(folder / "profiles", "ropes", settings)
    await case.confirm()
    await case.project.carry_out(RegenerateProfile("profiles/ropes/book"))
    await case.settled()
    assert "untied the rope" in (await texts(case, "profiles/ropes/book"))["L1"]
    (row,) = [row for row in await case.project.memory.profiles() if row.kind == "ropes"]
    assert (row.name, row.kind_title) == ("Ropes", "Ropes")
    assert (await case.project.memory.profile(row.uri)).name == "Ropes"
    assert (await case.project.memory.source(row.uri)).title == "Ropes"
    assert (await case.project.memory.source("meta/style-guide")).title == "Style guide"
    (folder / "profiles" / "ropes" / "kind.toml").write_text("subject = 1", encoding="utf-8")
    receipt = await case.project.runs.preview_context(RunRequest("chapter", await case.chapter(4)), NodeId("plan"))
    assert any("ropes" in note for note in receipt.notes)


async def test_contexts_read_the_old_state_while_a_new_one_is_made(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        await imported(case, tmp_path)
        await write(case, 3, FOURTH)
        await case.project.carry_out(AddChapter("Chapter 4 The Bell"))
        old = await texts(case)
        request = RunRequest("chapter", await case.chapter(4), inputs=(("instruction", "Ines Marlow rows."),))
        before = await case.project.runs.preview_context(request, NodeId("plan"))
        assert INES in {source.uri for source in (*before.sources, *before.dropped)}, "the passages have its sentences"
        server.push({"header_delay": 1_000})
        case.told(BackgroundChanged)
        case.events.clear()
        await case.project.carry_out(RegenerateProfile(INES))
        await case.until(BackgroundChanged, lambda event: event.task is not None and event.task.state == "running")
        during = await case.project.runs.preview_context(request, NodeId("plan"))
        assert during.digest == before.digest
        assert await texts(case) == old
        await case.project.carry_out(CancelBackground())
        said = {"sentence": "Ines left.", "source_id": "s1", "quote": "Ines Marlow untied the rope"}
        server.push({"content": json.dumps({"summary": "Ines left.", "sentences": [said]})})
        await case.project.carry_out(RetryBackground())
        await case.settled()
        assert (await texts(case))["L1"] == "Ines left."
        assert (await case.project.runs.preview_context(request, NodeId("plan"))).digest != before.digest


async def test_arcs_and_the_work_follow_the_chapters_and_only_what_changed_is_told_anew(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    await make(folder, both(endpoint(server)))
    book = {f"Chapter {n:02}": f"Ines Marlow sold boat number {n}. Tobias Crane paid {n} coins." for n in range(1, 33)}
    async with opened(folder) as case:
        await imported(case, tmp_path, book)
        first, whole = [await case.project.memory.profile(uri) for uri in ("summaries/arcs/part-1", "summaries/work")]
        assert [(state.level, state.position) for state in first.history] == [
            (level, position) for position in (30, 20, 10) for level in ("L0", "L1")
        ]
        assert {state.position for state in whole.history} == {30}
        assert (first.name, whole.name) == ("Chapters 1-30", "The whole work")
        assert [row.uri for row in await case.project.memory.profiles() if row.kind == "arcs"] == [whole.uri, first.uri]
        request = RunRequest("chapter", await case.chapter(32), inputs=(("instruction", "Ines Marlow rows."),))
        receipt = await case.project.runs.preview_context(request, NodeId("plan"))
        assert first.uri in {source.uri for source in (*receipt.sources, *receipt.dropped)}
        receipt = await case.project.runs.preview_context(
            replace(request, chapter=await case.chapter(15)), NodeId("plan")
        )
        summaries = {source.uri for source in receipt.sources if source.uri.startswith("summaries/")}
        assert summaries <= {"summaries/quoted"}, "no arc of chapters that come later"
        await write(case, 25, "Ines Marlow burned the last boat. Tobias Crane wept.")
        again = await case.project.memory.profile(first.uri)
        new = again.history[: len(again.history) - len(first.history)]
        assert {state.position for state in new} == {30}, "the arc as of chapters 10 and 20 does not know chapter 25"
        assert len(new) == 2
        assert len((await case.project.memory.profile(whole.uri)).history) == 2 * len(whole.history)


async def test_chapters_that_move_have_their_arcs_told_anew(folder: Path, tmp_path: Path, server: FaultServer) -> None:
    await make(folder, both(endpoint(server)))
    book = {f"Chapter {n:02}": f"Ines Marlow sold boat number {n}. Tobias Crane paid {n} coins." for n in range(1, 12)}
    async with opened(folder) as case:
        await imported(case, tmp_path, book)
        await case.project.carry_out(EditChapter(await case.chapter(11), position=1))
        await case.settled()
        levels = await case.levels("summaries/arcs/part-1")
        assert "boat number 11" in levels["L1"].text


async def test_chapters_that_are_merged_have_later_arcs_told_anew(folder: Path, tmp_path: Path) -> None:
    await make(folder, both(OFFLINE))
    book = {f"Chapter {n:02}": f"Ines Marlow sold boat number {n}. Tobias Crane paid {n} coins." for n in range(1, 42)}
    async with opened(folder) as case:
        await imported(case, tmp_path, book)
        assert "boat number 31" in (await case.levels("summaries/arcs/part-2"))["L1"].text
        await case.project.carry_out(MergeChapters(await case.chapter(1), await case.chapter(2)))
        await case.settled()
        told = (await case.levels("summaries/arcs/part-2"))["L1"].text
        assert "boat number 31" not in told and "boat number 41" in told


async def test_a_profile_as_of_a_chapter_that_is_deleted_is_told_as_of_the_one_before(
    folder: Path, tmp_path: Path
) -> None:
    await make(folder, both(OFFLINE))
    async with opened(folder) as case:
        few = "Tobias Crane swept the tower. Ines Marlow sold her last boat to the miller."
        await imported(case, tmp_path, {"Chapter 1": FOURTH, "Chapter 2": few, "Chapter 3": FOURTH})
        assert {state.position for state in (await case.project.memory.profile(INES)).history} == {1, 3}
        await case.project.carry_out(EditChapter(await case.chapter(3), deleted=True))
        await case.settled()
        levels = await case.levels(INES)
        assert levels["L1"].position == 2
        assert "sold her last boat" in levels["L1"].text
        assert await case.project.memory.stale() == ()


async def test_a_profile_that_rests_on_a_deleted_chapter_is_stale_until_it_is_made_again(case: Case) -> None:
    await write(case, 4, FOURTH.replace("the king", "the queen"))
    await case.project.carry_out(EditChapter(await case.chapter(3), deleted=True))
    await case.settled()
    stale = await case.project.memory.stale()
    assert INES in {text.uri for text in stale}
    assert (await case.levels(INES))["L1"].position == 2, "what was told before it stands"
    await case.project.carry_out(Rebuild("stale"))
    await case.settled()
    assert await case.project.memory.stale() == ()
    assert (await case.levels(INES))["L1"].position == 3


async def test_what_a_model_was_paid_for_is_never_replaced_by_a_rule(
    folder: Path, tmp_path: Path, server: FaultServer
) -> None:
    """An import is summarised by rule; what the writer then asked a model for stays."""
    await make(folder, both(endpoint(server)))
    async with opened(folder) as case:
        await imported(case, tmp_path)
        uri = f"manuscript/{await case.chapter(1)}"
        assert (await case.levels(uri))["L1"].method == "extract"
        quotes = ("red hair", "blue glove", "did not wave")
        said = [{"sentence": f"It is {n}.", "quote": quote} for n, quote in enumerate(quotes)]
        server.push({"content": json.dumps({"sentences": said})})
        await case.project.carry_out(RegenerateProfile(uri))
        await case.settled()
        assert (await case.levels(uri))["L1"].text == "It is 0.\nIt is 1.\nIt is 2."
        asked = len(server.log)
        await case.project.carry_out(Rebuild("summaries"))
        await case.settled()
        assert (await case.levels(uri))["L1"].text == "It is 0.\nIt is 1.\nIt is 2."
        assert len(server.log) == asked
