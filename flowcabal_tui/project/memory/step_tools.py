"""Dependencies shared by the steps of the background work."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Derived
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.check_results import CheckResults
from flowcabal_tui.project.book.mirror import Mirror
from flowcabal_tui.project.book.outside_edits import OutsideEdits
from flowcabal_tui.project.memory.knowledge_steps import KnowledgeSteps
from flowcabal_tui.project.memory.read_chapters import ReadChapters
from flowcabal_tui.project.memory.sources import Sources

if TYPE_CHECKING:
    from flowcabal_tui.agents.curation.curator import Curator
    from flowcabal_tui.project.agents import AgentFactory


@dataclass(frozen=True, slots=True)
class StepTools:
    """The dependencies of the steps."""

    base: ProjectBase
    queries: Sources
    mirror: Mirror
    knowledge: KnowledgeSteps
    agents: AgentFactory
    results: CheckResults
    read_chapters: ReadChapters
    outside: OutsideEdits
    asks_model: bool = False
    """True in a step of a paid job, in which the model reads imported chapters."""
    restoring: bool = False
    """True when a lost text is regenerated from the generation of that time; no task follows."""
    pinned: Generation | None = None
    """The generation that a step of a paid job reads, so that a repetition asks only paid questions."""

    async def chapter(self, subject: str) -> tuple[Chapter, str]:
        """A chapter and the text of its current version. Raises Gone when it is deleted or empty."""
        chapter = await self.base.store.book.chapter(ChapterId(subject))
        if chapter.digest is None:
            raise Gone(subject)
        return chapter, await self.base.store.book.text(chapter.id, chapter.version)

    async def curator_for(self, chapter: Chapter, sample: int = 0, made: Derived | None = None) -> Curator | None:
        """The curator for this chapter: imported text is summarised by rule, since an import spends no money.

        A further answer, which only the writer requests, comes from a model; so does a text that follows from a paid
        one.
        """
        paid = sample or (made is not None and made.method == "model")
        return await self.agents.curator(not paid and self.by_rule(chapter), checks=not self.asks_model)

    def by_rule(self, chapter: Chapter) -> bool:
        """True when no model is called for this chapter, since the writer did not agree to pay for it."""
        return not self.asks_model and self.read_chapters.by_rule(chapter)

    def for_job(self, pinned: Generation | None) -> StepTools:
        """The tools of a paid job, which reads a generation (None: the newest)."""
        return replace(self, pinned=pinned, asks_model=True)

    def restored(self, pinned: Generation) -> StepTools:
        """The tools of a repeated step, which uses the texts of the generation of its first try."""
        return replace(self, pinned=pinned, restoring=True)

    async def generation(self) -> Generation:
        """The generation that the steps read: the newest, or the pinned one of a paid job."""
        return await self.base.store.memory.generation() if self.pinned is None else self.pinned
