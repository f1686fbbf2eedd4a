"""Reads and changes a project for the screens of a revision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from flowcabal_tui.domain.comments import Comment, CommentWish
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proposed_rewrite import ProposedRewrite
from flowcabal_tui.domain.revision import ChapterLock, PassId, PassProgress, RevisionPass
from flowcabal_tui.domain.run import Quote
from flowcabal_tui.protocol.base import Command
from flowcabal_tui.protocol.book import RewriteSelection
from flowcabal_tui.tui.story.access import StoryAccess

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project


class RevisionAccess(StoryAccess):
    """Reads and writes the subjects of a revision; shows nothing."""

    def __init__(self, workbench: Project) -> None:
        super().__init__(workbench)
        self._revision = workbench.revision

    async def comments(self, wish: CommentWish) -> tuple[Comment, ...]:
        """The matching comments, in story order."""
        return await self._revision.comments(wish)

    async def passes(self) -> tuple[RevisionPass, ...]:
        """In the writer's order."""
        return await self._revision.passes()

    async def pass_progress(self, of: PassId) -> PassProgress:
        """The progress of a pass."""
        return await self._revision.pass_progress(of)

    async def proposed_rewrites(self) -> tuple[ProposedRewrite, ...]:
        """The waiting rewrites."""
        return await self._revision.proposed_rewrites()

    async def quote_rewrite(self, asked: RewriteSelection) -> Quote:
        """The price of a rewrite."""
        return await self._revision.quote_rewrite(asked)

    async def locks(self) -> Mapping[ChapterId, ChapterLock]:
        """Of the chapters that are or were locked."""
        return await self._revision.locks()

    async def carry_out(self, command: Command) -> str:
        """Carries out a command; its result."""
        return await self._workbench.carry_out(command)
