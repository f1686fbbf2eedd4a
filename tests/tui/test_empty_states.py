"""Every list that can be empty names the next key, in both languages, and the key does something there."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.content import Content
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, Static

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.locale import _
from flowcabal_tui.project import Project, create_project
from flowcabal_tui.protocol.book import AddChapter
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.book.chapter_list import ChapterList
from flowcabal_tui.tui.memory.beats_panel import BeatsPanel
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.shared.actions import ACTIONS, shown_key
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.widgets.list_detail import DetailText
from flowcabal_tui.tui.widgets.role_words import without_backticks
from flowcabal_tui.tui.widgets.roles import role_style
from flowcabal_tui.tui.widgets.stream_view import StreamView
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui.try_out import invented_access
from tests.tui.waiting import settled, until

NAMED = re.compile(r"`([^`\s]+)`|(?<![A-Za-z])(F\d{1,2}|Esc|Enter|回车|Ctrl\+\S|@)")
PANES = {
    "chapters": ("pane.chapters", "#chapters > .empty"),
    "manuscript": ("pane.manuscript", "#manuscript > .head"),
    "output": ("pane.output", "#output .head"),
    "context": ("pane.context", "#context .head"),
    "profiles": ("pane.profiles", "#profiles > .head"),
    "names": ("story.names", ".details, DetailText"),
    "promises": ("story.promises", ".details, DetailText"),
    "timeline": ("story.timeline", ".details, DetailText"),
    "facts": ("story.facts", ".details, DetailText"),
    "proposals": ("story.proposals", ".details, DetailText"),
    "findings": ("story.findings", ".details, DetailText"),
    "revision": ("revision.open", ".details, DetailText"),
    "comments": ("revision.comments", ".details, DetailText"),
    "builds": ("builds.open", ".empty"),
    "manuscript as a whole": ("book.browser", ".empty"),
    "background work": ("memory.queue", ".head"),
    "conversation": ("app.conversation", "Input"),
}
"""The action that opens a place of a project without chapters, and where its empty list has its words."""
NOTICES = {
    "runs": "run.history",
    "decisions": "decisions.open",
    "candidates": "candidates.open",
    "play": "run.play",
    "acts": "book.changes",
    "proof": "book.proof",
    "outline beside the text": "book.beats",
}
"""Actions that open nothing there: a notice says why."""

NOTHING_FOUND = {
    "search": (("f11", "z"), ".details, DetailText"),
    "filter of chapters": (("1", "slash", "z"), "#chapters > .empty"),
}
"""Keys after which a list that was not empty has no row."""


@asynccontextmanager
async def opened_empty(folder: Path, state: Path, language: str) -> AsyncIterator[tuple[Project, Pilot[int]]]:
    """A new project without chapters."""
    await create_project(folder, name="Rain", language=language)
    projects: list[Project] = []

    async def opener(path: Path, read_only: bool) -> Project:
        projects.append(await Project.open(path, read_only=read_only, knowledge=False, pace=0.0))
        return projects[-1]

    access = replace(invented_access(language), opener=opener)
    app = FlowCabalApp(access, ScreenSettings(language=language), path=folder, state_folder=state)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen) and not app.screen.is_opening)
        await settled(pilot)
        yield projects[0], pilot
        await app.departure.close_project()


def words_of(screen: Screen[object], selector: str) -> str:
    """What a widget says, with backticks around its keys; "" where there is none yet."""
    widget = next(iter(screen.query(selector)), None)
    if isinstance(widget, DetailText):
        widget = widget.query_one(Static)
    if isinstance(widget, Input):
        return widget.placeholder
    if isinstance(widget, PickList):
        return "\n".join(marked(option.prompt) for option in widget.options)
    return (
        widget.text if isinstance(widget, StreamView) else marked(widget.content) if isinstance(widget, Static) else ""
    )


def marked(words: object) -> str:
    """The words, with backticks around the keys that a style shows."""
    if not isinstance(words, Content):
        return str(words)
    keys = [span for span in words.spans if span.style == role_style("key")]
    return "".join(
        "`" * sum(at in (span.start, span.end) for span in keys) + sign for at, sign in enumerate(f"{words.plain} ")
    ).rstrip()


def key_of(action: str) -> str:
    return next(each.keys.split(",")[0] for each in ACTIONS if each.id == action)


def has_words(screen: Screen[object], selector: str) -> bool:
    return bool(words_of(screen, selector))


def names_a_key(screen: Screen[object], selector: str) -> bool:
    return bool(NAMED.search(words_of(screen, selector)))


def keys_of(kind: type) -> set[str]:
    return {shown_key(key) for each in kind.BINDINGS if isinstance(each, Binding) for key in each.key.split(",")}


def check(pilot: Pilot[int], place: str, words: str) -> None:
    named = {one or other for one, other in NAMED.findall(words)}
    active = {shown_key(each.binding.key) for each in pilot.app.screen.active_bindings.values()}
    active |= {shown_key(key) for action in ACTIONS if action.where != "home" for key in action.keys.split(",")}
    active |= {"@", "回车"}  # typed into a line, and Enter
    if re.search("list of chapters|章节列表", words):
        active |= keys_of(ChapterList)
    if re.search("output|输出", words):
        active |= keys_of(OutputPane)
    assert named, f"{place} names no key: {words!r}"
    assert named <= active, f"{place} names a key that does nothing: {words!r}"


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_every_place_of_an_empty_project_names_the_next_key(tmp_path: Path, language: str) -> None:
    async with opened_empty(tmp_path / "book", tmp_path, language) as (_project, pilot):
        app, workspace = pilot.app, pilot.app.screen
        for place, (action, selector) in PANES.items():
            await pilot.press(key_of(action))
            await settled(pilot)
            await until(pilot, partial(has_words, app.screen, selector))
            check(pilot, place, words_of(app.screen, selector))
            while app.screen is not workspace:
                app.pop_screen()
                await pilot.pause()
        for place, action in NOTICES.items():
            app.announcer.notices.listed.clear()
            await pilot.press(key_of(action))
            await until(pilot, lambda: bool(app.announcer.notices.listed))
            check(pilot, place, app.announcer.notices.listed[-1].words)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_an_unwritten_chapter_names_the_next_key_everywhere(tmp_path: Path, language: str) -> None:
    async with opened_empty(tmp_path / "book", tmp_path, language) as (project, pilot):
        app, workspace = pilot.app, pilot.app.screen
        assert ChapterId(await project.carry_out(AddChapter("Rain")))
        await until(pilot, lambda: bool(workspace.query_one(ChapterList).highlighted))
        await pilot.press("3")
        await settled(pilot)
        words = words_of(workspace, "#manuscript > .head")
        check(pilot, "manuscript", words)
        assert "`F5`" in words and "`e`" in words, "both ways to a text"
        await pilot.press("ctrl+d")
        await until(pilot, lambda: bool(workspace.query(BeatsPanel)) and bool(words_of(workspace, "#beats PickList")))
        await until(pilot, lambda: app.focused is workspace.query_one("#beats PickList"))
        check(pilot, "outline beside the text", words_of(workspace, "#beats PickList"))
        await pilot.press("ctrl+d", "M")
        await settled(pilot)
        await pilot.press("K")
        await settled(pilot)
        message = _("Nothing of this chapter is kept yet: `a` in the output keeps it.")
        assert words_of(app.screen, "StreamView") == without_backticks(message), "plain text, which has no styles"
        check(pilot, "kept outputs", message)
        for place, (keys, selector) in NOTHING_FOUND.items():
            while app.screen is not workspace:
                app.pop_screen()
                await pilot.pause()
            await pilot.press(*keys)
            await until(pilot, partial(names_a_key, app.screen, selector))
            check(pilot, place, words_of(app.screen, selector))
