"""Rewrites of whole chapters: requested after a price, and decided paragraph by paragraph."""

from __future__ import annotations

from flowcabal_tui.domain.findings import FindingFilter
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.proposals import ProposalId
from flowcabal_tui.domain.proposed_rewrite import ProposedRewrite
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.project.project import Project
from flowcabal_tui.protocol.book import DropRewrite, RevertChange, RewriteSelection, TakeRewrite
from flowcabal_tui.tui.shared.choose import ChooseScreen
from flowcabal_tui.tui.shared.rewrite_screen import RewriteScreen
from flowcabal_tui.tui.shared.spending import agrees_to_spend
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.story_page import StoryPage
from flowcabal_tui.tui.widgets.prompt_line import PromptLine

_MOST = 1_000
"""The most findings of a chapter that one request corrects."""


class Rewriting:
    """Requests and decides rewrites for the revision."""

    def __init__(self, page: StoryPage, project: Project) -> None:
        self._page, self._project = page, project
        self._taken: Generation | None = None

    async def rewrite(self, chapter: ChapterId, title: str, checks: tuple[str, ...] | None) -> None:
        """Fixes the findings of these checks (empty: of any); None: asks for an instruction."""
        findings: tuple[ProposalId, ...] = ()
        instruction: str | None = ""
        if checks is None:
            instruction = await self._page.app.push_screen_wait(PromptLine(_("How should the chapter be rewritten?")))
            if not instruction or not instruction.strip():
                return
        else:
            where = FindingFilter(("waiting",), checks, (chapter,), folded=True)
            rows = (await self._project.findings.findings(where, 0, _MOST)).rows
            findings = tuple(row.proposal.id for row in rows)
            if not findings:
                self._page.notify(_("This pass has no new findings in the chapter."), markup=False)
                return
        text = await self._project.book.chapter_text(chapter)
        selection = RewriteSelection(chapter, 0, len(text), text, instruction or "", findings)
        quote = await self._project.revision.quote_rewrite(selection)
        if not await agrees_to_spend(self._page.app, self._project, _("Rewrite it?"), quote, "user"):
            return
        self._page.notify(_("The chapter is being rewritten ..."), markup=False)
        known = {row.id for row in await self._project.revision.proposed_rewrites()}
        try:
            await self._project.carry_out(selection)
        finally:
            made = [row for row in await self._project.revision.proposed_rewrites() if row.id not in known]
            if made and self._page.is_attached:
                await self._decide(made[-1], title)

    async def choose(self, cast: Cast) -> None:
        """Lists waiting rewrites."""
        rows = await self._project.revision.proposed_rewrites()
        if not rows:
            self._page.notify(_("No rewrite waits."), markup=False)
            return
        choices = tuple((str(row.id), _words(row, cast)) for row in rows)
        chosen = await self._page.app.push_screen_wait(ChooseScreen(_("Rewrites that wait"), choices))
        for row in rows:
            if str(row.id) == chosen:
                await self._decide(row, cast.chapter(row.chapter))

    async def _decide(self, row: ProposedRewrite, title: str) -> None:
        accepted = await self._page.app.push_screen_wait(RewriteScreen(title, row))
        if accepted:
            self._taken = Generation(int(await self._project.carry_out(TakeRewrite(row.id, accepted)) or 0))
            n = len(accepted)
            words = ngettext("{n} change was applied: `u` undoes it.", "{n} changes were applied: `u` undoes them.", n)
            self._page.notify(words.format(n=n), markup=False)
        elif accepted is not None:
            await self._project.carry_out(DropRewrite(row.id))
        await self._page.reload()

    async def undo(self) -> None:
        """Undoes the last accepted rewrite, while this screen is open."""
        if self._taken is None:
            self._page.notify(_("No rewrite was accepted here."), markup=False)
            return
        await self._project.carry_out(RevertChange(self._taken))
        self._taken = None
        self._page.notify(_("The rewrite was undone."), markup=False)
        await self._page.reload()


def _words(row: ProposedRewrite, cast: Cast) -> tuple[str, ...]:
    n = len(row.changes)
    changes = ngettext("{n} change", "{n} changes", n).format(n=n)
    return cast.chapter(row.chapter), changes, one_line(row.instruction, 60)
