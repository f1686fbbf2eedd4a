"""Navigation between subjects: to a chapter with its run, to a run with its chapter, to a cited text."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.memory import Level
from flowcabal_tui.project.project import Project
from flowcabal_tui.tui.book.chapter_list import ChapterList
from flowcabal_tui.tui.book.controller import BookController
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.decisions.decisions import DecisionsScreen
from flowcabal_tui.tui.memory.profiles import ProfilePane
from flowcabal_tui.tui.runs.controller import RunController
from flowcabal_tui.tui.runs.node_controller import NodeController
from flowcabal_tui.tui.runs.receipt import ReceiptPane
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.subscriptions import on_key, on_request
from flowcabal_tui.tui.shared.view import OpenView


class Navigation:
    """Opens related objects together."""

    def __init__(
        self,
        screen: Screen[Any],
        project: Project,
        view: OpenView,
        book: BookController,
        runs: RunController,
        nodes: NodeController,
    ) -> None:
        self._screen, self._project, self._view = screen, project, view
        self._book, self._runs, self._nodes = book, runs, nodes

    @on_request(ChapterList.Chosen, group="chapter", exclusive=True)
    async def open_chapter(self, chapter: ChapterId) -> None:
        """Shows the text of a chapter, and its newest run."""
        self._view.show_pane("manuscript")
        await self._book.open(chapter)
        await self._runs.open_chapter(chapter)

    @on_request(ChapterList.RunRequested)
    async def run_chapter(self, chapter: ChapterId) -> None:
        """Opens a chapter and runs the current workflow for it."""
        if chapter != self._view.chapter:
            await self._book.open(chapter)
        await self._runs.run()

    async def open_at(self, chapter: ChapterId, start: int, end: int, edit: bool = False) -> None:
        """Opens a chapter with its newest run, at a place in its text, to read or to `edit` it."""
        await self._book.open(chapter)
        await self._runs.open_chapter(chapter)
        self._view.show_pane("manuscript")
        pane = self._screen.query_one(ManuscriptPane)
        self._screen.call_after_refresh(pane.edit_at if edit else pane.go_to, start, end)

    async def open_run(self, run: RunId, node: NodeId) -> None:
        """Opens a node of a run of the history, with its chapter."""
        summary = (await self._project.runs.run_details(run)).summary
        if summary.chapter is not None:
            await self._book.open(summary.chapter)
        await self._runs.show_run(summary)
        await self._nodes.choose_node(node)
        self._view.show_pane("output")

    @on_key("run.history")
    async def choose_run(self) -> None:
        """Lists earlier runs, and shows the chosen one with its chapter."""
        if (run := await self._runs.choose_run()) is not None:
            if run.chapter is not None and run.chapter != self._view.chapter:
                await self._book.open(run.chapter)
            self._view.show_pane("output")

    @on_request(ReceiptPane.SourceOpened)
    @on_request(ProfilePane.SourceOpened)
    @on_request(DecisionsScreen.SourceOpened)
    async def open_source(
        self, uri: str, start: int, end: int, level: Level | None = None, receipt: Receipt | None = None
    ) -> None:
        """Shows a cited text at the cited place and in the cited level."""
        self._screen.app.push_screen(SourceScreen(await self._project.memory.source(uri, start, end, level, receipt)))
