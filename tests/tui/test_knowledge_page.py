"""The page of the knowledge server, with a server in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace

from textual.pilot import Pilot

from flowcabal_tui.domain.memory import Level
from flowcabal_tui.project.memory.knowledge_contents import KnowledgeContents, KnowledgeEntry, KnowledgeFound
from flowcabal_tui.protocol.memory import KnowledgeStatus
from flowcabal_tui.tui.memory.knowledge import KnowledgeScreen
from tests.tui.hosts import HOSTILE, Host, shown

ENTRIES = (
    KnowledgeEntry("manuscript/one", True, "fresh", ("L0", "L1", "L2"), 3, 1),
    KnowledgeEntry("manuscript/two", True, "waiting", ("L0", "L1", "L2"), 1, 2),
    KnowledgeEntry("manuscript/three", False, "waiting", position=3),
    KnowledgeEntry("profiles/characters/mara", False, "failed", position=2, error=f"refused {HOSTILE}"),
)
READY = KnowledgeContents(KnowledgeStatus("ready"), "/cache/knowledge", "words/8", ENTRIES)


class Controller:
    """A knowledge server in memory; what is asked for is noted."""

    def __init__(self, contents: KnowledgeContents = READY) -> None:
        self.now, self.progress, self.done = contents, "", list[object]()
        self.project = SimpleNamespace(knowledge=self)

    async def contents(self) -> KnowledgeContents:
        return self.now

    async def installed(self) -> str:
        return "0.5.2" if self.now.is_up else ""

    async def subjects(self) -> Mapping[str, str]:
        return {"manuscript/one": "1 Rain", "manuscript/two": "2 渡口", "manuscript/three": "3 Dawn", "mara": "Mara"}

    async def text(self, subject: str) -> tuple[tuple[Level, str], ...]:
        return (("L0", f"A line. {HOSTILE}"), ("L2", f"The text of {subject}"))

    async def find(self, query: str) -> tuple[KnowledgeFound, ...] | None:
        self.done.append(("find", query))
        return (KnowledgeFound("manuscript/two", "L2", 0.9, "the ferry in the rain"),) if query == "ferry" else None

    async def write_again(self, subjects: Sequence[str]) -> None:
        self.done.append(("write", *subjects))

    def install(self) -> None:
        self.done.append("install")
        self.progress = "fetching: 12 of 313 packages"

    def stop_installing(self) -> None:
        self.done.append("stop")
        self.progress = ""

    async def remove(self) -> None:
        self.done.append("remove")


async def opened(app: Host, pilot: Pilot[None], controller: Controller) -> KnowledgeScreen:
    page = KnowledgeScreen(controller)
    await app.push_screen(page)
    await settle(app, pilot)
    return page


async def settle(app: Host, pilot: Pilot[None]) -> None:
    await app.workers.wait_for_complete()
    await pilot.pause()
    await app.workers.wait_for_complete()
    await pilot.pause()


def page_text(app: Host) -> str:
    return "\n".join(row.rstrip() for row in shown(app))


async def test_what_is_held_and_what_is_owed_is_a_tree_with_levels_and_states() -> None:
    app = Host()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(app, pilot, Controller())
        assert "The knowledge server is ready.   openviking 0.5.2 installed" in page_text(app)
        assert "stored: 2   to send: 3   vectors of words/8" in page_text(app)
        assert "Chapters (3, 2 to send)" in page_text(app) and "Profiles (1, 1 to send)" in page_text(app)
        await pilot.press("l")
        await settle(app, pilot)
        rows = page_text(app)
        assert "● 1 Rain  L0 L1 L2×3" in rows
        assert "◌ 2 渡口  stored, out of date  L0 L1 L2" in rows
        assert ". 3 Dawn  not sent yet" in rows
        await pilot.press("G", "l", "j")
        await settle(app, pilot)
        assert "✗ Mara  failed  refused [/] [b]bold[/b]" in page_text(app)


async def test_the_entry_under_the_cursor_is_shown_as_the_server_has_it() -> None:
    app = Host()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(app, pilot, Controller())
        await pilot.press("l", "j")
        await settle(app, pilot)
        assert "1 Rain   stored" in page_text(app)
        assert "L0 one line" in page_text(app) and "A line. [/] [b]bold[/b] red" in page_text(app)
        assert "The text of manuscript/one" in page_text(app)
        await pilot.press("j", "j")
        await settle(app, pilot)
        assert "3 Dawn   not sent yet" in page_text(app) and "The text of" not in page_text(app)


async def test_it_finds_by_meaning_and_the_way_back_leads_to_the_whole_tree() -> None:
    app, controller = Host(), Controller()
    async with app.run_test(size=(100, 30)) as pilot:
        page = await opened(app, pilot, controller)
        await pilot.press("slash", *"rain", "enter")
        await settle(app, pilot)
        assert "near in meaning" not in page_text(app), "it was not to be paid for"
        await pilot.press("slash", *"ferry", "enter")
        await settle(app, pilot)
        assert "near in meaning to “ferry” (1)" in page_text(app)
        assert "0.90 2 渡口  L2  the ferry in the rain" in page_text(app)
        assert "The text of manuscript/two" in page_text(app), "the cursor is at the first"
        await pilot.press("escape")
        await settle(app, pilot)
        assert "near in meaning" not in page_text(app) and app.screen is page
        await pilot.press("escape")
        assert app.screen is not page


async def test_an_entry_or_a_branch_is_written_again() -> None:
    app, controller = Host(), Controller()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(app, pilot, controller)
        await pilot.press("m", "l", "j", "m")
        await settle(app, pilot)
    assert controller.done == [
        ("write", "manuscript/one", "manuscript/two", "manuscript/three"),
        ("write", "manuscript/one"),
    ]


async def test_where_it_is_absent_the_page_says_how_to_get_it_and_follows_the_installation() -> None:
    absent = replace(READY, status=KnowledgeStatus("absent", "openviking is not installed"), entries=())
    app, controller = Host(), Controller(absent)
    async with app.run_test(size=(80, 24)) as pilot:
        page = await opened(app, pilot, controller)
        assert "+ installs it" in page_text(app)
        await pilot.press("plus")
        await page.reload()
        await settle(app, pilot)
        assert "Installation: fetching: 12 of 313 packages" in page_text(app)
        await pilot.press("x", "D")
        await settle(app, pilot)
        await page.reload()
        await settle(app, pilot)
        assert "+ installs it" in page_text(app)
    assert controller.done == ["install", "stop", "remove"]
