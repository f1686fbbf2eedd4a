"""Keys that come in one read of the terminal do what they would do one by one."""

from __future__ import annotations

import asyncio
import random
from typing import Any, ClassVar

import pytest
from textual._xterm_parser import XTermParser
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Event, Key, Paste
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input, TextArea

from flowcabal_tui.tui.app import key_order
from flowcabal_tui.tui.app.command_runner import CommandRunner
from flowcabal_tui.tui.app.commands import PaletteCommand
from flowcabal_tui.tui.app.home import HomeScreen
from flowcabal_tui.tui.app.key_order import KeyOrder
from flowcabal_tui.tui.app.new_project import NewProjectScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.workflows.block_editor import BlockEditor
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import Host
from tests.tui.test_app import app_at_home
from tests.tui.test_workspace import workspace
from tests.tui.waiting import until
from tests.waiting import soon

BACKSPACE, DELETE, LEFT, RIGHT, HOME, END = "\x7f", "\x1b[3~", "\x1b[D", "\x1b[C", "\x1b[H", "\x1b[F"
ENTER, ASK, ASK_LATER, TAKE_AWAY, NOTE, FIND = "\r", "\x07", "\x14", "\x12", "\x02", "\x06"
SEED = 20261121


class AskingHost(Host):
    """A widget in an app that can ask for a line, at once or from a worker, note the text, and take the widget away."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+g", "ask"),
        Binding("ctrl+t", "ask_later"),
        Binding("ctrl+r", "take_away"),
        Binding("ctrl+b", "note", priority=True),
    ]

    def __init__(self, pane: Widget) -> None:
        super().__init__(pane)
        self.answers: list[str | None] = []

    def action_ask(self) -> None:
        self.push_screen(PromptLine("Which?"), self.answers.append)

    def action_ask_later(self) -> None:
        async def ask() -> None:
            self.answers.append(await self.push_screen_wait(PromptLine("Which?")))

        self.run_worker(ask)

    def action_note(self) -> None:
        self.answers.append(text_in(self.focused or self.screen))

    def action_take_away(self) -> None:
        (self.focused or self.screen).remove()
        self.mount(Input(id="other"))
        self.query_one("#other").focus()


class OrderlyHost(AskingHost):
    """The same with keys in order, as the program has them."""

    def __init__(self, pane: Widget) -> None:
        super().__init__(pane)
        begun = asyncio.Event()
        begun.set()
        self._keys = KeyOrder(self, super().on_event, begun)

    async def on_event(self, event: Event) -> None:
        if isinstance(event, Key | Paste) and not event.is_forwarded:
            await self._keys.take(event)
        else:
            await super().on_event(event)


def send(pilot: Pilot[Any], typed: str) -> None:
    """What the driver does with the bytes of one read."""
    driver = pilot.app._driver
    assert driver is not None
    for event in XTermParser().feed(typed):
        driver.process_message(event)


async def burst(pilot: Pilot[Any], typed: str) -> None:
    """Sends all at once; returns when all of it has been dealt with."""
    send(pilot, typed)
    await pilot.pause()
    await until(pilot, lambda: not pilot.app._keys._is_busy)
    await pilot.pause()


def text_in(widget: Widget) -> str:
    return widget.value if isinstance(widget, Input) else widget.text


MIXED = [
    (f"ab{BACKSPACE}c", "ac"),
    (f"name{BACKSPACE}{BACKSPACE}xy", "naxy"),
    (f"bc{LEFT}{LEFT}a{END}d", "abcd"),
    (f"xab{HOME}{DELETE}z", "zab"),
    (f"ab\x1b[200~ pasted\x1b[201~{BACKSPACE}{BACKSPACE}{LEFT}|", "ab pas|t"),
    (f"长河{BACKSPACE}夜{LEFT}旧", "长旧夜"),
]


@pytest.mark.parametrize(("typed", "expected"), MIXED)
@pytest.mark.parametrize("kind", [Input, TextArea, ProseArea])
async def test_letters_do_not_overtake_the_keys_that_correct_them(kind: type[Widget], typed: str, expected: str):
    app = OrderlyHost(kind())
    async with app.run_test() as pilot:
        await burst(pilot, typed)
        assert text_in(app.query_one(kind)) == expected


async def test_textual_itself_does_not_keep_the_order():
    app = AskingHost(Input())
    async with app.run_test() as pilot:
        send(pilot, f"ab{BACKSPACE}c")
        await until(pilot, lambda: app.query_one(Input).value == "ab")


def typed_by_hand(keys: list[str]) -> str:
    """What a line is after these keys."""
    text, at = "", 0
    for key in keys:
        if key == BACKSPACE:
            text, at = text[: max(at - 1, 0)] + text[at:], max(at - 1, 0)
        elif key == DELETE:
            text = text[:at] + text[at + 1 :]
        elif key in (LEFT, RIGHT):
            at = max(at - 1, 0) if key == LEFT else min(at + 1, len(text))
        elif key in (HOME, END):
            at = 0 if key == HOME else len(text)
        else:
            text, at = text[:at] + key + text[at:], at + 1
    return text


@pytest.mark.parametrize("kind", [Input, ProseArea])
async def test_three_hundred_keys_at_once_leave_what_one_by_one_they_would(kind: type[Widget]):
    chance = random.Random(SEED)
    keys = [chance.choice([*"abcdefgh", BACKSPACE, DELETE, LEFT, RIGHT, HOME, END]) for _key in range(300)]
    app = OrderlyHost(kind())
    async with app.run_test(size=(300, 10)) as pilot:  # all in one row, for home and end keep to a row
        await burst(pilot, "".join(keys))
        assert text_in(app.query_one(kind)) == typed_by_hand(keys)


@pytest.mark.parametrize("kind", [Input, ProseArea])
async def test_what_is_typed_ahead_goes_into_the_dialog_and_then_back_into_the_text(kind: type[Widget]):
    app = OrderlyHost(kind())
    async with app.run_test() as pilot:
        await burst(pilot, f"ab{ASK}lamx{BACKSPACE}p{ENTER}c{LEFT}d")
        assert app.answers == ["lamp"]
        assert text_in(app.query_one(kind)) == "abdc"


@pytest.mark.parametrize("kind", [Input, ProseArea])
async def test_a_key_that_comes_before_the_focus_finds_what_was_typed_before_it(kind: type[Widget]):
    app = OrderlyHost(kind())
    async with app.run_test() as pilot:
        await burst(pilot, f"ab{NOTE}c\x1b[200~d\x1b[201~{NOTE}{BACKSPACE}{NOTE}")
        assert app.answers == ["ab", "abcd", "abc"]


async def test_one_dialog_after_another_takes_its_own_words():
    app = OrderlyHost(Input())
    async with app.run_test() as pilot:
        await burst(pilot, f"{ASK}one{ENTER}{ASK}two{ENTER}end")
        assert app.answers == ["one", "two"]
        assert app.query_one(Input).value == "end"


async def test_a_dialog_that_a_worker_opens_at_once_takes_its_words_and_its_waiting_holds_no_key_up():
    app = OrderlyHost(Input())
    async with app.run_test() as pilot:
        await burst(pilot, f"a{ASK_LATER}lam{BACKSPACE}mp{ENTER}b")
        assert app.answers == ["lamp"]
        assert app.query_one(Input).value == "ab"


async def test_keys_go_on_when_the_widget_under_them_is_taken_away():
    app = OrderlyHost(Input())
    async with app.run_test() as pilot:
        await burst(pilot, f"ab{TAKE_AWAY}cd{BACKSPACE}e")
        assert [line.value for line in app.query(Input)] == ["ce"]


async def test_a_queue_that_stands_still_holds_the_keys_up_only_for_a_while(monkeypatch):
    monkeypatch.setattr(key_order, "PATIENCE", 0.05)
    typed, go_on = asyncio.Event(), asyncio.Event()

    class Stuck(Input):
        async def key_f2(self, event: Key) -> None:
            event.stop()
            self.app.set_focus(self.screen.query_one("#free"))
            await go_on.wait()

    class TwoLines(OrderlyHost):
        def compose(self) -> ComposeResult:
            yield Stuck()
            yield Input(id="free")

        def on_input_changed(self, event: Input.Changed) -> None:
            if event.value == "abc":
                typed.set()

    async with TwoLines(Input()).run_test() as pilot:
        send(pilot, "\x1bOQabc")
        await soon(typed.wait())  # the pilot itself would wait for the stuck line
        go_on.set()


async def test_in_the_block_editor_the_list_the_text_and_the_search_take_their_keys_in_turn():
    pane = BlockEditor()
    app = OrderlyHost(pane)
    async with app.run_test() as pilot:
        pane.show(books.workflow(books.EN), books.DRAFT, False)
        pane.query_one(PickList).focus()
        await pilot.pause()
        before = pane.query_one(ProseArea).text
        word = before.split()[-1].strip(".")
        await burst(pilot, f"{ENTER}XZ{BACKSPACE}Y {FIND}{word}x{BACKSPACE}{ENTER}")
        area = pane.query_one(ProseArea)
        assert area.text == f"XY {before}"
        assert area.selected_text == word


async def test_in_the_block_editor_a_new_block_takes_the_words_typed_after_its_key():
    pane = BlockEditor()
    app = OrderlyHost(pane)
    async with app.run_test() as pilot:
        pane.show(books.workflow(books.EN), books.DRAFT, False)
        pane.query_one(PickList).focus()
        await pilot.pause()
        await burst(pilot, f"+ab{BACKSPACE}{LEFT}c")
        assert pane.query_one(ProseArea).text == "ca"


async def test_the_program_keeps_the_order_from_one_screen_to_the_next(tmp_path):
    async with app_at_home(tmp_path).run_test(size=(80, 24)) as pilot:
        assert isinstance(pilot.app.screen, HomeScreen)
        await burst(pilot, f"nMy Bok{BACKSPACE}ok{LEFT}o")
        assert isinstance(pilot.app.screen, NewProjectScreen)
        assert pilot.app.screen.query_one("#new-name", Input).value == "My Boook"


async def test_words_typed_ahead_of_a_command_of_the_palette_go_to_its_page(tmp_path, monkeypatch):
    carry_out = CommandRunner.carry_out

    async def later(self: CommandRunner, command: PaletteCommand) -> None:
        for _turn in range(200):
            await asyncio.sleep(0)
        await carry_out(self, command)

    monkeypatch.setattr(CommandRunner, "carry_out", later)
    async with workspace(FakeProject(), tmp_path) as pilot:
        await burst(pilot, f"\x10rename{ENTER}Mara")
        assert isinstance(pilot.app.screen, PromptLine)
        assert pilot.app.screen.query_one(Input).value == "Mara"


@pytest.mark.parametrize(("pause", "answers"), [(float("inf"), []), (-1.0, [True])])
async def test_text_that_is_being_typed_does_not_answer_a_question_that_opens_over_it(monkeypatch, pause, answers):
    monkeypatch.setattr(key_order, "TYPING_PAUSE", pause)
    area = ProseArea()
    async with OrderlyHost(area).run_test() as pilot:
        await pilot.press("t", "h", "e")
        pilot.app.push_screen(ConfirmScreen("Pay?"), pilot.app.answers.append)
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        assert pilot.app.answers == answers
        if not answers:
            await pilot.press("escape")
            await until(pilot, lambda: pilot.app.answers == [False])
        assert area.text == "the"
