"""The panel of the conversation: places that open, cards by keys, chips with their price, streaming, levels."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from flowcabal_tui.agents.conversation.tools import tools_at
from flowcabal_tui.domain.conversation import AskQuote, Chip, Scope, Turn, UsedTool
from flowcabal_tui.domain.proposals import Difference, TextEdit, WorkflowEdit
from flowcabal_tui.domain.story import Fact, RecordId
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.conversations import AnswerStreaming, TurnChanged
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.conversation import rows
from flowcabal_tui.tui.conversation.chips import ChipPicker
from flowcabal_tui.tui.conversation.question_line import QuestionLine, UnsentQuestion
from flowcabal_tui.tui.conversation.screen import ConversationScreen, InView
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.diff import DiffScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.prose_form import ProseScreen
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.project.talking import book
from tests.tui import fake_books as books
from tests.tui.fake_conversation import TALK, FakeTalk, pages
from tests.tui.hosts import HOSTILE, Host, shown
from tests.tui.try_out import invented_access
from tests.tui.waiting import settled, until

VIEW = InView(books.chapter_id(2), Chip("selection", books.chapter_id(2), 0, 4, text="Mara"), "chapter")


@asynccontextmanager
async def opened(talk: FakeTalk, size: tuple[int, int] = (100, 30)) -> AsyncIterator[Pilot[None]]:
    """The panel over an empty app; `answers` of the app are what it gave back."""
    app = Host()
    async with app.run_test(size=size) as pilot:
        app.answers = []  # type: ignore[attr-defined]
        page = ConversationScreen(talk.project, TALK, VIEW, UnsentQuestion(), pages(talk))
        app.push_screen(page, app.answers.append)  # type: ignore[attr-defined]
        await settled(pilot)
        yield pilot


def panel(pilot: Pilot[None]) -> ConversationScreen:
    found = pilot.app.screen
    assert isinstance(found, ConversationScreen)
    return found


def text(pilot: Pilot[None]) -> str:
    return "\n".join(shown(pilot.app))


async def press(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


async def pick(pilot: Pilot[None], row: str) -> None:
    """The cursor on a row of the list."""
    if panel(pilot).line.has_focus:
        await press(pilot, "tab")
    panel(pilot).rows.pick(row)
    await settled(pilot)


async def test_a_statement_with_a_place_shows_its_chapter_and_enter_opens_it_one_without_is_dim():
    talk = FakeTalk()
    async with opened(talk) as pilot:
        assert "She counts them. [2]" in text(pilot) and "[[" not in text(pilot)
        rows = {row.id: row for row in panel(pilot).rows.listed}
        assert rows["t1.s0"].places and not rows["t1.s1"].places
        assert rows["t1.s1"].drawn._dim == "It is a lonely habit."
        await pick(pilot, "t1.s1")
        await press(pilot, "enter")
        assert panel(pilot)
        await pick(pilot, "t1.s0")
        await press(pilot, "enter")
        (place,) = pilot.app.answers
        assert (place.chapter, place.quotation) == (books.chapter_id(2), talk.quoted)


async def test_a_conversation_without_turns_says_what_to_do():
    talk = FakeTalk()
    turns, talk.known = talk.known, []
    async with opened(talk) as pilot:
        assert "Ask anything about the book" in text(pilot) and "F7 lets it" in text(pilot)
    talk.known = turns
    async with opened(talk) as pilot:
        assert "Ask anything about the book" not in text(pilot)


async def test_of_several_places_one_is_chosen():
    talk = FakeTalk()
    (first,) = talk.known[0].citations
    end = talk.known[0].answer.index("]]") + 2
    second = replace(first, start=end, end=end + 10, chapter=books.chapter_id(3), quotation="it rained")
    answer = talk.known[0].answer[:end] + "[[3|rain]]" + talk.known[0].answer[end:]
    talk.known[0] = replace(talk.known[0], answer=answer, citations=(first, second))
    async with opened(talk) as pilot:
        assert "She counts them. [2, 3]" in text(pilot)
        await pick(pilot, "t1.s0")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, ChooseScreen) and "it rained" in text(pilot)
        await press(pilot, "down", "enter")
        assert [place.chapter for place in pilot.app.answers] == [books.chapter_id(3)]


async def test_the_receipt_of_a_question_is_shown_before_and_after_it_is_sent():
    talk = FakeTalk()
    sent = replace(books.receipt(books.EN), notes=("sent by you: Mara, 12 tokens",))
    used = UsedTool("1.1", "search", "search", "completed", '{"words": "lamps"}')
    talk.known[0] = replace(talk.known[0], receipt=books.receipt(books.EN), used=(used,))
    talk.receipt = sent
    async with opened(talk) as pilot:
        await press(pilot, *"Who?")
        await until(pilot, lambda: "7,263" in text(pilot))
        await press(pilot, "f4")
        assert talk.sent == [("receipt", sent, "Who?")]
        await pick(pilot, "t1.q")
        await press(pilot, "f4")
        (_receipt, shown_receipt, _title) = talk.sent[-1]
        assert shown_receipt.notes[-1] == "read while answering: searches “lamps”"
        await pick(pilot, "t2.q")
        await press(pilot, "f4")
        assert len(talk.sent) == 2


async def test_the_price_follows_the_words():
    talk = FakeTalk()
    async with opened(talk) as pilot:
        await press(pilot, *"Who")
        await until(pilot, lambda: talk.quoted_for == "Who")
        await press(pilot, *" is it?")
        await until(pilot, lambda: talk.quoted_for == "Who is it?")


async def test_a_card_of_a_record_is_edited_in_its_form_and_a_build_in_its_review():
    talk = FakeTalk()
    talk.card = replace(talk.card, kind="fact", difference=Difference(Fact(RecordId("f1"), "She counts.")))
    async with opened(talk) as pilot:
        await pick(pilot, "t2.cp1")
        await press(pilot, "e")
        assert talk.sent == [("form", "p1")]
        await press(pilot, "enter")
        (place,) = pilot.app.answers
        assert (place.chapter, place.quotation) == (books.chapter_id(2), talk.quoted)
    talk.card = replace(talk.card, kind="workflow", place=None,
                          difference=Difference(WorkflowEdit("b1", "chapter", "A step.", 2)))  # fmt: skip
    async with opened(talk) as pilot:
        await pick(pilot, "t2.cp1")
        await press(pilot, "enter")
        assert talk.sent[1:] == [("review", "b1"), ("note", "b1")]


async def test_a_question_behind_an_answer_waits_for_its_turn_and_one_after_a_stop_for_a_key():
    talk = FakeTalk()
    talk.known += [Turn(TALK, 3, "And?", books.NOW, state="in_progress"), Turn(TALK, 4, "Then?", books.NOW)]
    async with opened(talk) as pilot:
        assert "Then?  waits for its turn" in text(pilot)
        talk.known[2] = replace(talk.known[2], state="completed", stop="cancelled")
        panel(pilot).changed(TurnChanged(TALK, 3))
        await settled(pilot)
        assert "Then?  not sent: r sends it" in text(pilot)
        assert "stopped before the answer" in text(pilot)


async def test_a_card_is_accepted_taken_back_refused_and_its_difference_shown():
    talk = FakeTalk()
    async with opened(talk) as pilot:
        await pick(pilot, "t2.cp1")
        await press(pilot, "a")
        assert talk.sent[-1] == ("decide", "p1", True) and "[accepted]" in text(pilot)
        await press(pilot, "a")  # it is decided
        assert len(talk.sent) == 1
        await press(pilot, "u", "x")
        assert talk.sent[1:] == [("undo", "p1"), ("decide", "p1", False)]
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, DiffScreen)


async def test_a_change_that_was_applied_and_taken_back_waits():
    talk = FakeTalk()
    (edit, run) = talk.known[1].used
    talk.known[1] = replace(talk.known[1], used=(replace(edit, applied=True), run))
    talk.card = replace(talk.card, state="confirmed")
    async with opened(talk) as pilot:
        assert "[applied]" in text(pilot)
        await pick(pilot, "t2.cp1")
        await press(pilot, "u")
        assert "applied" not in text(pilot) and "[waits" in text(pilot)


async def test_the_keys_of_a_card_are_on_where_they_do_something():
    async with opened(FakeTalk()) as pilot:
        await pick(pilot, "t2.cp1")
        assert active(pilot) == {"accept", "refuse", "edit"}
        await press(pilot, "a")
        assert active(pilot) == {"undo"}
        await pick(pilot, "t2.q")
        assert active(pilot) == set()


def active(pilot: Pilot[int]) -> set[str]:
    return {name for name in ("accept", "refuse", "edit", "undo") if pilot.app.screen.check_action(name, ())}


def test_every_tool_has_words_of_the_user():
    assert {tool.name for tool in tools_at("do")} == set(rows._TOOLS)


async def test_a_card_is_accepted_with_the_writers_words():
    talk = FakeTalk()
    async with opened(talk) as pilot:
        await pick(pilot, "t2.cp1")
        await press(pilot, "e")
        assert isinstance(pilot.app.screen, ProseScreen)
        pilot.app.screen.query_one(ProseArea).load_text("She sat.")
        await press(pilot, "ctrl+s")
        assert talk.sent == [("correct", "p1", TextEdit("e1", books.chapter_id(2), talk.quoted, "She sat."))]


async def test_what_asks_is_allowed_or_refused_by_a_key():
    talk = FakeTalk()
    async with opened(talk) as pilot:
        assert "At most: 0.02 USD" in text(pilot)
        await pick(pilot, "t2.p1.2")
        await press(pilot, "a")
        await press(pilot, "x")
        assert talk.sent == [("permit", "1.2", "allow_once"), ("permit", "1.2", "reject_once")]


async def test_letters_are_typed_in_the_line_and_enter_sends_them():
    talk = FakeTalk()
    async with opened(talk) as pilot:
        await press(pilot, *"axeusD")
        assert panel(pilot).line.value == "axeusD"
        await press(pilot, "enter")
        assert talk.sent == [("ask", "axeusD", ())]
        assert panel(pilot).line.value == ""
        await press(pilot, "enter")
        assert len(talk.sent) == 1


async def test_an_at_opens_the_picker_and_tokens_and_price_are_told_before_sending():
    talk = FakeTalk()
    async with opened(talk) as pilot:
        await press(pilot, *"Who ", "at")
        assert isinstance(pilot.app.screen, ChipPicker)
        await press(pilot, *"mara", "enter")
        assert panel(pilot).line.value == "Who @Mara "
        await until(pilot, lambda: "224" in text(pilot))
        assert "0.0021" in text(pilot) and "7,263" in text(pilot)
        assert "\x1b" not in text(pilot) and HOSTILE not in text(pilot)
        await press(pilot, "at")
        await press(pilot, "f2")
        (_mara, first) = panel(pilot).question.typed.chips
        assert first.chip.kind == "selection"
        await press(pilot, "at", "down", "f2")
        whole = panel(pilot).question.typed.chips[-1]
        assert whole.chip.whole and whole.name.endswith("!")
        await press(pilot, "enter")
        (_ask, said, chips) = talk.sent[-1]
        assert "@Mara" in said and [each.kind for each in chips] == ["name", "selection", "chapter"]


async def test_a_price_that_comes_after_the_question_was_sent_is_not_shown():
    talk, waits = FakeTalk(), asyncio.Event()
    quote = talk.quote

    async def late(*asked: Any) -> AskQuote:
        await waits.wait()
        return await quote(*asked)

    talk.quote = late  # type: ignore[method-assign]
    async with opened(talk) as pilot:
        panel(pilot).line.value = "Who?"
        panel(pilot).question.quote_now()
        await pilot.pause()
        await pilot.press("enter")
        waits.set()
        await settled(pilot)
        assert talk.sent == [("ask", "Who?", ())]
        assert "7,263" not in text(pilot)


async def test_a_chip_goes_with_its_name():
    talk = FakeTalk()
    async with opened(talk) as pilot:
        await press(pilot, "at", *"mara", "enter")
        panel(pilot).line.value = "Who?"
        await settled(pilot)
        await press(pilot, "enter")
        assert talk.sent[-1] == ("ask", "Who?", ())


async def test_an_answer_grows_without_its_marks_and_stops_by_a_key():
    talk = FakeTalk()
    talk.known.append(Turn(TALK, 3, "And then?", books.NOW, state="in_progress"))
    async with opened(talk) as pilot:
        assert "waiting for the model; F9 stops" in text(pilot)
        panel(pilot).heard(AnswerStreaming(TALK, 3, 0, "She waits. [[2|salt on the"))
        await settled(pilot)
        assert "She waits." in text(pilot) and "salt on" not in text(pilot)
        assert "waiting for the model" not in text(pilot)
        await press(pilot, "f9")
        assert talk.sent == [("stop",)]
        talk.known[-1] = replace(talk.known[-1], state="completed", stop="cancelled", answer="She waits.")
        panel(pilot).changed(TurnChanged(TALK, 3))
        await settled(pilot)
        assert "stopped; the text so far is kept" in text(pilot)
        await pick(pilot, "t3.q")
        await press(pilot, "r")
        assert talk.sent[-1] == ("send", 3)


async def test_a_new_conversation_takes_the_next_letters_as_its_question():
    talk = FakeTalk()
    async with opened(talk) as pilot:
        await press(pilot, "tab")
        assert not panel(pilot).line.has_focus
        await press(pilot, "f3", "enter")
        assert panel(pilot).line.has_focus


async def test_words_that_no_conversation_contains_are_said():
    async with opened(FakeTalk()) as pilot:
        await press(pilot, "f3", "down", "enter", "x", "y", "z", "enter")
        assert "No conversation contains “xyz”." in text(pilot)


async def test_the_level_is_in_sight_and_do_names_what_it_may_change():
    talk = FakeTalk()
    async with opened(talk) as pilot:
        assert "Suggest" in text(pilot)
        await press(pilot, "f7")
        assert isinstance(pilot.app.screen, ChooseScreen)
        pilot.app.screen.query_one(PickList).pick("do-0")
        await press(pilot, "enter")
        assert talk.sent == [("level", "do", Scope("chapter", books.chapter_id(2)))]
        assert "Do: changes chapter 2 at once" in text(pilot)


async def test_a_hostile_answer_is_text():
    talk = FakeTalk()
    talk.known.append(Turn(TALK, 3, HOSTILE, books.NOW, state="failed", stop="error", answer=HOSTILE, error=HOSTILE))
    async with opened(talk) as pilot:
        assert "[b]bold[/b]" in text(pilot) and "\x1b" not in text(pilot) and "\u202e" not in text(pilot)


async def test_what_was_typed_is_there_when_the_panel_is_opened_again():
    talk, typed = FakeTalk(), UnsentQuestion()
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(ConversationScreen(talk.project, TALK, VIEW, typed, pages(talk)))
        await settled(pilot)
        await press(pilot, *"Who", "escape")
        app.push_screen(ConversationScreen(talk.project, TALK, VIEW, typed, pages(talk)))
        await settled(pilot)
        assert app.screen.query_one(Input).value == "Who"


def app_over_project(folder: Path, projects: list[Project], state: Path) -> FlowCabalApp:
    async def opener(folder: Path, read_only: bool) -> Project:
        projects.append(await Project.open(folder, read_only=read_only, knowledge=False, pace=0.0))
        return projects[-1]

    talk = replace(invented_access("en"), opener=opener)
    settings = ScreenSettings(language="en", wizard_done=True)
    return FlowCabalApp(talk, settings, path=folder, state_folder=state, clock=lambda: books.NOW)


async def test_a_question_beside_the_workspace_is_answered_and_its_place_opens_the_chapter(tmp_path: Path):
    folder = await book(tmp_path / "novel")
    opened_projects: list[Project] = []
    app = app_over_project(folder, opened_projects, tmp_path)
    try:
        async with app.run_test(size=(140, 40)) as pilot:
            await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen) and not app.screen.is_opening)
            await settled(pilot)
            await pilot.press("ctrl+backslash")
            await until(pilot, lambda: isinstance(app.screen, ConversationScreen) and app.screen.query(QuestionLine))
            await until(pilot, lambda: isinstance(app.screen, ConversationScreen) and app.screen.question.offers)
            await until(pilot, lambda: "Chapters" in "\n".join(shown(app)))  # beside, not instead
            for key in "ledger":
                await pilot.press(key)
            await pilot.press("enter")
            talk = app.screen
            assert isinstance(talk, ConversationScreen)
            await until(pilot, lambda: any(row.places for row in talk.rows.listed))
            await pilot.press("tab")
            talk.rows.pick(next(row.id for row in talk.rows.listed if row.places))
            await pilot.press("enter")
            await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen) and app.screen.view.position == 2)
            assert "ledger" in app.screen.query_one(ManuscriptPane).text
            await pilot.press("ctrl+backslash")
            await until(pilot, lambda: isinstance(app.screen, ConversationScreen))
            await pilot.press("ctrl+backslash")
            await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen) and not app.screen.is_opening)
    finally:
        for project in opened_projects:
            await project.close()
