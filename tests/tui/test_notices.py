"""Notices: whole in every language, over no text, one after another, and again in a list."""

from __future__ import annotations

from datetime import datetime

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from flowcabal_tui.locale import use_language
from flowcabal_tui.project.words import skipped_words
from flowcabal_tui.protocol.base import Status
from flowcabal_tui.protocol.book import ImportProgress
from flowcabal_tui.tui.app.notices_screen import NoticesScreen
from flowcabal_tui.tui.app.themes import OURS
from flowcabal_tui.tui.shared import notices
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.notices import LISTED, NOTICE_SECONDS, WARNED_SECONDS, Notice, Notices, reading_seconds
from flowcabal_tui.tui.shared.prose_form import ProseScreen
from flowcabal_tui.tui.widgets.cells import cell_width
from flowcabal_tui.tui.widgets.notice_row import NoticeRow
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_workspace import PANE_IDS, app_over, screen_of, settled, told, until, workspace

REFUSED = "这一段不接受：与第三章的人物档案矛盾。"
SIZES = [(60, 16), (80, 24), (81, 25), (100, 30), (101, 31), (133, 40), (140, 41)]


@pytest.fixture
def lasting(monkeypatch):
    """A notice stays until it is withdrawn, on a slow machine too."""
    monkeypatch.setattr(notices, "NOTICE_SECONDS", 36_000.0)
    monkeypatch.setattr(notices, "WARNED_SECONDS", 36_000.0)


def notice(words: str, severity: str = "information") -> Notice:
    return Notice(words, "", severity, datetime(2026, 11, 21, 9, 41))


def row_of(pilot: Pilot[int]) -> NoticeRow:
    return pilot.app.screen.query_one(NoticeRow)


@pytest.mark.usefixtures("lasting")
@pytest.mark.parametrize("size", SIZES)
async def test_wide_characters_of_a_notice_are_whole_at_every_width_and_in_every_pane(tmp_path, size):
    async with workspace(FakeProject("zh"), tmp_path, size) as pilot:
        pilot.app.notify(REFUSED)
        await settled(pilot)
        for digit in "1234567":
            await pilot.press(digit)
            await settled(pilot)
            (row,) = [row for row in shown(pilot.app) if REFUSED in row]
            assert cell_width(row) == size[0]
            region = row_of(pilot).region
            assert shown(pilot.app)[region.y] == row
            panes = [screen_of(pilot).query_one(f"#{pane}").region for pane in PANE_IDS]
            assert not any(region.overlaps(pane) for pane in panes if pane.area)
            assert region.bottom <= screen_of(pilot).status.region.y


@pytest.mark.usefixtures("lasting")
@pytest.mark.parametrize("size", [(80, 24), (81, 25), (140, 41)])
async def test_a_notice_moves_no_pane_and_leaves_the_row_when_it_is_over(tmp_path, size):
    async with workspace(FakeProject("zh"), tmp_path, size) as pilot:
        await pilot.press("3")
        await settled(pilot)
        before = shown(pilot.app)
        pilot.app.notify(REFUSED)
        await settled(pilot)
        y = row_of(pilot).region.y
        assert [row for number, row in enumerate(shown(pilot.app)) if number != y] == before[:y] + before[y + 1 :]
        pilot.app.announcer.withdraw(REFUSED)
        await settled(pilot)
        assert shown(pilot.app) == before


@pytest.mark.usefixtures("lasting")
@pytest.mark.parametrize("size", [(80, 24), (101, 31)])
async def test_on_a_page_over_the_panes_the_row_takes_its_place_and_covers_nothing_that_is_typed(tmp_path, size):
    async with workspace(FakeProject("zh"), tmp_path, size) as pilot:
        page = ProseScreen("Outline", "\n".join(f"第{n}行" for n in range(60)), "")
        pilot.app.push_screen(page)
        await settled(pilot)
        area = page.query_one(TextArea)
        area.focus()
        area.move_cursor(area.document.end)
        await settled(pilot)
        await pilot.press("甲")
        pilot.app.notify(REFUSED, severity="warning")
        await settled(pilot)
        assert any(row.startswith(f" ! {REFUSED}") for row in shown(pilot.app))
        assert any("第59行甲" in row for row in shown(pilot.app)), "the line with the cursor is in sight"
        assert not row_of(pilot).region.overlaps(area.region)


