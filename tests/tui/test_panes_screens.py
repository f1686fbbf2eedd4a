from __future__ import annotations

import asyncio
from dataclasses import replace

from textual.pilot import Pilot

from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.manuscript import ChapterVersion
from flowcabal_tui.domain.text import digest
from flowcabal_tui.project.views import OpenedSource
from flowcabal_tui.tui.shared.diff import DiffScreen
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.versions import VersionsScreen
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.stream_view import StreamView
from tests.tui import fake_books as books
from tests.tui.hosts import HOSTILE, Host, shown

STORY = "\n".join(f"第{number}段。" for number in range(500))


def versions(*texts: str) -> list[ChapterVersion]:
    """Newest first; the first text is version 1."""
    chapter = books.chapter_id(1)
    found = [
        ChapterVersion(chapter, number, digest(text), "human", books.NOW, Generation(number))
        for number, text in enumerate(texts, 1)
    ]
    return found[::-1]


async def settle(app: Host, pilot: Pilot[None]) -> None:
    await app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.pause()


async def test_a_source_opens_at_the_cited_place_and_c_comes_back_to_it() -> None:
    app = Host()
    start = STORY.index("第300段")
    async with app.run_test(size=(60, 20)) as pilot:
        await app.push_screen(SourceScreen(OpenedSource("manuscript/chapter-1", "雨夜", STORY, start, start + 5)))
        await pilot.pause()
        await pilot.pause()
        assert shown(app)[0].strip() == "雨夜"
        assert "第300段。" in "\n".join(shown(app))
        await pilot.press("g")
        assert "第300段。" not in "\n".join(shown(app))
        await pilot.press("c")
        assert "第300段。" in "\n".join(shown(app))
        await pilot.press("escape")
        assert not isinstance(app.screen, SourceScreen)


async def test_a_source_without_a_cited_place_opens_at_its_start() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await app.push_screen(SourceScreen(OpenedSource("meta/outline", "", STORY)))
        await pilot.pause()
        await pilot.pause()
        assert shown(app)[1].strip() == "第0段。"


async def test_slash_finds_words_in_a_source() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await app.push_screen(SourceScreen(OpenedSource("meta/outline", "", STORY)))
        await pilot.press("slash", *"第450段", "enter")
        await pilot.pause()
        assert "第450段。" in "\n".join(shown(app))


async def test_two_texts_are_compared_with_the_number_of_changes() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await app.push_screen(DiffScreen("Draft", "The rain fell.", "The snow fell."))
        await pilot.pause()
        assert shown(app)[0].strip() == "Draft   1 change"
        assert "The [-rain-]{+snow+} fell." in "\n".join(shown(app))
        await pilot.press("escape")
        await app.push_screen(DiffScreen("Draft", "Same.", "Same."))
        await pilot.pause()
        assert "no difference" in shown(app)[0]


async def test_each_version_is_loaded_once_and_the_cursor_chooses_which_is_shown() -> None:
    texts = ("One.", "Two.", "Three.")
    loaded: list[int] = []

    async def load(version: int) -> str:
        loaded.append(version)
        return texts[version - 1]

    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(VersionsScreen("雨夜", versions(*texts), load))
        await settle(app, pilot)
        await pilot.press("j")
        await settle(app, pilot)
        await pilot.press("k", "k")
        await settle(app, pilot)
        assert sorted(loaded) == [1, 2, 3]
        assert app.screen.query_one(DiffView).hunk_count == 0
        assert app.screen.query_one("#text", StreamView).text == "Three."


async def test_versions_are_compared_with_the_newest() -> None:
    texts = ("Old.\nSame.", "New.\nSame.")
    older, newest = reversed(versions(*texts))

    async def load(version: int) -> str:
        return texts[version - 1]

    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        named = replace(newest, author="model", note="kept")
        await app.push_screen(VersionsScreen("雨夜", (named, older), load))
        await settle(app, pilot)
        screen = "\n".join(shown(app))
        assert "v2 2026-03-14 09:26 from a model kept" in screen
        assert "[-Old-]{+New+}" in screen


async def test_nothing_can_be_restored_before_its_text_is_there() -> None:
    restored: list[str | None] = []
    never: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def load(version: int) -> str:
        return await never

    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(VersionsScreen("雨夜", versions("One.", "Two."), load), restored.append)
        await pilot.press("a")
        assert isinstance(app.screen, VersionsScreen)
        await pilot.press("escape")
        await pilot.pause()
        assert restored == [None]


async def test_the_version_under_the_cursor_is_restored_though_the_key_came_before_its_text() -> None:
    restored: list[str | None] = []
    may_load = asyncio.Event()

    async def load(version: int) -> str:
        await may_load.wait()
        return ("One.", "Two.", "Three.")[version - 1]

    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(VersionsScreen("雨夜", versions("One.", "Two.", "Three."), load), restored.append)
        await pilot.press("j", "a")
        may_load.set()
        await settle(app, pilot)
        assert restored == ["One."]


async def test_hostile_text_is_shown_as_words_in_every_screen() -> None:
    async def load(version: int) -> str:
        return HOSTILE

    app = Host()
    async with app.run_test(size=(120, 24)) as pilot:
        await app.push_screen(SourceScreen(OpenedSource(HOSTILE, HOSTILE, HOSTILE + "雨" * 1_000_000, 0, 3)))
        await pilot.pause()
        screen = "\n".join(shown(app))
        await app.push_screen(DiffScreen(HOSTILE, HOSTILE, "雨" * 1_000_000))
        await pilot.pause()
        screen += "\n".join(shown(app))
        await app.push_screen(VersionsScreen(HOSTILE, versions("One.", "Two."), load))
        await settle(app, pilot)
        screen += "\n".join(shown(app))
        assert screen.count("[/] [b]bold[/b] red") >= 6
        assert "\x1b" not in screen
        assert "\u202e" not in screen


async def test_an_empty_version_is_measured_in_the_language_of_the_book() -> None:
    async def load(version: int) -> str:
        return ""

    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.push_screen(VersionsScreen("雨夜", versions("", ""), load, "zh"))
        await settle(app, pilot)
        assert "this one has 0 characters" in "\n".join(shown(app))
