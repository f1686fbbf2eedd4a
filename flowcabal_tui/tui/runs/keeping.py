"""Keeps an output in the memory of the book, after a question if it would replace something."""

from __future__ import annotations

from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.ids import ChapterId, NodeId, RunId
from flowcabal_tui.domain.manuscript import Author, Chapter
from flowcabal_tui.domain.run import RunFilter
from flowcabal_tui.domain.workflow import CHAPTER_KEEPS, Workflow
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.nodes.graph import dependencies
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.words import inner_title
from flowcabal_tui.protocol.book import PersistOutput
from flowcabal_tui.protocol.revision import LockChapters
from flowcabal_tui.tui.runs.output import OutputPane
from flowcabal_tui.tui.shared.diff import ReplacedScreen
from flowcabal_tui.tui.shared.subscriptions import on_request
from flowcabal_tui.tui.shared.view import OpenView
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen

_BY_HAND: Final[frozenset[Author]] = frozenset({"human", "import", "outside"})


class KeepController:
    """Keeps outputs of runs."""

    def __init__(self, screen: Screen[Any], project: Project, view: OpenView) -> None:
        self._screen, self._project, self._view = screen, project, view

    @on_request(OutputPane.KeepRequested, group="keep", exclusive=True)
    async def keep_and_show(self, run: RunId, node: NodeId, attempt: int) -> None:
        """Keeps an attempt and shows the manuscript."""
        if words := await self.keep(run, node, attempt, self._view.chapter):
            self._view.show_pane("manuscript")
            self._screen.notify(words, markup=False)

    async def keep(self, run: RunId, node: NodeId, number: int, chapter: ChapterId | None) -> str:
        """Keeps an attempt as its workflow declares, for the chapter of its run; if that was for none, the writer is
        asked whether it belongs to `chapter`. Returns a sentence on where it was stored; "" when it was not kept."""
        workflow = await self._project.runs.run_workflow(run)
        own = [each.chapter for each in await self._project.runs.summaries(1, RunFilter(run=run)) if each.chapter]
        target = own[0] if own else chapter if workflow.keep.kind in CHAPTER_KEEPS else None
        place = await self._chapter(target)
        if place is not None and workflow.keep.kind in CHAPTER_KEEPS:
            if not await self._is_meant_for(workflow, node, place, is_own=bool(own)):
                return ""
            replaces = workflow.keep.kind == "chapter" and workflow.keep.mode == "replace"
            if replaces and not await self._may_replace(place, run, node, number):
                return ""
        partial = await self._is_cut_off(run, node, number)
        if partial:
            words = _("It will be marked as partial. Press `C` to continue it instead.")
            question = ConfirmScreen(_("Keep the cut-off text as it is?"), words)
            if not await self._screen.app.push_screen_wait(question):
                return ""
        if place is not None and workflow.keep.kind in CHAPTER_KEEPS and not await self._may_unlock(place):
            return ""
        await self._project.carry_out(PersistOutput(run, node, number, chapter=target, partial=partial))
        kept = await self._chapter(target)
        if kept is None or workflow.keep.kind not in CHAPTER_KEEPS:
            return _("Kept.")
        words = _("Kept as version {version} of chapter {n}. Background work follows.")
        return words.format(version=kept.version, n=kept.position)

    async def _may_unlock(self, place: Chapter) -> bool:
        """A locked chapter is unlocked on the writer's answer; until then the output waits with its run."""
        lock = (await self._project.revision.locks()).get(place.id)
        if lock is None or not lock.locked:
            return True
        title = _("Chapter {n} is locked. Unlock it and keep this?").format(n=place.position)
        words = _("If not, nothing is lost: the output stays with its run, and you can keep it later.")
        if not await self._screen.app.push_screen_wait(ConfirmScreen(title, words, yes=_("Unlock and keep"))):
            return False
        await self._project.carry_out(LockChapters((place.id,), locked=False))
        return True

    async def _is_cut_off(self, run: RunId, node: NodeId, number: int) -> bool:
        attempts = (await self._project.runs.node(run, node)).attempts
        return any(item.number == number and not item.complete for item in attempts)

    async def _chapter(self, chapter: ChapterId | None) -> Chapter | None:
        return next((item for item in await self._project.book.chapters() if item.id == chapter), None)

    async def _is_meant_for(self, workflow: Workflow, node: NodeId, place: Chapter, *, is_own: bool) -> bool:
        """Asks first if the run was for no chapter (`is_own` is False), or if other steps build on this one: it is then
        more often a plan or a draft than a chapter."""
        needs = dependencies(workflow)
        later = [item.title for item in workflow.nodes if node in needs.get(item.id, ())]
        doubts = [] if is_own else [_("Its run was for no chapter; this one is open.")]
        if later and workflow.keep.kind == "chapter":
            words = _("Later steps build on it ({names}); usually the last one is kept.")
            doubts.append(words.format(names=_(", ").join(later)))
        if not doubts:
            return True
        named = next((each.title for each in workflow.nodes if each.id == node), inner_title(node))
        title = _("Keep {node} as the text of chapter {n}?").format(node=named, n=place.position)
        agreed: bool = await self._screen.app.push_screen_wait(ConfirmScreen(title, sentences(*doubts)))
        return agreed

    async def _may_replace(self, place: Chapter, run: RunId, node: NodeId, number: int) -> bool:
        """Asks before a text by the writer is replaced; shows both texts. Returns True if it may be replaced."""
        unsaved = await self._project.drafts.of(place.id)
        if place.digest is None or (place.author not in _BY_HAND and unsaved is None):
            return True
        view = await self._project.runs.node(run, node)
        attempt = next((item for item in view.attempts if item.number == (number or view.chosen)), None)
        before = await self._project.book.chapter_text(place.id)
        if attempt is None or attempt.text == before:
            return True
        title = _("Replace the text of chapter {n}, version {version}?").format(n=place.position, version=place.version)
        if unsaved is not None:
            title = sentences(title, _("The chapter has unsaved text too; it stays unsaved."))
        return bool(await self._screen.app.push_screen_wait(ReplacedScreen(title, before, attempt.text)))