@pytest.mark.usefixtures("lasting")
@pytest.mark.parametrize("theme", [*OURS, ""])
async def test_a_notice_differs_from_the_text_above_it_in_every_theme_and_without_colour(tmp_path, monkeypatch, theme):
    if not theme:
        monkeypatch.setenv("NO_COLOR", "1")
    async with workspace(FakeProject("zh"), tmp_path, (80, 24)) as pilot:
        pilot.app.looks.load()
        pilot.app.looks.use(theme)
        pilot.app.notify(REFUSED)
        await pilot.press("3")
        await settled(pilot)
        y = row_of(pilot).region.y
        rows = pilot.app.screen._compositor.render_strips(pilot.app.size)
        above, told = (
            {(each.style.bgcolor, bool(each.style.reverse)) for row in some for each in row if each.text.strip()}
            for some in (rows[1:y], rows[y : y + 1])
        )
        assert above and not above & told
        assert rows[y].text.startswith(f" » {REFUSED}")


@pytest.mark.usefixtures("lasting")
@pytest.mark.parametrize("page", [lambda: PromptLine("问"), lambda: ChooseScreen("选", (("a", "甲"),))])
async def test_over_a_dialog_the_notice_is_whole_too_and_not_shown_twice(tmp_path, page):
    async with workspace(FakeProject("zh"), tmp_path, (80, 24)) as pilot:
        pilot.app.notify(REFUSED)
        pilot.app.push_screen(page())
        await settled(pilot)
        assert len([row for row in shown(pilot.app) if REFUSED in row]) == 1
        await pilot.press("escape")
        await settled(pilot)
        assert len([row for row in shown(pilot.app) if REFUSED in row]) == 1


async def test_a_notice_that_comes_while_the_application_closes_is_listed_and_not_shown(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        announcer = pilot.app.announcer
    announcer.say("Too late.", "", "information")
    announcer.hold("model", "waiting")
    assert announcer.notices.listed[-1].words == "Too late."


@pytest.mark.usefixtures("lasting")
async def test_that_nothing_waits_is_withdrawn_when_a_decision_arrives(tmp_path, monkeypatch):
    monkeypatch.setattr(notices, "reading_seconds", lambda _words: 36_000.0)
    project = FakeProject()
    question = project.waiting.pop()
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: "Nothing is waiting for you" in str(row_of(pilot).render()))
        project.ask(question)
        await until(pilot, lambda: "Nothing is waiting for you" not in "\n".join(shown(pilot.app)))


