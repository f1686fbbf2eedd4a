from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace

from textual.pilot import Pilot
from textual.screen import Screen

from flowcabal_tui.domain.memory import BackgroundTask, BootstrapStatus, Freshness, StaleText, Totals
from flowcabal_tui.domain.text import digest
from flowcabal_tui.protocol.memory import KnowledgeStatus, RebuildProgress
from flowcabal_tui.tui.memory.queue import QueueScreen
from flowcabal_tui.tui.memory.queue_controller import QueueController
from flowcabal_tui.tui.widgets.list_detail import DetailText
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import HOSTILE, Host, shown

NOW = books.NOW
TASKS = (
    BackgroundTask(
        1, "l0", books.chapter_id(3), digest("1"), "waiting", 3, 2, "The model is busy.", NOW.timestamp() + 30
    ),
    BackgroundTask(2, "profile", "hero@chapter-2", digest("2"), "failed", 2, 5, "The model did not answer."),
    BackgroundTask(3, "index", books.chapter_id(1), digest("3"), "running", 1),
    BackgroundTask(4, "mirror", books.chapter_id(1), digest("4"), "fresh", 1),
)


class Controller:
    """A queue in memory; what is asked for is noted."""

    def __init__(self, *tasks: BackgroundTask) -> None:
        self.rows = list(tasks)
        self.done: list[tuple[str, int | None]] = []
        self.status: BootstrapStatus | None = None
        self.old: dict[StaleText, str] = {}
        self.rebuilt: RebuildProgress | None = None
        self.project = SimpleNamespace(memory=self)

    async def tasks(self, state: Freshness | None) -> tuple[BackgroundTask, ...]:
        return tuple(task for task in self.rows if task.state == state or (state is None and task.state != "fresh"))

    async def counts(self) -> dict[Freshness, int]:
        return dict(Counter(task.state for task in self.rows))

    async def subjects(self) -> Mapping[str, str]:
        return {"hero": "Mara", books.chapter_id(1): "1 Rain", books.chapter_id(2): "2 The Ferry"}

    async def bootstrap(self) -> BootstrapStatus | None:
        return self.status

    async def stale(self) -> Mapping[StaleText, str]:
        return self.old

    async def make_again(self, texts: Sequence[StaleText]) -> None:
        self.old = {text: name for text, name in self.old.items() if text not in texts}

    async def rebuild(self) -> None:
        self.done.append(("rebuild", None))

    async def retry(self, task: int | None) -> None:
        self.done.append(("retry", task))
        self.rows = [replace(row, state="waiting") if row.id == task else row for row in self.rows]

    async def cancel(self, task: int | None) -> None:
        self.done.append(("cancel", task))


async def opened(app: Host, pilot: Pilot[None], controller: Controller) -> QueueScreen:
    page = QueueScreen(controller, lambda: NOW)
    await app.push_screen(page)
    await settle(app, pilot)
    return page


async def settle(app: Host, pilot: Pilot[None]) -> None:
    await app.workers.wait_for_complete()
    await pilot.pause()


def page_text(app: Host) -> str:
    return "\n".join(shown(app))


async def test_every_step_tells_its_kind_subject_tries_and_reason_by_state() -> None:
    app = Host()
    async with app.run_test(size=(90, 24)) as pilot:
        await opened(app, pilot, Controller(*TASKS))
        rows = [row.strip() for row in shown(app)]
        assert rows[0].endswith("1 of 4 steps are done")
        assert rows.index("running  1") < rows.index("failed  1") < rows.index("queued  1")
        assert any(row.split()[:6] == ["✗", "profile", "Mara,", "2", "The", "Ferry"] for row in rows)
        assert any(row.startswith("○ summary in one line") and "attempts: 2, again in 30 s" in row for row in rows)
        assert "file in manuscript/" not in page_text(app)
        await pilot.press("f")
        await settle(app, pilot)
        assert any(row.split() == ["●", "file", "in", "manuscript/", "1", "Rain"] for row in shown(app))


async def test_the_whole_reason_of_the_step_under_the_cursor_is_shown_with_the_next_key() -> None:
    app, long = Host(), replace(TASKS[1], error="The model did not answer. " * 12)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(app, pilot, Controller(long))
        told = app.screen.query_one(DetailText)
        assert told.plain.startswith("profile   Mara, 2 The Ferry   failed\nattempts: 5\n")
        assert long.error.strip() in told.plain and told.plain.endswith("r tries it again, x cancels it.")


async def test_one_step_or_all_are_taken_up_again_or_cancelled() -> None:
    app, controller = Host(), Controller(*TASKS)
    async with app.run_test(size=(90, 24)) as pilot:
        await opened(app, pilot, controller)
        await pilot.press("j", "r")
        await settle(app, pilot)
        assert "failed  1" not in page_text(app)
        await pilot.press("g", "x", "R", "X")
        await settle(app, pilot)
        assert controller.done == [("retry", 2), ("cancel", 3), ("retry", None), ("cancel", None)]


