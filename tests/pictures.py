"""Makes docs/images/*.svg with the program itself: `python -m tests.pictures [FOLDER [PROJECT]]`.

`python -m tests.pictures all FOLDER` takes every screen in both languages, two sizes, all themes and without colours.

With a PROJECT, those of a long book instead: its last chapter was written by a run.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from html import unescape
from pathlib import Path
from typing import Final

from textual.pilot import Pilot
from textual.widgets import Input
from textual.worker import WorkerCancelled

from flowcabal_tui.domain.run import RunRequest
from flowcabal_tui.domain.workflow import Workflow
from flowcabal_tui.examples import example
from flowcabal_tui.locale import use_language
from flowcabal_tui.project import Project, create_demo
from flowcabal_tui.protocol.book import WriteChapter
from flowcabal_tui.protocol.runs import RunWorkflow
from flowcabal_tui.protocol.workflows import SaveWorkflow
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp
from flowcabal_tui.tui.app.entry import ProjectAccess, Recent
from flowcabal_tui.tui.app.themes import OURS
from flowcabal_tui.tui.book.browser import BrowserScreen
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.book.search import SearchScreen
from flowcabal_tui.tui.decisions.comparison import ComparisonScreen
from flowcabal_tui.tui.decisions.decisions import DecisionsScreen
from flowcabal_tui.tui.runs.origin import BlameScreen
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.view import GRACE
from flowcabal_tui.tui.story.ego import EgoScreen
from flowcabal_tui.tui.story.findings import FindingsScreen
from flowcabal_tui.tui.story.impact import ImpactScreen
from flowcabal_tui.tui.story.records import RecordsScreen
from flowcabal_tui.tui.widgets.cells import cell_width
from flowcabal_tui.tui.widgets.diff_view import DiffView
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.workflows.build_review import BuildReviewScreen
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen, drain_seconds
from tests.tui.try_out import LAMP, RIVER
from tests.tui.waiting import settled
from tests.waiting import PATIENCE

IMAGES: Final = Path(__file__).parent.parent / "docs" / "images"
WIDE, MIDDLE, NARROW = (140, 40), (110, 36), (80, 24)
NOW = datetime(2026, 11, 21, 9, 41)
SOUGHT = "葬花"
CELL: Final = 12.2
"""Width of a cell, as Rich draws it."""
FONTS = "'DejaVu Sans Mono', Menlo, Consolas, 'Noto Sans Mono CJK SC', monospace"
RECENT = (
    Recent("The Lamp at Harrow Point", Path("lamp"), datetime(2026, 11, 20), LAMP),
    Recent("长河旧事", Path("river"), datetime(2026, 11, 18), RIVER),
)


def plain_svg(svg: str) -> str:
    """The picture without fonts that a reader's machine would have to fetch."""
    svg = re.sub(r"\s*@font-face \{.*?\n    \}", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", FONTS).replace("font-family: arial", "font-family: sans-serif")
    svg = re.sub(r'textLength="[\d.]+"([^>]*>)([^<]*)', _cells_wide, svg)
    return svg.replace("<svg ", '<svg xml:space="preserve" ', 1)  # librsvg drops spaces at the ends of a text else


def _cells_wide(text: re.Match[str]) -> str:
    """A text as long as its cells: Rich counts characters, of which a Chinese one has two cells."""
    return f'textLength="{CELL * cell_width(unescape(text[2])):g}"{text[1]}{text[2]}'


@dataclass
class Studio:
    """The app under keys, and where its pictures go."""

    pilot: Pilot[int]
    folder: Path
    projects: list[Project]

    async def settle(self) -> None:
        """All that was begun on the screen has ended."""
        for _round in range(3):
            await self.pilot.pause()
            with suppress(WorkerCancelled):  # another of its group took its place
                await self.pilot.app.workers.wait_for_complete()
        await self.pilot.pause()

    async def until(self, fits: Callable[[], bool]) -> None:
        """Returns when the screen is so; raises TimeoutError."""
        async with asyncio.timeout(PATIENCE):
            while not fits():
                await self.pilot.pause(0.05)

    async def press(self, *keys: str) -> None:
        """Presses keys one after the other. A worker may wait for the next key, so none is waited for."""
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause()

    def save(self, name: str) -> None:
        """Takes the picture."""
        (self.folder / f"{name}.svg").write_text(plain_svg(self.pilot.app.export_screenshot()), encoding="utf-8")

    async def use_theme(self, name: str) -> None:
        """Another theme, as F12 would choose it."""
        app = self.pilot.app
        assert isinstance(app, FlowCabalApp)
        app.looks.load()
        app.looks.use(name)
        await settled(self.pilot)

    async def answer(self, words: str) -> None:
        """Puts the words into the line that asks for some, as soon as there is one."""
        await self.until(lambda: self.shows(PromptLine))
        line = self.pilot.app.screen
        line.query_one(Input).value = words
        await self.press("enter")
        await self.until(lambda: self.pilot.app.screen is not line)

    # The demo's way

    @property
    def workspace(self) -> WorkspaceScreen:
        """The workspace below whatever lies over it."""
        return next(screen for screen in self.pilot.app.screen_stack if isinstance(screen, WorkspaceScreen))

    def shows(self, screen: type[object]) -> bool:
        """Is such a screen on top?"""
        return isinstance(self.pilot.app.screen, screen)

    async def open(self) -> None:
        """The project is there, and the memory of what was imported is complete."""
        await self.until(lambda: self.shows(WorkspaceScreen))
        await self.remembered()

    async def remembered(self) -> None:
        """Background work is done, and the feed was looked at since."""
        await self.projects[-1].memory.settled()
        await self.pilot.pause(2 * drain_seconds())
        await self.settle()

    async def run(self) -> None:
        """Starts the chapter's workflow with the wish that the demo proposes; ends at the plan."""
        await self.press("f5")
        await self.until(lambda: self.shows(PromptLine))
        await self.press("enter")
        await self.asked("plan")

    async def asked(self, node: str) -> None:
        """The question of this node waits, and the node is in view."""
        await self.until(lambda: self.workspace.controllers.questions.count == 1 and self.workspace.view.node == node)
        await self.settle()

    async def decide(self) -> None:
        """Opens the decision; its keys count after the grace."""
        await self.press("f8")
        await self.until(lambda: self.shows(DecisionsScreen))
        await self.settle()
        await self.pilot.pause(GRACE)

    async def draft(self) -> None:
        """Approves the plan; ends where the check doubts the polished draft."""
        await self.run()
        await self.decide()
        await self.press("a")
        await self.asked("polish")

    async def finish(self) -> None:
        """Has it corrected, keeps it, and waits until the book remembers it."""
        await self.press("r")
        await self.until(lambda: self.shows(PromptLine))
        await self.press("enter")
        await self.until(
            lambda: self.shows(WorkspaceScreen) and "done" in self.workspace.controllers.runs.run_states.values()
        )
        await self.until(lambda: self.workspace.view.node == "polish")
        await self.settle()
        await self.press("4", "a")
        await self.until(lambda: bool(self.workspace.book.chapter and self.workspace.book.chapter.version))
        await self.remembered()

    async def story(self) -> None:
        """Who stands around the first name, the promises and the timeline, each in a picture."""
        for name, screen, keys in (
            ("around", EgoScreen, ("8", "r")),
            ("promises", RecordsScreen, ("escape", "escape", "9")),
            ("timeline", RecordsScreen, ("2",)),
        ):
            for key in keys:
                await self.press(key)
                await self.settle()
            await self.until(lambda screen=screen: self.shows(screen))
            self.save(name)
        await self.press("escape")

    async def fill_form(self, key: str, wish: str) -> None:
        """The form that a key of the list of workflows fills from a wish."""
        await self.press("2", "w", key)
        await self.until(lambda: self.shows(PromptLine))
        self.pilot.app.screen.query_one(Input).value = wish
        await self.press("enter")
        await self.until(lambda: self.shows(FormScreen) or self.shows(ChooseScreen))
        if self.shows(ChooseScreen):
            await self.press("enter")
        await self.until(lambda: self.shows(FormScreen))
        await settled(self.pilot)

    async def build(self, wish: str) -> None:
        """Changes the workflow in view by a wish and the form; ends at the review."""
        await self.fill_form("R", wish)
        await self.press("ctrl+s")
        await self.until(lambda: bool(self.shows(BuildReviewScreen) and self.changes.option_count))
        await settled(self.pilot)
        await self.press("j")
        await settled(self.pilot)

    async def write(self) -> None:
        """Opens the first chapter in the writing view, and selects a few words."""
        await self.press("1", "g", "enter")
        await self.settle()
        await self.press("ctrl+n", "ctrl+n", "down", "down", *["shift+right"] * 6)
        await self.settle()

    @property
    def changes(self) -> PickList:
        """The list of the screen on top."""
        return self.pilot.app.screen.query_one(PickList)

    async def rewrite(self, instruction: str) -> None:
        """Selects the first paragraph and asks for another version of it."""
        await self.press("f2")
        await self.settle()
        await self.press("ctrl+home", *["shift+down"] * 3, "ctrl+r")
        await self.until(lambda: self.shows(PromptLine))
        await self.press(*("space" if letter == " " else letter for letter in instruction), "enter")
        proposal = self.workspace.query_one(ManuscriptPane).query_one(DiffView)
        await self.until(lambda: proposal.display and proposal.size.height > 0)
        await self.settle()


@asynccontextmanager
async def studio(
    folder: Path, language: str, size: tuple[int, int], project: Path | None = None
) -> AsyncIterator[Studio]:
    """The real app; a project is opened with the offline model at its fastest, and no knowledge server."""

    projects: list[Project] = []

    async def opener(path: Path, read_only: bool) -> Project:
        projects.append(await Project.open(path, read_only=read_only, knowledge=False, pace=0.0))
        return projects[-1]

    async def create(path: Path, _name: str, _language: str) -> Path:
        return path

    async def demo(_language: str) -> Path:
        return Path("demo")

    def settled(_settings: ScreenSettings, _model: object) -> None:
        """Nothing is kept."""

    def remembered(_language: str, _theme: str) -> None:
        """Nothing is kept."""

    access = ProjectAccess(opener, create, demo, lambda: RECENT, settled, remembered)
    app = FlowCabalApp(
        access,
        ScreenSettings(language=language, wizard_done=True),
        path=project,
        state_folder=folder,
        clock=lambda: NOW,
    )
    async with app.run_test(size=size) as pilot:
        yield Studio(pilot, folder, projects)
    await app.departure.finish()


async def take(folder: Path, books: Path) -> None:
    """Takes all pictures into `folder`; the demo projects are made in `books`."""
    async with studio(folder, "en", WIDE) as at:
        await at.settle()
        at.save("home")
    english = await create_demo(books / "the-book", "en")
    async with studio(folder, "en", WIDE, english) as at:
        await at.open()
        await at.draft()
        at.save("workspace")
        await at.pilot.resize_terminal(*MIDDLE)
        await at.story()
        await at.press("6", "z")
        await at.settle()
        at.save("receipt")
        await at.press("z")
        await at.pilot.resize_terminal(*WIDE)
        await at.decide()
        at.save("decision")
        await at.finish()
        await at.rewrite("Shorter.")
        at.save("manuscript-rewrite")
    async with studio(folder, "en", MIDDLE, english) as at:
        await at.open()
        await at.write()
        at.save("writing-view")
    chinese = await create_demo(books / "zh", "zh")
    async with studio(folder, "zh", WIDE, chinese) as at:
        await at.open()
        await at.draft()
        at.save("workspace-zh")
    async with studio(folder, "zh", MIDDLE, chinese) as at:
        await at.open()
        await at.write()
        at.save("writing-view-zh")
    async with studio(folder, "zh", NARROW, chinese) as at:
        await at.open()
        await at.press("4")
        await at.settle()
        at.save("narrow")
    await take_builds(folder, books)
    await take_candidates(folder, books)
    await take_judgement(folder, books)
    from tests.talk_pictures import take_talks  # it imports the studio from here

    await take_talks(folder, books)


async def take_builds(folder: Path, books: Path) -> None:
    """Takes the pictures of the form of a new workflow, and of a change under review."""
    wishes = {
        "en": ("Plan it, show me the plan, then draft, check names and dates, and polish it.",
               "Put a step between draft and polish that checks the names."),
        "zh": ("先列计划，给我看过再写初稿，核对人名和时间，最后润色。", "初稿和润色之间加一步，核对人名。"),
    }  # fmt: skip
    for language, size, sign in (("en", MIDDLE, ""), ("zh", NARROW, "-zh")):
        use_language(language)
        project = await create_demo(books / f"builds-{language}", language)
        async with studio(folder, language, size, project) as at:
            await at.open()
            new, change = wishes[language]
            await at.fill_form("B", new)
            at.save(f"build-form{sign}")
            await at.press("escape")
            await at.until(lambda at=at: at.shows(WorkspaceScreen))
            await at.build(change)
            at.save(f"build{sign}")
    use_language("en")


async def six_openings(books: Path, language: str) -> Path:
    """A demo in which a run waits for the choice among six openings."""
    folder = await create_demo(books / f"six-{language}", language)
    document = example("five_openings", language).model_dump(mode="json")
    params = document["nodes"][0]["params"]
    sixth = {"en": "Begin with a sound.", "zh": "从一个声音写起。"}[language]
    params |= {"candidates": 6, "rounds": 1, "variations": [*params["variations"], {"instruction": sixth}]}
    project = await Project.open(folder, knowledge=False, pace=0.0)
    try:
        await project.carry_out(SaveWorkflow(Workflow.model_validate({**document, "id": "six-openings"})))
        chapter = (await project.book.chapters())[-1].id
        wish = (("instruction", await project.drafts.draft("instruction") or ""),)
        await project.carry_out(RunWorkflow(RunRequest("six-openings", chapter, wish)))
        async with asyncio.timeout(PATIENCE):
            while not await project.runs.questions():  # noqa: ASYNC110  # the run is polled
                await asyncio.sleep(0.05)
    finally:
        await project.close()
    return folder


async def take_candidates(folder: Path, books: Path) -> None:
    """Takes the pictures of a comparison of candidates."""
    for language, size, name in (("en", WIDE, "candidates"), ("zh", NARROW, "candidates-zh")):
        use_language(language)
        project = await six_openings(books, language)
        async with studio(folder, language, size, project) as at:
            await at.open()
            await at.press("f8")
            await at.until(lambda at=at: at.shows(ComparisonScreen) and at.pilot.app.screen.comparison is not None)
            await at.settle()
            for key in ("space", "2", "j", "j", "space"):
                await at.press(key)
                await at.settle()
            at.save(name)
    use_language("en")


DOUBTED: Final = {
    "en": "The scar on the back of Tobias Crane's right hand was the first thing that Nora saw when the strongbox came "
    "up out of the mud.\n\n“Open it,” she said, and he felt in his coat for the small brass key.\n\nThe lid came up "
    "**slowly**, and there was nothing in it but a ledger.\n\nInes Marlow looked at it with her grey eyes and squared "
    "it against the edge of the table.\n",
    "zh": "　　铁箱从泥里起上来的时候，素秋先看见的是魏长河的右手，只剩三根指头，正按在箱盖上。\n\n"
    "　　沈素秋今年四十五岁，还是没有学会等。她站在岸上，把领子竖起来；魏长河一句话也不说。\n\n"
    "　　箱盖**慢慢**开了，里面只有一本账。\n\n　　顾婉清把那本 ledger 对着桌沿摆正，又看了一眼窗外。\n",
}
"""The chapter that is to be written, with mistakes that rules find."""
RENAMED: Final = {"en": ("Tobias Crane", "Abel Rook"), "zh": ("魏长河", "陆长河")}


async def take_judgement(folder: Path, books: Path) -> None:
    """Takes the pictures of the findings and of the review of a renamed person, wide and narrow."""
    for language in ("en", "zh"):
        use_language(language)
        book = await create_demo(books / f"judged-{language}", language)
        project = await Project.open(book, knowledge=False, pace=0.0)
        try:
            await project.carry_out(WriteChapter((await project.book.chapters())[-1].id, DOUBTED[language]))
            await project.memory.settled()
        finally:
            await project.close()
        ending = "" if language == "en" else "-zh"
        for size, width in ((WIDE, ""), (NARROW, "-narrow")):
            async with studio(folder, language, size, book) as at:
                await at.open()
                await at.press("L")
                await at.until(lambda at=at: at.shows(FindingsScreen) and at.pilot.app.screen.rows.row is not None)
                await settled(at.pilot)
                at.save(f"findings{width}{ending}")
                await at.press("escape")
                await settled(at.pilot)
                await at.press("ctrl+k")
                for words in RENAMED[language]:
                    await at.answer(words)
                await at.until(lambda at=at: at.shows(ImpactScreen) and at.pilot.app.screen.rows.option_count > 0)
                await settled(at.pilot)
                await at.press("j", "j", "j")
                await settled(at.pilot)
                at.save(f"impact{width}{ending}")
    use_language("en")


SCREENS: Final = {
    "workspace": ("4",),
    "context": ("6",),
    "profiles": ("7",),
    "manuscript": ("3",),
    "names": ("8",),
    "promises": ("9",),
    "timeline": ("0",),
    "true": ("W",),
    "findings": ("L",),
    "proposals": ("shift+f8",),
    "runs": ("f3",),
    "background": ("Q",),
    "whole-book": ("M",),
    "search": ("F",),
    "help": ("f1",),
    "workflows": ("2", "w"),
    "builds": ("1", "V"),
    "outline": ("O", "enter"),
    "revision": ("H",),
    "comments": ("semicolon",),
    "days": ("#",),
    "settings": ("$",),
    "server": ("&",),
    "export": ("ctrl+e",),
    "changes": ("U",),
    "themes": ("f12",),
    "palette": ("ctrl+p",),
    "notices": ("ctrl+b",),
    "conversation": ("ctrl+backslash",),
    "review": ("f8",),
    "guide": ("~",),
    "writing": ("~", "1", "g", "enter", "ctrl+n"),
}
"""Keys that lead from the workspace to each screen."""


async def take_all(folder: Path, books: Path) -> None:
    """Takes every screen of the demo after a run that waits: `<screen>-<language>-<width>-<theme>.svg`.

    Each is taken in all themes that ship; without colours (`none`) in a second round, because NO_COLOR holds from the
    start of the program.
    """
    for language in ("en", "zh"):
        book = await create_demo(books / language, language)
        for size in (WIDE, NARROW):
            await _take_looks(folder, book, language, size, OURS)
            os.environ["NO_COLOR"] = "1"
            await _take_looks(folder, book, language, size, ("",))
            del os.environ["NO_COLOR"]


async def _take_looks(folder: Path, book: Path, language: str, size: tuple[int, int], themes: Sequence[str]) -> None:
    async def take_each(at: Studio, name: str) -> None:
        for theme in themes:
            await at.use_theme(theme)
            at.save(f"{name}-{language}-{size[0]}-{theme or 'none'}")

    use_language(language)
    async with studio(folder, language, size) as at:
        await take_each(at, "home")
        await at.press("w")
        await take_each(at, "wizard")
    async with studio(folder, language, size, book) as at:
        await at.open()
        if not at.workspace.controllers.questions.count:
            await at.draft()
        for name, keys in SCREENS.items():
            for key in keys:
                await at.press(key)
                await settled(at.pilot)  # a choice waits in a worker of its own, which does not end
            await take_each(at, name)
            if not at.shows(WorkspaceScreen):
                await at.press("escape")
                await settled(at.pilot)


async def take_long(folder: Path, project: Path, sought: str) -> None:
    """Takes the pictures of a long book: search, the manuscript, where lines come from."""
    async with studio(folder, "en", MIDDLE, project) as at:
        await at.until(lambda: at.shows(WorkspaceScreen))
        await at.settle()
        await at.press("F", *sought)
        await at.until(lambda: at.shows(SearchScreen) and bool(at.pilot.app.screen.query_one(PickList).option_count))
        await settled(at.pilot)
        at.save("search")
        await at.press("escape", "M")
        await at.until(lambda: at.shows(BrowserScreen) and bool(at.pilot.app.screen.query_one(PickList).option_count))
        await at.press("g", "j", "l")
        await settled(at.pilot)
        at.save("manuscript-browser")
        await at.press("escape", "3", "w")
        await at.until(lambda: at.shows(BlameScreen))
        await at.press("j")
        await at.until(lambda: bool(at.pilot.app.screen.query_one("#sources", PickList).option_count))
        await settled(at.pilot)
        at.save("where-from")


def main() -> None:
    """Takes the pictures in the folder that is given, else in docs/images."""
    takes_all = sys.argv[1:2] == ["all"]
    given = sys.argv[1 + takes_all :]
    folder = Path(given[0]) if given else Path("pictures") if takes_all else IMAGES
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        for name in ("CONFIG", "STATE", "CACHE", "DATA"):
            os.environ[f"FLOWCABAL_{name}_DIR"] = f"{place}/{name.lower()}"
        os.environ.pop("SSH_CONNECTION", None)
        use_language("en")
        if takes_all:
            asyncio.run(take_all(folder, Path(place)))
        elif len(given) > 1:
            book = shutil.copytree(given[1], Path(place) / "book", ignore=shutil.ignore_patterns("lock"))
            asyncio.run(take_long(folder, book, SOUGHT))
        else:
            asyncio.run(take(folder, Path(place)))


if __name__ == "__main__":
    main()