async def test_the_key_that_copies_says_in_plain_words_which_key_quits(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        await pilot.press("ctrl+c")
        await settled(pilot)
        (said,) = pilot.app.announcer.notices.listed
        assert (said.words, said.title) == ("`Ctrl+q` closes the program; Ctrl+C only copies selected text.", "")


async def test_a_notice_is_shown_on_the_start_page(tmp_path):
    app = app_over(FakeProject(), tmp_path)
    app._first_path = None
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        app.notify(REFUSED)
        await settled(pilot)
        assert any(REFUSED in row for row in shown(app))


async def test_a_second_notice_waits_until_the_first_was_read_and_the_row_says_so(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        pilot.app.notify("First.")
        pilot.app.notify("Second.")
        await settled(pilot)
        assert "First." in row_of(pilot).words
        assert row_of(pilot).words.endswith("+1")
        await until(pilot, lambda: "Second." in row_of(pilot).words)
        await until(pilot, lambda: row_of(pilot).words == "")


async def test_all_notices_are_read_again_with_one_key(tmp_path):
    async with workspace(FakeProject(), tmp_path) as pilot:
        pilot.app.notify("First.")
        pilot.app.notify("[b]Second.[/b]\x1b[31m", title="About it", severity="warning")
        await pilot.press("3", "ctrl+b")
        await settled(pilot)
        assert isinstance(pilot.app.screen, NoticesScreen)
        rows = [row.strip() for row in shown(pilot.app)]
        assert rows[1:3] == ["09:41:00  ! About it: [b]Second.[/b]", "09:41:00  First."]
        await pilot.press("ctrl+b", "escape")
        await settled(pilot)
        assert pilot.app.screen is screen_of(pilot)


@pytest.mark.parametrize(
    ("title", "line"), [("运行停止", "运行停止：没有钱了。"), ("运行停止。", "运行停止。没有钱了。")]
)
def test_no_colon_follows_the_end_of_a_sentence(title: str, line: str) -> None:
    use_language("zh")
    assert Notice("没有钱了。", title, "information", datetime.min).line == line


@pytest.mark.parametrize(
    "sentences", [["这段文字对防止后文出错帮助不大。", "以后很少会再用到它。"], ["It is kept. ", "Undo it with U."]]
)
def test_a_row_of_a_notice_ends_with_a_sentence_if_one_fits(sentences: list[str]) -> None:
    notices, width = Notices(), cell_width("".join(sentences)) - 2
    notices.say(notice("".join(sentences)))
    for sentence in sentences:
        notices.advance(width)
        assert notices.row == sentence.strip()


def test_a_long_notice_is_shown_row_by_row_and_each_row_as_long_as_reading_takes():
    notices = Notices()
    words = "".join(f"第{n}章与人物档案矛盾，" for n in range(12))
    notices.say(notice(words))
    rows = []
    notices.advance(40)
    while notices.shown is not None:
        rows.append(notices.row)
        least, usual = notices.seconds
        assert least == reading_seconds(notices.row)
        assert usual >= max(least, NOTICE_SECONDS)
        notices.advance(40)
    assert "".join(rows) == words
    assert all(cell_width(row) <= 40 for row in rows)


def test_a_warning_stays_longer_and_the_same_words_are_said_once_but_listed_each_time():
    notices = Notices()
    for _time in range(3):
        notices.say(notice("Nothing is running."))
    notices.advance(80)
    notices.say(notice("Nothing is running."))
    assert (notices.left, len(notices.listed)) == (0, 4)
    notices.say(notice("The disk is full.", "error"))
    notices.advance(80)
    assert notices.row == "! The disk is full."
    assert notices.seconds[1] == WARNED_SECONDS


def test_what_waits_and_what_is_listed_are_bounded():
    notices = Notices()
    for number in range(2 * LISTED):
        notices.say(notice(str(number)))
    assert len(notices.listed) == LISTED
    assert notices.left == 20


def test_what_goes_on_is_shown_while_no_notice_is():
    notices = Notices()
    notices.hold("preparing", "The run is being prepared ...")
    notices.say(notice("Saved."))
    notices.advance(80)
    assert notices.row == "Saved."
    notices.advance(80)
    assert notices.row == "The run is being prepared ..."
    notices.hold("preparing", "")
    assert notices.row == ""


def test_a_notice_that_is_no_longer_so_is_not_shown():
    notices = Notices()
    for words in ("One.", "Two.", "Three."):
        notices.say(notice(words))
    notices.withdraw("Two.")
    notices.advance(80)
    notices.advance(80)
    assert notices.row == "Three."


def test_a_chinese_notice_has_full_width_marks_and_no_blank_between_sentences():
    use_language("zh_CN")
    said = Notice("没有任何改动。 请改正后再试。", "建议", "warning", datetime(2026, 1, 1))
    assert said.line == "! 建议：没有任何改动。请改正后再试。"


async def test_the_end_of_an_import_is_a_sentence_with_its_warnings_if_any(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await told(pilot, project, ImportProgress(30, 30), ImportProgress(30, 30, ("Chapter 4 is empty.",)))
        listed = [each.line for each in pilot.app.announcer.notices.listed]
        assert listed == ["30 of 30 chapters imported.", "30 of 30 chapters imported: Chapter 4 is empty."]


def test_a_row_does_not_end_inside_a_command() -> None:
    queue = Notices()
    words = "There is no server yet. Run `flowcabal-tui knowledge install` first, then open the book."
    queue.say(Notice(words, "", "information", datetime(2026, 1, 1)))
    rows = []
    for _row in range(9):
        queue.advance(44)
        rows.append(queue.row)
    assert " ".join(rows).split() == words.split()
    assert all(row.count("`") in (0, 2) for row in rows)


async def test_what_the_project_reports_is_in_the_list_of_notices(tmp_path):
    project = FakeProject()
    async with workspace(project, tmp_path) as pilot:
        await told(pilot, project, Status("error", skipped_words("comments", 2)))
        assert "2 entries cannot be read" in pilot.app.announcer.notices.listed[-1].words
