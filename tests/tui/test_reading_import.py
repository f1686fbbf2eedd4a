"""The paid reading of an import on the screen: offered with its price, paused and gone on with by one key."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from flowcabal_tui.domain.manuscript import ImportPreview, ImportReport
from flowcabal_tui.domain.memory import BootstrapQuote, BootstrapStatus, Totals
from flowcabal_tui.protocol.book import ImportManuscript
from flowcabal_tui.protocol.memory import BootstrapChanged, PauseBootstrap, StartBootstrap
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.status_line import StatusLine
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prompt_line import PromptLine
from flowcabal_tui.tui.workspace.workspace import WorkspaceScreen
from tests.tui import fake_books as books
from tests.tui.fakes import FakeProject
from tests.tui.hosts import shown
from tests.tui.test_workspace import app_over, told, until, workspace

RUNNING = BootstrapStatus("running", 34, 120, 0, 1860.0, Totals(40, cost=Decimal("1.25"), currency="USD"))


class ImportedProject(FakeProject):
    """Twelve chapters were imported and no model has read them."""

    status: BootstrapStatus | None = None

    async def bootstrap(self) -> BootstrapStatus | None:
        return self.status

    async def quote_bootstrap(self) -> BootstrapQuote:
        return BootstrapQuote(12, 90, 200_000, 60_000, Decimal("3.20"), "USD", 900.0, 30, 70_000, Decimal("1.00"))


async def test_the_price_is_shown_before_anything_is_sent(tmp_path) -> None:
    project = ImportedProject(offline=False)
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("B")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        page = "\n".join(shown(pilot.app))
        assert "90 calls" in page and "$3.20" in page
        await pilot.press("n")
        await until(pilot, lambda: not isinstance(pilot.app.screen, ConfirmScreen))
        assert not any(isinstance(command, StartBootstrap) for command in project.sent)
        await pilot.press("B")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("y")
        await until(pilot, lambda: StartBootstrap() in project.sent)


async def test_a_free_reading_is_offered_without_a_word_of_payment(tmp_path) -> None:
    class Free(ImportedProject):
        async def quote_bootstrap(self) -> BootstrapQuote:
            return replace(await super().quote_bootstrap(), cost=Decimal(0), likely_cost=Decimal(0))

    project = Free(offline=False)
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("B")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        page = "\n".join(shown(pilot.app))
        assert "90 calls" in page and "costs money" not in page and "Pay and continue" not in page
        await pilot.press("y")
        await until(pilot, lambda: StartBootstrap() in project.sent)


async def test_how_far_it_is_stands_in_the_status_line_and_the_key_pauses_it(tmp_path) -> None:
    project = ImportedProject(offline=False)
    project.status = RUNNING
    project.script.append((BootstrapChanged(replace(RUNNING, done=35)),))
    async with workspace(project, tmp_path) as pilot:
        line = pilot.app.screen.query_one(StatusLine)
        await until(pilot, lambda: "35 of 120" in line.words)
        assert "$1.25" in line.words and "31 min" in line.words
        await pilot.press("B")
        await until(pilot, lambda: PauseBootstrap() in project.sent)


async def test_a_reading_that_an_earlier_session_left_is_told(tmp_path) -> None:
    project = ImportedProject(offline=False)
    project.status = replace(RUNNING, state="paused", reason="the cap is reached")
    async with workspace(project, tmp_path) as pilot:
        line = pilot.app.screen.query_one(StatusLine)
        await until(pilot, lambda: "paused: the cap is reached" in line.words)


async def test_a_paused_reading_is_gone_on_with_or_given_up(tmp_path) -> None:
    project = ImportedProject(offline=False)
    project.status = replace(RUNNING, state="paused")
    async with workspace(project, tmp_path) as pilot:
        await pilot.press("B")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and not pilot.app.screen.is_opening)
        await pilot.press("B")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen) and not pilot.app.screen.is_opening)
        assert not project.sent
        await pilot.press("B")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChooseScreen))
        await pilot.press("down", "enter")
        await until(pilot, lambda: PauseBootstrap(drop=True) in project.sent)


async def test_the_end_is_told_and_leaves_the_line_unless_steps_failed(tmp_path) -> None:
    project = ImportedProject(offline=False)
    app = app_over(project, tmp_path)
    async with app.run_test(size=(140, 40), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, WorkspaceScreen) and not app.screen.is_opening)
        line = app.screen.query_one(StatusLine)
        await told(pilot, project, BootstrapChanged(replace(RUNNING, state="done", done=118, failed=2)))
        assert "2 failed" in line.words
        await until(pilot, lambda: any("118 of 120" in row for row in shown(app)[:-2]))
        await told(pilot, project, BootstrapChanged(replace(RUNNING, state="done", done=120)))
        assert "reading" not in line.words


async def test_what_is_in_the_book_already_is_said_before_it_is_imported(tmp_path) -> None:
    class Known(ImportedProject):
        async def preview_import(self, path: Path) -> ImportPreview:
            preview = await super().preview_import(path)
            chapters = preview.chapters * (1 if path.stem == "all" else 2)
            return replace(preview, chapters=chapters, known=frozenset({0}))

    project = Known(offline=False)
    async with workspace(project, tmp_path) as pilot:
        for name, said, again in (("some", "1 are already in the book", False), ("all", "Import it again?", True)):
            await pilot.press("I")
            await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
            await pilot.press(*name, "enter")
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
            assert said in "\n".join(shown(pilot.app))
            await pilot.press("y")
            await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
            await pilot.press("n")
            await until(pilot, lambda: not isinstance(pilot.app.screen, ConfirmScreen))
            imports = [command for command in project.sent if isinstance(command, ImportManuscript)]
            assert imports[-1].again is again


async def test_an_import_tells_its_length_as_the_book_counts_it_and_its_volumes(tmp_path) -> None:
    class Volumes(ImportedProject):
        async def preview_import(self, path: Path) -> ImportPreview:
            preview = await super().preview_import(path)
            chapters = tuple(replace(preview.chapters[0], volume=f"卷{n}") for n in "一一二")
            return replace(preview, chapters=chapters)

    project = Volumes("zh", offline=False)
    length = sum(chapter.length for chapter in books.chapters(project.words)[:1]) * 3
    async with workspace(project, tmp_path, size=(80, 24)) as pilot:
        await pilot.press("I")
        await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
        await pilot.press(*"a.txt", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        page = "\n".join(shown(pilot.app))
        assert f"({length} characters, utf-8)" in page and "Volumes: 2 (卷一, 卷二)" in page


async def test_what_became_of_a_document_is_said_before_it_is_imported(tmp_path) -> None:
    class Document(ImportedProject):
        async def preview_import(self, path: Path) -> ImportPreview:
            numbers = {name: n for n, name in enumerate(("insertions", "deletions", "tables", "hidden", "pictures"), 1)}
            report = ImportReport(paragraphs=60_000, rule="headings", fields=9, notes=9, ruby=9, margins=2, **numbers)
            return replace(await super().preview_import(path), report=report)

    async with workspace(Document(offline=False), tmp_path, size=(80, 24)) as pilot:
        await pilot.press("I")
        await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
        await pilot.press(*"a.docx", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        page = " ".join(row.strip(" │") for row in shown(pilot.app))
        assert "60,000 paragraphs were read. Chapters begin at the headings" in page
        assert "insertions accepted: 1." in page and "deletions left out: 2." in page
        assert "2 more lines: see import --dry-run" in page and "Yes" in page


async def test_many_notes_on_an_import_leave_room_for_the_answer(tmp_path) -> None:
    class Odd(ImportedProject):
        async def preview_import(self, path: Path) -> ImportPreview:
            return replace(await super().preview_import(path), warnings=tuple(f"note {n}" for n in range(60)))

    async with workspace(Odd(offline=False), tmp_path, size=(80, 24)) as pilot:
        await pilot.press("I")
        await until(pilot, lambda: isinstance(pilot.app.screen, PromptLine))
        await pilot.press(*"a.txt", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmScreen))
        page = "\n".join(shown(pilot.app))
        assert "note 5" in page and "54 more" in page and "Yes" in page
