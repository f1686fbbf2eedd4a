from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.app import ComposeResult
from textual.document import _wrapped_document
from textual.document._document import Document
from textual.document._wrapped_document import WrappedDocument
from textual.events import Paste
from textual.widgets import Input, TextArea

from flowcabal_tui.domain.text import clean
from flowcabal_tui.tui.widgets.prose_area import ProseArea
from flowcabal_tui.tui.widgets.prose_document import ProseDocument, ProseLines, wrap_offsets
from flowcabal_tui.tui.widgets.prose_wrap import wrap
from tests.tui.widgets.fake_terminal import Cell, PaintedApp

LINES = st.text(alphabet="雨門aB \t，\u0301\u3000\u200d❤\ufe0f", max_size=60)


@pytest.fixture(autouse=True, scope="module")
def stock_rows() -> Iterator[None]:
    """The stock editor breaks rows as ours does, so that everything else can be compared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            _wrapped_document, "compute_wrap_offsets", lambda line, width, *_a, **_k: wrap_offsets(line, width)
        )
        yield


class EditorApp(PaintedApp):
    """An editor and another field to go to, and what the editor reported."""

    def __init__(self, area: TextArea) -> None:
        super().__init__()
        self.area = area
        self.edited: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.area
        yield Input()

    def on_prose_area_edited(self, message: ProseArea.Edited) -> None:
        self.edited.append(message.text)


def stock(text: str, *, line_shown: bool = False) -> TextArea:
    area = TextArea(text, highlight_cursor_line=line_shown)
    area.match_cursor_bracket = False
    area.cursor_blink = False
    return area


def prose(text: str, *, edit_delay: float = 3600, line_shown: bool = False) -> ProseArea:
    area = ProseArea(text, edit_delay=edit_delay)
    area.highlight_cursor_line = line_shown
    area.cursor_blink = False
    return area


async def painted(area: TextArea, keys: list[str]) -> list[dict[tuple[int, int], Cell]]:
    """What stands on the terminal after each key."""
    area.history.checkpoint_timer = float("inf")  # a step of undo ends by what is typed, not by the clock
    app = EditorApp(area)
    frames = []
    async with app.run_test(size=(46, 16)) as pilot:
        area.focus()
        for _turn in range(4):
            await pilot.pause()
        for key in keys:
            await app.type_key(pilot, key)
            frames.append(dict(app.terminal.cells))
    return frames


TEXT = (
    "第一章\n她推开门，雨正落在院子里。「你怎么来了？」他问。\n\n"
    + "The rain fell, 落在院子里。" * 12
    + "\n\t缩进\tabc\ne\u0301té 한국어 日本語\n"
)
SCRIPT = [
    *["down"] * 3, *"走abc", "end", *"了。", "enter", *"x门", "backspace", "backspace", "backspace", "delete",
    "home", "shift+right", "shift+right", "shift+down", "shift+down", "delete", *"雨" * 25, "up", "left", *"wide 宽 ",
    "ctrl+z", "ctrl+z", "ctrl+y", "pagedown", *"末尾", "enter", "enter", "tab",
    "shift+tab", "home", "ctrl+k", "ctrl+k", "ctrl+w", "f7", "a", "ctrl+z", "shift+up", "b", "pageup", "down",
    "down", "down", "end", *"很长的一段话" * 10, "ctrl+shift+k", "ctrl+x", "ctrl+v", "ctrl+u",
]  # fmt: skip


@pytest.mark.parametrize("line_shown", [False, True])
async def test_the_screen_is_the_same_as_the_stock_editor_after_every_key(line_shown: bool) -> None:
    ours = await painted(prose(TEXT, line_shown=line_shown), SCRIPT)
    theirs = await painted(stock(TEXT, line_shown=line_shown), SCRIPT)
    for number, (mine, reference) in enumerate(zip(ours, theirs, strict=True)):
        differing = {at: (mine.get(at), cell) for at, cell in reference.items() if mine.get(at) != cell}
        assert not differing, f"after key {number} ({SCRIPT[number]})"


@pytest.mark.parametrize("seed", range(4))
async def test_the_screen_is_the_same_after_random_keys(seed: int) -> None:
    chance = random.Random(seed)
    pool = [*"雨a 。", "enter", "backspace", "delete", "up", "down", "left", "right", "home", "end"]
    pool += ["shift+left", "shift+down", "ctrl+z", "ctrl+y", "pagedown", "pageup", "ctrl+w", "ctrl+right", "ctrl+x"]
    keys = chance.choices(pool, k=150)
    ours = await painted(prose(TEXT, line_shown=seed % 2 == 0), keys)
    theirs = await painted(stock(TEXT, line_shown=seed % 2 == 0), keys)
    for number, (mine, reference) in enumerate(zip(ours, theirs, strict=True)):
        differing = {at: (mine.get(at), cell) for at, cell in reference.items() if mine.get(at) != cell}
        assert not differing, f"after key {number} ({keys[number]})"


@pytest.mark.parametrize("paragraph", ["她推开门，雨正落在院子里。" * 20, "The rain fell on the yard. " * 30])
async def test_a_key_sends_at_most_five_hundred_bytes(paragraph: str) -> None:
    app = EditorApp(prose("\n".join([paragraph] * 30)))
    async with app.run_test(size=(160, 48)) as pilot:
        app.area.focus()
        app.area.move_cursor((2, 150))
        for _turn in range(4):
            await pilot.pause()
        counts = []
        for key in "abcdefgh":
            app.terminal.received = 0
            await app.type_key(pilot, key)
            counts.append(app.terminal.received)
        app.area.move_cursor((2, len(app.area.document[2])))
        await pilot.pause()
        at_end = []
        for key in "的一是了不在有人":
            app.terminal.received = 0
            await app.type_key(pilot, key)
            at_end.append(app.terminal.received)
    assert sorted(at_end)[4] <= 500, at_end
    assert sorted(counts)[4] <= 1500, counts


@settings(max_examples=400)
@given(LINES.filter(lambda line: "\ufe0f" not in line), st.sampled_from([0, *range(2, 31)]))
def test_rows_break_where_they_break_in_the_reading_view(line: str, width: int) -> None:
    rows = [line[start:end] for start, end in pairwise([0, *wrap_offsets(line, width), len(line)])]
    assert rows == (wrap(line, width) if width else [line])


def test_an_indented_paragraph_keeps_its_first_words_beside_the_indent() -> None:
    line = "　　" + "她推开门，雨正落在院子里。「你怎么来了？」他问。" * 4
    for width in range(8, 40):
        rows = [line[start:end] for start, end in pairwise([0, *wrap_offsets(line, width), len(line)])]
        assert rows[0].strip()
        assert not [row for row in rows[1:] if row[0] in "，。」？"]
        assert not [row for row in rows[:-1] if row[-1] == "「"]


EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0, 1), st.sampled_from(["", "雨", "a b", "x\ny", "\n\n", "长" * 30]))
)


@given(st.lists(LINES, min_size=1, max_size=6), EDITS)
def test_wrapping_an_edited_range_is_wrapping_anew(lines: list[str], edits: list[tuple[float, float, str]]) -> None:
    document = ProseLines("\n".join(lines))
    reference = Document("\n".join(lines))
    wrapped = ProseDocument(document, 17)
    for one, other, words in edits:
        length = len(document.text)
        ends = sorted(document.get_location_from_index(int(part * length)) for part in (one, other))
        change = document.replace_range(ends[0], ends[1], words)
        assert change == reference.replace_range(ends[0], ends[1], words)
        wrapped.wrap_range(ends[0], ends[1], change.end_location)
    assert document.lines == reference.lines
    anew = WrappedDocument(document, 17)
    assert wrapped._wrap_offsets == anew._wrap_offsets
    assert wrapped._offset_to_line_info == anew._offset_to_line_info
    assert wrapped._line_index_to_offsets == anew._line_index_to_offsets
    assert wrapped.height == anew.height
    for line in range(document.line_count):
        assert wrapped.get_sections(line) == anew.get_sections(line)
        for column in range(len(document[line]) + 1):
            assert wrapped.location_to_offset((line, column)) == anew.location_to_offset((line, column))
        for section in range(-1, len(anew.get_offsets(line)) + 1):
            expected = anew.get_target_document_column(line, 5, section)
            assert wrapped.get_target_document_column(line, 5, section) == expected


async def test_edited_is_posted_once_typing_stops() -> None:
    app = EditorApp(prose("雨", edit_delay=0.01))
    async with app.run_test() as pilot:
        app.area.focus()
        await pilot.press("end", "落", "下")
        while not app.edited:
            await pilot.pause(0.01)
        assert app.edited[-1] == "雨落下"


async def test_edited_is_posted_at_once_when_the_focus_goes_and_not_twice() -> None:
    app = EditorApp(prose("雨"))
    async with app.run_test() as pilot:
        app.area.focus()
        await pilot.press("end", "落")
        assert app.edited == []
        await pilot.press("tab")
        await pilot.pause()
        assert app.edited == ["雨落"]
        app.area.focus()
        await pilot.press("tab")
        assert app.edited == ["雨落"]


async def test_loading_a_text_reports_nothing() -> None:
    app = EditorApp(prose("雨"))
    async with app.run_test() as pilot:
        app.area.focus()
        await pilot.press("a")
        app.area.load_text("另一章")
        await pilot.press("tab")
        await pilot.pause()
        assert app.edited == []


async def test_spans_are_offsets_and_a_replacement_is_one_step_of_undo() -> None:
    text = "第一行\n第二行\n\n第四行"
    area = prose(text)
    app = EditorApp(area)
    async with app.run_test() as pilot:
        for offset in range(len(text) + 1):
            assert area.document_offset(area.offset_location(offset)) == offset
        assert area.offset_location(999) == (3, 3)
        area.select_span(4, 9)
        await pilot.pause()
        assert (area.selected_span, area.selected_text) == ((4, 9), text[4:9])
        area.focus()
        await pilot.press("backspace")
        area.replace_span(0, 3, "新的\x1b[31m一行\n又一行")
        assert area.text == "新的一行\n又一行\n第四行"
        area.undo()
        assert area.text == "第一行\n第四行"
        area.undo()
        assert area.text == text


async def test_what_is_pasted_is_cleaned_and_put_in_once() -> None:
    app = EditorApp(prose(""))
    async with app.run_test() as pilot:
        app.area.focus()
        await pilot.pause()
        app.post_message(Paste("雨\x1b[2J落\r\n下\u202e"))
        await pilot.pause()
        assert app.area.text == "雨落\n下"


@pytest.mark.parametrize("keys", [["ctrl+z"], ["ctrl+z", "ctrl+y", "ctrl+z"], ["f7", "delete"], ["f7", "x"]])
async def test_a_text_longer_than_the_screen_disappears_in_one_step(keys: list[str]) -> None:
    app = EditorApp(prose(""))
    async with app.run_test(size=(40, 10)) as pilot:
        app.area.focus()
        await pilot.pause()
        app.post_message(Paste("雨落在院子里。\n" * 60))
        await pilot.pause()
        assert app.area.show_vertical_scrollbar
        await pilot.press(*keys)
        await pilot.pause()
        assert len(app.area.text) <= 1 and not app.area.show_vertical_scrollbar
        assert app.area.scroll_offset.y == 0


@pytest.mark.parametrize("size", [(20, 10), (40, 8)])
async def test_the_cursor_stays_in_view_when_the_text_is_wrapped_for_another_size(size: tuple[int, int]) -> None:
    app = EditorApp(prose("雨落在院子里，一直没有停。她坐在窗前等到天黑。\n" * 30))
    async with app.run_test(size=(40, 10)) as pilot:
        app.area.focus()
        await pilot.press("ctrl+end")
        await pilot.resize_terminal(*size)
        for _turn in range(4):
            await pilot.pause()
        row = app.area.wrapped_document.location_to_offset(app.area.cursor_location).y
        assert 0 <= row - app.area.scroll_offset.y < app.area.size.height


async def test_search_goes_round() -> None:
    area = prose("Rain 雨 rain\n雨 RAIN")
    app = EditorApp(area)
    async with app.run_test():
        assert area.find("rain") == 3
        spans: list[Any] = [area.selected_span]
        for _turn in range(3):
            area.next_match()
            spans.append(area.selected_span)
        assert [start for start, _end in spans] == [0, 7, 14, 0]
        assert area.find("没有") == 0


def test_the_cursor_does_not_blink_over_ssh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    assert ProseArea().cursor_blink is False
    monkeypatch.delenv("SSH_CONNECTION")
    assert ProseArea().cursor_blink is True


async def test_a_paragraph_of_a_hundred_thousand_characters_loses_nothing() -> None:
    text = "雨落在院子里，" * 15_000
    area = prose(text)
    app = EditorApp(area)
    async with app.run_test(size=(100, 30)) as pilot:
        area.focus()
        for key in ("ctrl+end", "。", "up", "home", "x"):
            await app.type_key(pilot, key)
        written = area.text
        assert len(written) == len(text) + 2
        assert written.replace("x", "")[:-1] == text


async def test_a_new_theme_and_a_new_size_show_as_in_the_stock_editor() -> None:
    frames = []
    for area in (prose(TEXT), stock(TEXT)):
        app = EditorApp(area)
        async with app.run_test(size=(46, 16)) as pilot:
            area.focus()
            for key in ("down", "shift+down", "x", "雨"):
                await app.type_key(pilot, key)
            app.theme = "textual-light"
            for _turn in range(4):
                await pilot.pause()
            await app.type_key(pilot, "a")
            await pilot.resize_terminal(30, 12)
            for _turn in range(4):
                await pilot.pause()
            await app.type_key(pilot, "b")
            strips = app.screen._compositor.render_strips()
            frames.append([[(piece.text, piece.style) for piece in strip.simplify()] for strip in strips])
    assert frames[0] == frames[1]


async def test_the_editor_can_be_read_only_and_still_be_walked_and_copied_from() -> None:
    area = ProseArea("雨落\n下来", read_only=True)
    app = EditorApp(area)
    async with app.run_test() as pilot:
        area.focus()
        for key in ("x", "down", "shift+end", "ctrl+c", "ctrl+v", "delete"):
            await app.type_key(pilot, key)
        assert (area.text, app.clipboard) == ("雨落\n下来", "下来")


@pytest.mark.parametrize("text", ["一\u2028二\u2029三", "尾\n", "", "\n\n", "a\u0085b"])
async def test_a_text_that_is_opened_and_left_alone_comes_back_as_it_was(text: str) -> None:
    area = prose(text)
    app = EditorApp(area)
    async with app.run_test() as pilot:
        area.focus()
        kept = clean(text)
        assert area.text == kept
        for key in ("ctrl+end", "x", "backspace", "enter", "backspace"):
            await app.type_key(pilot, key)
        assert area.text == kept


async def test_deleting_the_last_line_leaves_the_others_in_place() -> None:
    area = prose("一\n二\n三")
    app = EditorApp(area)
    async with app.run_test() as pilot:
        area.focus()
        for key in ("ctrl+end", "ctrl+shift+k", "ctrl+shift+k", "ctrl+z"):
            await app.type_key(pilot, key)
        assert area.text.startswith("一\n二")
        assert area.wrapped_document.height == area.document.line_count


class Waiting:
    """A timer that rings when the test says so."""

    def __init__(self, delay: float, ring: Callable[[], object]) -> None:
        self.delay, self.ring, self.is_stopped = delay, ring, False

    def stop(self) -> None:
        self.is_stopped = True


async def test_steady_typing_is_reported_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    area, timers = prose(""), list[Waiting]()
    app = EditorApp(area)
    async with app.run_test() as pilot:
        area.focus()
        await pilot.pause()

        def set_timer(delay: float, ring: Callable[[], object]) -> Waiting:
            timers.append(Waiting(delay, ring))
            return timers[-1]

        monkeypatch.setattr(area, "set_timer", set_timer)
        await pilot.press(*"abcd")
        left = [timer for timer in timers if not timer.is_stopped]
        assert sorted(timer.delay / 3600 for timer in left) == [1, 3], "a pause, and the most that typing may go on"
        max(left, key=lambda timer: timer.delay).ring()
        await pilot.pause()
        assert app.edited == ["abcd"] and all(timer.is_stopped for timer in timers)
        await pilot.press("e")
        assert len([timer for timer in timers if not timer.is_stopped]) == 2
