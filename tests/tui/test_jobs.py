"""A writing day from the palette alone: each job by its keys, in both languages, with at most so many of them.

Keys are all that are pressed but the words of the writer: text, names, wishes, questions. docs/jobs.md has the table.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from textual.widgets import Input, Static

from flowcabal_tui.domain.comments import CommentFilter
from flowcabal_tui.project import Project
from flowcabal_tui.protocol.book import WriteChapter
from flowcabal_tui.tui.app.palette import PaletteScreen
from flowcabal_tui.tui.app.settings.page import SettingsScreen
from flowcabal_tui.tui.book.days import DaysScreen
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.search import SearchScreen
from flowcabal_tui.tui.conversation.screen import ConversationScreen
from flowcabal_tui.tui.decisions.decisions import DecisionsScreen
from flowcabal_tui.tui.models.model_form import ModelForm
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.form import ChoiceField, FormScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.versions import VersionsScreen
from flowcabal_tui.tui.shared.view import GRACE
from flowcabal_tui.tui.story.impact import ImpactScreen
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.workflows.build_review import BuildReviewScreen
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.pictures import Studio, studio
from tests.project.case import demo_at
from tests.tui.test_build_tour import typed
from tests.tui.waiting import answered, settled, until


@dataclass
class Hands:
    """Presses keys, and counts those that are no words of the writer."""

    at: Studio
    book: Project
    is_chinese: bool
    keys: int = field(default=0)

    def words(self, english: str, chinese: str) -> str:
        """What the writer types, in the language of the screen."""
        return chinese if self.is_chinese else english

    async def palette(self, english: str, chinese: str, wanted: str) -> None:
        """Ctrl+p, a word, Down to the command unless it is first, Enter."""
        asked = self.words(english, chinese)
        await self.at.pilot.press("ctrl+p")
        await self.shows(PaletteScreen)
        await typed(self.at.pilot, asked)
        await settled(self.at.pilot)
        rows = [row.id for row in self.at.pilot.app.screen.query_one(PickList).options]
        assert wanted in rows[:3], "one of the first rows"
        await self.at.pilot.press(*["down"] * rows.index(wanted), "enter")
        await settled(self.at.pilot)
        self.keys += 2 + len(asked) + rows.index(wanted)

    async def press(self, *keys: str) -> None:
        """Keys that count."""
        for key in keys:
            await self.at.pilot.press(key)
            await settled(self.at.pilot)
        self.keys += len(keys)

    async def type(self, words: str) -> None:
        """Words of the writer, which do not count."""
        await typed(self.at.pilot, words)
        await answered(self.at.pilot)

    async def shows(self, screen: type) -> None:
        """Waits until such a screen is on top."""
        await until(self.at.pilot, lambda: isinstance(self.at.pilot.app.screen, screen))
        await settled(self.at.pilot)

    async def until(self, holds: Callable[[], object]) -> None:
        """Waits for what the keys bring about."""
        await until(self.at.pilot, holds)
        await settled(self.at.pilot)

    @property
    def pane(self) -> ManuscriptPane:
        """The text of the open chapter."""
        return self.at.workspace.query_one(ManuscriptPane)

    async def texts(self) -> dict[str, str]:
        """The saved text of each chapter, by its title."""
        return {each.title: await self.book.book.chapter_text(each.id) for each in await self.book.book.chapters()}

    async def text_of(self, position: int) -> str:
        """The saved text of a chapter."""
        return await self.book.book.chapter_text((await self.book.book.chapters())[position - 1].id)


@asynccontextmanager
async def hands(folder: Path, demo: Path, language: str, *, runs: bool = False) -> AsyncIterator[Hands]:
    """The sample novel in a small English or a large Chinese terminal; `runs`: a run waits with a contradiction."""
    size = (80, 24) if language == "en" else (140, 40)
    async with studio(folder, language, size, demo) as at:
        await at.until(lambda: at.shows(WorkspaceScreen) and not at.pilot.app.screen.is_opening)
        await settled(at.pilot)
        if runs:
            await at.draft()
            await settled(at.pilot)
        yield Hands(at, at.projects[-1], language == "zh")


async def write_and_save(it: Hands) -> None:
    await it.palette("write", "写作", "manuscript.edit")
    await it.type("Rain.")
    await it.palette("save", "保存", "manuscript.save")
    assert "Rain." in await it.text_of(7)


async def split_at_the_cursor(it: Hands) -> None:
    last = (await it.book.book.chapters())[-1]
    await it.book.carry_out(WriteChapter(last.id, "One.\n\nTwo.", last.version))
    await it.until(lambda: it.pane.text == "One.\n\nTwo.")
    await it.palette("write", "写作", "manuscript.edit")
    await it.press("ctrl+end", "home")
    await it.palette("split", "拆章", "manuscript.split")
    await it.press("enter")
    await it.until(lambda: it.at.workspace.view.position == 8)
    assert (await it.text_of(7), await it.text_of(8)) == ("One.", "Two.")


async def rename_everywhere(it: Hands) -> None:
    old, new = it.words("Crane", "魏长河"), it.words("Heron", "卫长江")
    assert any(old in text for text in (await it.texts()).values())
    await it.book.memory.settled()  # what the book names is read: no place comes in while the list is looked at
    await it.palette("rename", "改名", "story.rename")
    await it.type(old)
    await it.press("enter")
    await it.type(new)
    await it.press("enter")
    await it.shows(ImpactScreen)
    await it.until(lambda: it.at.pilot.app.screen.query_one(PickList).option_count)
    await it.press("ctrl+s")
    await it.until(lambda: len(it.at.pilot.app.announcer.notices.listed))
    assert not any(old in text for text in (await it.texts()).values())


async def undo_the_last_act(it: Hands) -> None:
    before = await it.texts()
    await rename_everywhere(it)
    await it.at.press("escape")
    await it.shows(WorkspaceScreen)
    it.keys = 0
    await it.palette("undo", "撤销", "book.changes")
    await it.shows(ChooseScreen)
    await it.press("enter")
    if not it.at.shows(WorkspaceScreen):
        await it.press("y")
    assert await it.texts() == before


async def set_a_model_and_a_key(it: Hands) -> None:
    await it.palette("model", "模型", "app.settings")
    await it.shows(SettingsScreen)
    await it.press("enter")
    await it.shows(ModelForm)
    await it.press("enter", *"deep", "enter", "down", "down", "down")
    await it.type("sk-1234")
    assert it.at.pilot.app.screen.query_one("#field-key", Input).value == "sk-1234"
    assert it.at.pilot.app.screen.query_one("#field-preset", ChoiceField).value == "DeepSeek"
    await it.press("ctrl+s")
    await it.until(lambda: not isinstance(it.at.pilot.app.screen, ModelForm))
    if not it.at.shows(SettingsScreen):
        await it.press("y")
    await it.shows(SettingsScreen)
    models = it.at.pilot.app.screen.query_one(PickList)
    await it.until(lambda: any("deepseek" in str(row.prompt) for row in models.options))


async def make_a_workflow(it: Hands) -> None:
    before = len(await it.book.workflows.newest())
    await it.palette("make a workflow", "新建工作流", "workflows.build")
    await it.shows(PromptLine)
    await it.type(it.words("Plan it, show me the plan, then draft it.", "先拟计划给我看，再写初稿。"))
    await it.press("enter")
    await it.until(lambda: isinstance(it.at.pilot.app.screen, (ChooseScreen, FormScreen)))
    if isinstance(it.at.pilot.app.screen, ChooseScreen):  # a template covers most of the wish
        await it.press("enter")
    await it.shows(FormScreen)
    await it.press("ctrl+s")
    await it.shows(BuildReviewScreen)
    await it.press("ctrl+s")
    await it.until(lambda: "@" in str(it.at.pilot.app.screen.query_one(".head", Static).content))
    assert len(await it.book.workflows.newest()) == before + 1


async def find_a_scene(it: Hands) -> None:
    await it.palette("find", "找场景", "book.search")
    await it.shows(SearchScreen)
    await it.type(it.words("burn on his hand", "三根指头"))
    assert it.at.pilot.app.screen.query_one(PickList).option_count
    await it.press("enter")
    assert not isinstance(it.at.pilot.app.screen, SearchScreen)


async def export_for_a_platform(it: Hands) -> None:
    last = (await it.book.book.chapters())[-1]
    await it.book.carry_out(WriteChapter(last.id, "One.\n\nTwo.", last.version))
    await it.until(lambda: it.pane.text == "One.\n\nTwo.")
    await it.palette("export", "导出", "book.export")
    await it.shows(FormScreen)
    await it.press("enter", *it.words("roy", "起点"), "enter", "down", "enter", "down", "enter")
    await it.press("down", "down", "enter", "down", "enter", "ctrl+s")
    await it.until(lambda: it.at.pilot.app.clipboard)
    assert it.at.pilot.app.clipboard.split()[-2:] == ["One.", "Two."]
    first, it.keys, it.at.pilot.app._clipboard = it.keys, 0, ""
    await it.palette("export", "导出", "book.export")
    await it.shows(FormScreen)
    await it.press("ctrl+s")
    await it.until(lambda: it.at.pilot.app.clipboard)
    assert it.keys <= 9, "the second time the form has what was chosen"
    it.keys = first


async def answer_a_finding(it: Hands) -> None:
    await it.palette("answer", "审稿", "decisions.open")
    await it.shows(DecisionsScreen)
    await it.at.pilot.pause(GRACE)
    await it.press("r")
    await it.shows(PromptLine)
    await it.press("enter")
    await it.shows(WorkspaceScreen)
    await it.until(lambda: "done" in it.at.workspace.controllers.runs.run_states.values())


async def keep_a_draft(it: Hands) -> None:
    await answer_a_finding(it)
    await it.until(lambda: it.at.workspace.view.node == "polish")
    it.keys = 0
    await it.palette("keep", "采纳草稿", "output.keep")
    if not (await it.book.book.chapters())[-1].version:
        await it.press("a")
    await it.until(lambda: bool(it.at.workspace.book.chapter and it.at.workspace.book.chapter.version))


async def why_a_name_was_in_the_prompt(it: Hands) -> None:
    await it.palette("why", "为什么", "pane.context")
    assert it.at.workspace.view.pane == "context"
    await it.press("slash")
    await it.type(it.words("Crane", "魏长河"))
    await it.press("enter")
    receipt = it.at.workspace.query_one(ReceiptPane)
    assert it.words("Crane", "魏长河") in str(receipt.query_one(PickList).highlighted_option.prompt)
    told = receipt.query_one(".details", Static)
    assert it.words("named in the outline", "大纲里点到") in str(told.content) and told.size.height > 0


async def comment_at_a_passage(it: Hands) -> None:
    await it.palette("pane.chapters", "pane.chapters", "pane.chapters")
    await it.at.press("g", "enter")
    await it.until(lambda: it.at.workspace.view.position == 1 and it.pane.text)
    it.keys = 0
    await it.palette("comment", "加批注", "revision.comment")
    await it.shows(FormScreen)
    await it.type(it.words("too slow", "太慢"))
    await it.press("enter")
    await it.shows(WorkspaceScreen)
    assert len(await it.book.revision.comments(CommentFilter())) == 1


async def words_of_today(it: Hands) -> None:
    await it.palette("today", "今天", "book.words")
    await it.shows(DaysScreen)


async def compare_two_versions(it: Hands) -> None:
    last = (await it.book.book.chapters())[-1]
    for version, text in enumerate(("One.", "One. Two.")):
        await it.book.carry_out(WriteChapter(last.id, text, version))
    await it.until(lambda: it.pane.text == "One. Two.")
    await it.palette("compare", "对比", "manuscript.versions")
    await it.shows(VersionsScreen)
    await it.press("down")
    await it.until(lambda: it.at.pilot.app.screen.query_one(DiffView).display)


async def ask_the_book(it: Hands) -> None:
    await it.palette("ask", "提问", "app.conversation")
    await it.shows(ConversationScreen)
    await it.type(it.words("Who is Nora?", "沈素秋是谁？"))
    await it.press("enter")
    await it.until(lambda: not it.at.pilot.app.screen.query_one(Input).value)


JOBS: Final[dict[str, tuple[Callable[[Hands], Awaitable[None]], int]]] = {
    "write and save": (write_and_save, 13),
    "split at the cursor": (split_at_the_cursor, 17),
    "rename everywhere": (rename_everywhere, 12),
    "set a model and a key": (set_a_model_and_a_key, 19),
    "make a workflow": (make_a_workflow, 21),
    "find a scene": (find_a_scene, 7),
    "export for a platform": (export_for_a_platform, 23),
    "why a name was in the prompt": (why_a_name_was_in_the_prompt, 7),
    "undo the last act": (undo_the_last_act, 8),
    "keep a draft": (keep_a_draft, 7),
    "answer a finding": (answer_a_finding, 10),
    "comment at a passage": (comment_at_a_passage, 10),
    "words of today": (words_of_today, 7),
    "compare two versions": (compare_two_versions, 10),
    "ask the book": (ask_the_book, 6),
}
"""Each job and its most keys, in the language that needs more."""
AFTER_A_RUN: Final = ("why a name was in the prompt", "keep a draft", "answer a finding")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("job", JOBS)
async def test_a_job_needs_the_palette_and_few_keys(
    tmp_path: Path, demos: dict[str, Path], job: str, language: str
) -> None:
    do, most = JOBS[job]
    demo = demo_at(tmp_path / "book", demos, language)
    async with hands(tmp_path, demo, language, runs=job in AFTER_A_RUN) as it:
        await do(it)
        assert it.keys <= most
        print(f"{job} {language}: {it.keys}")  # the figures of docs/jobs.md: pytest -s
