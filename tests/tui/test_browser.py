from __future__ import annotations

from dataclasses import replace

import pytest
from textual.pilot import Pilot

from flowcabal_tui.domain.errors import ProjectError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.scenes import ChapterScene
from flowcabal_tui.domain.text import digest
from flowcabal_tui.protocol.book import EditScene
from flowcabal_tui.tui.book.browser import BrowserPlace, BrowserScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.list_detail import DetailText
from flowcabal_tui.tui.widgets.progress import progress_bar
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import Host, shown


class Controller:
    """Into an invented project; what is done with the book is noted."""

    def __init__(self, language: str = "en", *volumes: str) -> None:
        self.project = FakeProject(language)
        rows = self.project.chapter_rows
        volumes = volumes or ("",) * len(rows)
        self.project.chapter_rows = [replace(row, volume=name) for row, name in zip(rows, volumes, strict=True)]
        self.done: list[tuple[object, ...]] = []
        self.book = self.maintenance = self

    async def add(self) -> None:
        self.done.append(("add",))

    async def bring_back(self) -> None:
        self.done.append(("back",))

    async def rename(self, chapter: ChapterId) -> None:
        self.done.append(("rename", chapter))

    async def into_volume(self, chapter: Chapter) -> None:
        self.done.append(("volume", chapter.id))

    async def move(self, chapter: ChapterId, delta: int) -> None:
        self.done.append(("move", chapter, delta))

    async def delete(self, chapter: ChapterId) -> None:
        self.done.append(("delete", chapter))

    async def split(self, chapter: Chapter, at: int) -> None:
        self.done.append(("split", chapter.id, at))

    async def merge(self, chapter: Chapter, following: Chapter) -> None:
        self.done.append(("merge", chapter.id, following.id))

    async def versions(self, chapter: Chapter) -> None:
        self.done.append(("versions", chapter.id))

    async def edit_scene(self, command: EditScene) -> None:
        self.done.append(("join", command.chapter, command.number) if command.join else
                         ("move scene", command.chapter, command.number, command.to))  # fmt: skip

    async def name_scene(self, chapter: Chapter, scene: ChapterScene) -> None:
        self.done.append(("name", chapter.id, scene.number))

    async def write_beats(self, chapter: Chapter, scene: ChapterScene) -> None:
        self.done.append(("beats", chapter.id, scene.number))

    async def undo_scenes(self) -> None:
        self.done.append(("undo",))

    async def kept(self, chapter: Chapter | None) -> None:
        self.done.append(("kept", chapter and chapter.id))

    async def purge_chapter(self, chapter: Chapter | None) -> None:
        self.done.append(("purge", chapter and chapter.id))

    async def origin(self, chapter: ChapterId, paragraph: str, place: int) -> bool:
        self.done.append(("origin", chapter, place))
        return True


FIRST, SECOND = books.chapter_id(1), books.chapter_id(2)


async def settle(app: Host, pilot: Pilot[None]) -> None:
    await app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.pause()


def page_text(app: Host) -> str:
    return "\n".join(shown(app))


async def test_the_book_with_its_goals_and_every_chapter_with_its_length_and_state() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(BrowserScreen("The Salt Road", "en", Controller()))
        await settle(app, pilot)
        rows = [row.strip() for row in shown(app)]
        assert rows[0].startswith("The Salt Road   4 chapters   ")
        assert "of 1,000" in rows[1] and "120 of 200" in rows[2]
        assert any(row.startswith("> 1 Rain") and "background: due" in row for row in rows)
        assert any("The Ferry" in row and "changed outside" in row for row in rows)
        assert any("Empty City" in row and "background: failed" in row for row in rows)
        assert any(row.split()[:3] == ["4", "Homeward", "—"] for row in rows)


