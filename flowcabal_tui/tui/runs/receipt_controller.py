"""The origin of lines, receipts side by side, and the scene of a receipt's chapter."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.run import RunRequest, RunSummary
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.book import SetScene
from flowcabal_tui.tui.runs.history import RunPages
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.subscriptions import on_key, on_request
from flowcabal_tui.tui.shared.view import OpenView, OriginRequested
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.workflows.document import WorkflowDocument

OpenRun = Callable[[RunId, NodeId], Awaitable[None]]
_NOW = "now/"


class ReceiptController:
    """Shows receipts and origins; `open_run` opens a node of a run.

    The screens are imported when they are opened, so that the first frame need not wait for them.
    """

    def __init__(
        self, screen: Screen[Any], project: Project, view: OpenView, document: WorkflowDocument, open_run: OpenRun
    ) -> None:
        self._screen, self._project, self._view = screen, project, view
        self._document, self._open_run = document, open_run

    # Where lines come from

    @on_request(OriginRequested, group="looking", exclusive=True)
    async def origin(self, chapter: ChapterId, paragraph: str, place: int) -> bool:
        """Shows the lines of a chapter at the given paragraph, or near its place if it is not saved yet.

        Returns True when a run was opened from there.
        """
        from flowcabal_tui.tui.runs.origin import BlameScreen

        lines = await self._project.book.blame(chapter)
        known = next((each for each in await self._project.book.chapters() if each.id == chapter), None)
        if known is None or not lines:
            self._screen.notify(_("Nothing of this chapter is kept yet."), markup=False)
            return False
        near = min(lines, key=lambda line: (line.text != paragraph, abs(line.start - place)))
        opened = await self._screen.app.push_screen_wait(BlameScreen(known, lines, self._project, near.number))
        if opened is not None:
            await self._open_run(*opened)
        return opened is not None

    # Receipts

    def show(self, receipt: Receipt, title: str) -> None:
        """Shows a receipt on top of any screen."""
        from flowcabal_tui.tui.runs.receipt_screen import ReceiptScreen

        self._screen.app.push_screen(ReceiptScreen(receipt, title, self._project.memory.source))

    @on_key("run.sent", group="sent", exclusive=True)
    async def show_sent(self) -> None:
        """Shows the request of the displayed attempt."""
        from flowcabal_tui.tui.runs.sent import SentScreen

        run, node, output = self._view.run, self._view.node, self._screen.query_one(OutputPane)
        if run is None or node is None or not output.attempt:
            self._screen.notify(_("Nothing was sent for this node yet."), markup=False)
            return
        number, title = output.attempt, output.view.title if output.view else str(node)
        trace = await self._project.runs.version_trace(run, node, number)
        heading = _("{node}, attempt {n}: what was sent").format(node=one_line(title), n=number)
        self._screen.app.push_screen(SentScreen(heading, trace))

    @on_request(ReceiptPane.OtherRequested, group="looking", exclusive=True)
    async def compare_receipt(self, receipt: Receipt) -> None:
        """Asks for another receipt, of a run or of a preview for a chapter, and shows the difference."""
        pages = RunPages(self._project, {each.id: each.position for each in await self._project.book.chapters()})
        rows = await pages.more()
        others = (_NOW, _("as it would be now, for another chapter"))
        title = _("Compare with the receipt of")
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(title, (others, *rows), pages.more))
        if chosen is None:
            return
        found = await (self._imagined(receipt) if chosen == _NOW else self._of_run(receipt, pages.found[chosen]))
        if found is not None:
            self._screen.query_one(ReceiptPane).compare_with(*found)

    @on_request(ReceiptPane.SceneRequested, group="looking", exclusive=True)
    async def set_scene(self, receipt: Receipt) -> None:
        """Asks for the scene of the receipt's chapter, stores it, and shows a preview of the context with it."""
        from flowcabal_tui.tui.runs.scene_form import scene_form, scene_notice

        cast = await self._project.story.entities()
        names = [name for each in cast for name in each.names]
        answer = await self._screen.app.push_screen_wait(scene_form(receipt.intent, names))
        if answer is None or receipt.chapter is None or not (notice := scene_notice(answer)):
            return
        await self._project.carry_out(SetScene(receipt.chapter, *answer))
        self._screen.notify(notice, markup=False)
        workflow = self._document.workflow
        if workflow is not None and any(node.id == receipt.node for node in workflow.nodes):
            request = RunRequest(workflow.reference, receipt.chapter)
            imagined = await self._project.runs.preview_context(request, receipt.node)
            title = _("{node}, as it would be now").format(node=one_line(workflow.node(receipt.node).title))
            self._screen.query_one(ReceiptPane).show(imagined, title)

    async def _of_run(self, receipt: Receipt, run: RunSummary) -> tuple[Receipt, str] | None:
        """The receipt of a node of a run; the same node comes first."""
        found: dict[str, tuple[Receipt, str]] = {}
        for node in sorted((node for node, _state in run.nodes), key=lambda node: node != receipt.node):
            view = await self._project.runs.node(run.id, node)
            for each in reversed(view.attempts):
                if each.receipt is not None:
                    title = _("{node}, attempt {n}").format(node=one_line(view.title), n=each.number)
                    found[f"{node}/{each.number}"] = (each.receipt, title)
        if not found:
            self._screen.notify(_("No node of this run was given a context."), markup=False)
            return None
        rows = tuple((name, title) for name, (_receipt, title) in found.items())
        if len(rows) == 1:
            return found[rows[0][0]]
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(_("Which node?"), rows))
        return found.get(chosen or "")

    async def _imagined(self, receipt: Receipt) -> tuple[Receipt, str] | None:
        """A preview of the node's context for a chapter; spends nothing."""
        unsaved = {chapter.id for chapter, _draft in await self._project.drafts.all()}
        rows = tuple(
            (str(at.id), f"{at.position} {one_line(at.title)}{' *' if at.id in unsaved else ''}")
            for at in await self._project.book.chapters()
        )
        chosen = await self._screen.app.push_screen_wait(ChooseScreen(_("For which chapter?"), rows))
        if chosen is None or (workflow := self._document.workflow) is None:
            return None
        request = RunRequest(workflow.reference, ChapterId(chosen))
        imagined = await self._project.runs.preview_context(request, receipt.node)
        return imagined, _("as it would be now: {chapter}").format(chapter=dict(rows)[chosen])
