from __future__ import annotations

from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Input

from flowcabal_tui.tui.widgets.clipboard import CopyText
from flowcabal_tui.tui.widgets.stream_view import StreamView

CHAPTER = "\n".join(f"第{number}段，雨落在院子里。" for number in range(100))


class Reader(App[None]):
    """One stream, and what it posted."""

    def __init__(self, text: str = "", follow_step: int = 1) -> None:
        super().__init__()
        self.stream = StreamView(text, follow_step=follow_step)
        self.copied: list[str] = []

    def compose(self) -> ComposeResult:
        yield self.stream

    def on_copy_text(self, message: CopyText) -> None:
        self.copied.append(message.content)


def shown(app: Reader) -> list[str]:
    return [app.stream.render_line(y).text.rstrip() for y in range(app.stream.size.height)]


def watch_painting(app: Reader) -> list[int]:
    """Rows that are rendered from here on."""
    painted: list[int] = []
    render = app.stream.render_line

    def record(y: int) -> object:
        painted.append(y)
        return render(y)

    app.stream.render_line = record  # type: ignore[method-assign, assignment]  # a spy on this one view
    return painted


async def settled(pilot: Pilot[None]) -> None:
    await pilot.pause()
    await pilot.pause()


async def test_it_follows_the_end_until_the_reader_scrolls_away_and_again_when_they_return() -> None:
    app = Reader()
    async with app.run_test(size=(40, 10)) as pilot:
        app.stream.focus()
        app.stream.append(CHAPTER)
        await settled(pilot)
        assert shown(app)[-1] == "第99段，雨落在院子里。"
        await pilot.press("k", "k")
        app.stream.append("\n新的一行")
        await settled(pilot)
        assert shown(app)[-1] == "第97段，雨落在院子里。"
        await pilot.press("G")
        app.stream.append("\n又一行")
        await settled(pilot)
        assert shown(app)[-1] == "又一行"
        await pilot.press("g")
        assert shown(app)[0] == "第0段，雨落在院子里。"


async def test_only_the_tail_is_painted_while_nothing_scrolls() -> None:
    app = Reader("一\n二\n三")
    async with app.run_test(size=(40, 10)) as pilot:
        await settled(pilot)
        painted = watch_painting(app)
        app.stream.append("四")
        await settled(pilot)
        assert set(painted) == {2}
        app.stream.append("\n五")
        await settled(pilot)
        assert set(painted) == {2, 3}


async def test_nothing_is_painted_for_text_that_arrives_below_what_is_read() -> None:
    app = Reader(CHAPTER)
    async with app.run_test(size=(40, 10)) as pilot:
        app.stream.action_top()
        await settled(pilot)
        painted = watch_painting(app)
        app.stream.append("\n很长的新段落" * 10)
        await settled(pilot)
        assert painted == []


async def test_over_a_slow_line_the_view_moves_by_several_rows_at_once() -> None:
    app = Reader(follow_step=4)
    async with app.run_test(size=(40, 10)) as pilot:
        moves = set()
        for number in range(50):
            app.stream.append(f"{number}\n")
            await pilot.pause()
            moves.add(app.stream.scroll_offset.y)
        assert moves == set(range(0, 45, 4))
        assert "49" in shown(app)


async def test_a_new_width_keeps_the_words_that_were_at_the_top() -> None:
    app = Reader("\n".join(f"{number} " + "雨落在院子里。" * 8 for number in range(60)))
    async with app.run_test(size=(60, 10)) as pilot:
        app.stream.scroll_to_offset(app.stream.text.index("\n40 ") + 1)
        await settled(pilot)
        top = shown(app)[0]
        await pilot.resize_terminal(31, 10)
        await settled(pilot)
        assert top[:4] in shown(app)[0]
        assert "".join(app.stream._prose.rows).replace("\n", "") == app.stream.text.replace("\n", "")