async def test_where_nothing_has_failed_and_nothing_is_left_the_keys_say_so() -> None:
    app, controller = Host(), Controller(*(replace(task, state="fresh") for task in TASKS))
    async with app.run_test(size=(90, 24), notifications=True) as pilot:
        await opened(app, pilot, controller)
        await pilot.press("R", "X", "f")
        await settle(app, pilot)
        await pilot.press("j", "r", "x")
        await settle(app, pilot)
        said = [each.message for each in app._notifications]
        assert controller.done == []
        assert said == ["Nothing here can be resumed.", "There is nothing left to cancel."] * 2


async def test_what_the_background_does_meanwhile_is_followed_and_the_cursor_stays_at_its_step() -> None:
    app, controller = Host(), Controller(*TASKS)
    async with app.run_test(size=(90, 24)) as pilot:
        page = await opened(app, pilot, controller)
        await pilot.press("j")
        controller.rows = [*TASKS[:2], replace(TASKS[2], state="fresh"), TASKS[3]]
        controller.status = BootstrapStatus("running", 12, 400, 1, 90.0, Totals(calls=12))
        await page.reload()
        await pilot.pause()
        assert "2 of 4 steps are done" in page_text(app)
        assert "reading of the import: 12 of 400 steps" in page_text(app)
        assert page.step is not None and page.step.id == 2


async def test_of_very_many_steps_the_first_are_listed_and_the_rest_counted() -> None:
    app = Host()
    many = [replace(TASKS[0], id=number) for number in range(1, 1_001)]
    async with app.run_test(size=(80, 24)) as pilot:
        page = await opened(app, pilot, Controller(*many))
        assert "queued  1,000  the first 100 are listed" in page_text(app)
        await pilot.press("G")
        assert page.step is not None and page.step.id == 100


async def test_of_very_many_texts_out_of_date_the_first_are_listed_and_all_can_be_made_again() -> None:
    app, controller = Host(), Controller()
    controller.old = {StaleText(f"profiles/{n}", n, (books.chapter_id(1),) * 5): f"Mara {n}" for n in range(1, 301)}
    async with app.run_test(size=(90, 24)) as pilot:
        page = await opened(app, pilot, controller)
        assert "changed since  300  the first 100 are listed" in page_text(app)
        assert any(
            row.startswith("◌ Mara 1 ") and " 1 Rain, 1 Rain, 1 Rain …" in row for row in map(str.strip, shown(app))
        )
        await pilot.press("m")
        await settle(app, pilot)
        await page.reload()
        assert len(controller.old) == 299 and "~ Mara 1 ·" not in page_text(app)
        await pilot.press("M", "Y")
        await settle(app, pilot)
        assert not controller.old and controller.done == [("rebuild", None)]


async def test_an_empty_queue_and_hostile_words_are_shown() -> None:
    app = Host()
    nasty = replace(TASKS[1], error=HOSTILE, subject=HOSTILE)
    async with app.run_test(size=(120, 24)) as pilot:
        page = await opened(app, pilot, Controller())
        assert "No background work yet: it starts when you keep a chapter." in page_text(app)
        await pilot.press("r", "x", "escape")
        assert app.screen is not page
        await opened(app, pilot, Controller(nasty))
        assert "[/] [b]bold[/b]" in page_text(app) and "\x1b" not in page_text(app)


async def test_the_kind_of_equal_steps_is_named_once() -> None:
    app = Host()
    async with app.run_test(size=(90, 24)) as pilot:
        await opened(app, pilot, Controller(*(replace(TASKS[2], id=n) for n in range(1, 4))))
        steps = [row.strip() for row in shown(app) if "1 Rain" in row]
        assert [row.split()[0] for row in steps[:3]] == ["◐"] * 3
        assert ["words of the index" in row or "index" in row for row in steps[:3]] == [True, False, False]


async def test_texts_for_a_server_that_is_not_used_are_no_work_of_the_list() -> None:
    project = FakeProject()
    owed = [replace(TASKS[0], id=7 + n, kind="knowledge", tries=0, error="") for n in range(21)]
    project.tasks = [*TASKS, *owed, replace(owed[0], id=40, state="failed")]
    controller = QueueController(Screen(), project)
    for state, listed in (("absent", 1), ("off", 1), ("ready", 22), ("starting", 22), ("asks", 22)):
        controller.note_server(KnowledgeStatus(state))
        assert len(await controller.tasks("waiting")) == listed == (await controller.counts())["waiting"]
        assert 40 in [task.id for task in await controller.tasks(None)], "a failure is always listed"