async def test_the_opening_of_the_chapter_under_the_cursor_is_beside_the_list_or_below_it() -> None:
    for width, height in ((140, 40), (80, 24)):
        app, controller = Host(), Controller()
        text = await controller.project.book.chapter_text(SECOND)
        async with app.run_test(size=(width, height)) as pilot:
            await app.push_screen(BrowserScreen("The Salt Road", "en", controller))
            await settle(app, pilot)
            await pilot.press("down")
            await settle(app, pilot)
            detail = app.screen.query_one(DetailText)
            assert text[:30] in page_text(app)
            assert (detail.region.x > width // 2) == (width > 100) and detail.region.bottom == height - 1
            await pilot.press("end")
            await settle(app, pilot)
            assert "not written yet" in page_text(app) and text[:30] not in page_text(app)


async def test_scenes_unfold_below_their_chapter_and_enter_opens_one() -> None:
    app, given = Host(), []
    scenes = await FakeProject("en").scenes(FIRST)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(BrowserScreen("Book", "en", Controller(), FIRST), given.append)
        await settle(app, pilot)
        await pilot.press("l")
        await settle(app, pilot)
        assert "1 It rained all night." in page_text(app)
        await pilot.press("j", "j", "enter")
        await pilot.pause()
        assert given == [BrowserPlace(FIRST, scenes[1].body.start, scenes[1].body.end)]


async def test_a_scene_is_moved_named_merged_and_its_beats_are_shown_and_written() -> None:
    app, controller = Host(), Controller()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(BrowserScreen("Book", "en", controller, FIRST))
        await settle(app, pilot)
        await pilot.press("l")
        await settle(app, pilot)
        await pilot.press("j", "j")
        await pilot.pause()
        assert "2 The lamp | " in page_text(app)
        assert "She hears the steps" in page_text(app), "the beats of the scene under the cursor"
        await pilot.press("n", "e")
        await settle(app, pilot)
        await pilot.press("m")
        await settle(app, pilot)
        await pilot.press("greater_than_sign")
        await settle(app, pilot)
        assert app.screen.query_one(PickList).picked == f"scene/{FIRST}/3", "the cursor goes with the scene"
        await pilot.press("greater_than_sign", "m", "ctrl+z")
        await settle(app, pilot)
        assert controller.done == [
            ("name", FIRST, 2), ("beats", FIRST, 2), ("join", FIRST, 3), ("move scene", FIRST, 2, 3), ("undo",),
        ]  # fmt: skip


async def test_volumes_fold_with_their_lengths() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(BrowserScreen("Book", "en", Controller("en", "One", "One", "Two", "Two"), SECOND))
        await settle(app, pilot)
        assert "-   One " in page_text(app) and "2 chapters" in page_text(app)
        await pilot.press("h")
        await pilot.pause()
        assert "+   One" in page_text(app) and "Rain" not in page_text(app) and "Homeward" in page_text(app)
        await pilot.press("enter")
        await pilot.pause()
        assert "-   One" in page_text(app) and "Rain" in page_text(app)


async def test_a_chapter_is_split_at_the_scene_under_the_cursor_and_merged_with_the_next() -> None:
    app, controller = Host(), Controller()
    scenes = await controller.project.book.scenes(FIRST)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(BrowserScreen("Book", "en", controller, FIRST))
        await settle(app, pilot)
        await pilot.press("s")
        assert controller.done == [], "nothing says where"
        await pilot.press("l")
        await settle(app, pilot)
        await pilot.press("j", "j", "s")
        await settle(app, pilot)
        await pilot.press("h", "m")
        await settle(app, pilot)
        assert controller.done == [("split", FIRST, scenes[1].body.start), ("merge", FIRST, SECOND)]


async def test_chapters_are_moved_renamed_deleted_and_asked_for_their_versions() -> None:
    app, controller = Host(), Controller()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(BrowserScreen("Book", "en", controller, SECOND))
        await settle(app, pilot)
        await pilot.press("greater_than_sign", "less_than_sign", "n", "u", "V", "plus", "U", "D")
        await settle(app, pilot)
        assert controller.done == [
            ("move", SECOND, 1), ("move", SECOND, -1), ("rename", SECOND), ("volume", SECOND), ("versions", SECOND),
            ("add",), ("back",), ("delete", SECOND),
        ]  # fmt: skip
        await pilot.press("G", "m", "w")
        await settle(app, pilot)
        assert controller.done[-1] == ("origin", books.chapter_id(4), 0), (
            "there is nothing behind the last to merge with"
        )
        assert not isinstance(app.screen, BrowserScreen), "a run was opened below"


class Losing(Controller):
    """What is deleted or split off is gone from the book."""

    scene_count = 9

    def __init__(self) -> None:
        super().__init__()
        self._scenes, self.project.book.scenes = self.project.book.scenes, self.scenes

    async def delete(self, chapter: ChapterId) -> None:
        rows = [row for row in self.project.chapter_rows if row.id != chapter]
        self.project.chapter_rows = [replace(row, position=at) for at, row in enumerate(rows, 1)]

    async def split(self, chapter: Chapter, at: int) -> None:
        self.scene_count = 1
        half = replace(chapter, digest=digest("half"))
        self.project.chapter_rows = [half if row.id == chapter.id else row for row in self.project.chapter_rows]

    async def scenes(self, chapter: ChapterId) -> tuple[ChapterScene, ...]:
        return (await self._scenes(chapter))[: self.scene_count]


async def test_the_cursor_stays_where_a_chapter_was_deleted_or_split() -> None:
    app, third = Host(), books.chapter_id(3)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(BrowserScreen("Book", "en", Losing(), SECOND))
        await settle(app, pilot)
        await pilot.press("D")
        await settle(app, pilot)
        assert app.screen.query_one(PickList).picked == f"chapter/{third}", "the one that took its place"
        await pilot.press("G", "D")
        await settle(app, pilot)
        assert app.screen.query_one(PickList).picked == f"chapter/{third}", "the last of those that are left"
        await pilot.press("g", "l")
        await settle(app, pilot)
        await pilot.press("j", "j", "s")
        await settle(app, pilot)
        assert app.screen.query_one(PickList).picked == f"chapter/{FIRST}", "the first part, which `m` merges again"


async def test_scenes_that_could_not_be_read_once_are_read_at_the_next_look() -> None:
    app, controller = Host(), Losing()
    failures: list[ProjectError] = []

    async def failing_once(chapter: ChapterId) -> tuple[ChapterScene, ...]:
        if failures:
            raise failures.pop()
        return await controller.scenes(chapter)

    controller.project.book.scenes = failing_once
    async with app.run_test(size=(80, 24)) as pilot:
        page = BrowserScreen("Book", "en", controller, FIRST)
        await app.push_screen(page)
        await settle(app, pilot)
        await pilot.press("l")
        await settle(app, pilot)
        rows = page.query_one(PickList)
        before = rows.option_count
        controller.scene_count = 1
        changed = replace(controller.project.chapter_rows[0], digest=digest("changed"))
        controller.project.chapter_rows[0] = changed
        failures.append(ProjectError("The disk is busy."))
        with pytest.raises(ProjectError):
            await page.reload()
        await page.reload()
        assert (failures, rows.option_count) == ([], before - 2)


async def test_an_empty_book_can_be_opened() -> None:
    app, controller = Host(), Controller()
    controller.project.chapter_rows = []
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(BrowserScreen("Book", "zh", controller))
        await settle(app, pilot)
        await pilot.press("l", "h", "s", "m", "V", "w", "enter")
        assert "Book   0 chapters   0 characters" in page_text(app)


def test_a_bar_is_never_longer_than_its_room_nor_shorter_than_nothing() -> None:
    assert progress_bar(0.5, 4) == "██░░"
    assert progress_bar(7.0, 4) == "████"
    assert progress_bar(-1.0, 4, plain=True) == "...."