async def test_thinking_is_shown_apart_and_is_no_part_of_the_text() -> None:
    app = Reader()
    async with app.run_test(size=(40, 10)) as pilot:
        app.stream.append_thinking("先想一想")
        app.stream.append("雨落下来")
        await settled(pilot)
        assert shown(app)[:3] == ["· 先想一想", "", "雨落下来"]
        assert (app.stream.text, app.stream.thinking) == ("雨落下来", "先想一想")


async def test_search_goes_round_and_shows_where_it_is() -> None:
    app = Reader(CHAPTER)
    async with app.run_test(size=(40, 10)) as pilot:
        app.stream.focus()
        app.stream.action_top()
        await pilot.press("slash")
        await settled(pilot)
        app.screen.query_one(Input).value = "第5"
        await pilot.press("enter")
        await settled(pilot)
        assert "第5段，雨落在院子里。" in shown(app)
        await pilot.press("n")
        await settled(pilot)
        assert "第50段，雨落在院子里。" in shown(app)
        await pilot.press("N", "N")
        await settled(pilot)
        assert "第59段，雨落在院子里。" in shown(app)
        row = shown(app).index("第59段，雨落在院子里。")
        current = [piece.text for piece in app.stream.render_line(row) if piece.style and piece.style.reverse]
        assert current == ["第5"]
        assert app.stream.find("没有这话") == 0
        assert app.stream.next_match() is None


async def test_a_cited_span_is_opened_marked_and_copied() -> None:
    app = Reader(CHAPTER)
    async with app.run_test(size=(40, 10)) as pilot:
        app.stream.focus()
        start = app.stream.text.index("第70段")
        app.stream.highlight(start, start + 4)
        app.stream.scroll_to_offset(start)
        await settled(pilot)
        row = shown(app).index("第70段，雨落在院子里。")
        marked = [piece.text for piece in app.stream.render_line(row) if piece.style and piece.style.underline]
        assert marked == ["第70段"]
        await pilot.press("y", "v", "j", "y", "escape", "y")
        assert app.copied == ["第70段，"[:4], "第70段，雨落在院子里。\n第71段，雨落在院子里。", CHAPTER]


async def test_hostile_text_is_shown_without_its_escape_sequences_or_markup() -> None:
    app = Reader()
    async with app.run_test(size=(60, 10)) as pilot:
        app.stream.append("\x1b]52;c;aGk=\x07[b]雨[/]\x1b[2J")
        await settled(pilot)
        assert shown(app)[0] == "[b]雨[/]"


async def test_a_million_characters_in_one_paragraph_are_taken_and_scrolled() -> None:
    app = Reader()
    async with app.run_test(size=(80, 24)) as pilot:
        app.stream.append("雨落在院子里。" * 143_000)
        app.stream.append("完")
        await settled(pilot)
        assert app.stream.text.endswith("。完")
        assert [row for row in shown(app) if row][-1].endswith("完")


async def test_rows_fit_inside_padding_and_border_and_the_last_is_seen() -> None:
    app = Reader(CHAPTER + "雨落在院子里。" * 30 + "完")
    app.stream.styles.padding = (1, 2)
    app.stream.styles.border = ("round", "white")
    async with app.run_test(size=(40, 12)) as pilot:
        await settled(pilot)
        lines = [strip.text for strip in app.screen._compositor.render_strips()]
        assert any("完" in line for line in lines)
        assert all(line.startswith("│  ") for line in lines[2:-2])
        assert max(cell_len(row) for row in app.stream._prose.rows) <= app.stream.scrollable_content_region.width


async def test_text_that_arrives_while_the_view_is_hidden_is_there_when_it_is_shown() -> None:
    app = Reader()
    async with app.run_test(size=(40, 10)) as pilot:
        app.stream.display = False
        await settled(pilot)
        app.stream.append(CHAPTER)
        await settled(pilot)
        app.stream.display = True
        await settled(pilot)
        assert shown(app)[-1] == "第99段，雨落在院子里。"
