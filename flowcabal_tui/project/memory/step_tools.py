"""What the steps of the background work share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from flowcabal_tui.agents.curation.curator import Curator
from flowcabal_tui.agents.profile_kinds import ProfileKinds
from flowcabal_tui.domain.errors import Gone
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.memory import Derived
from flowcabal_tui.project.book.check_results import CheckResults
from flowcabal_tui.project.book.mirror import Edited, Mirror
from flowcabal_tui.project.book.rule_checks import RuleChecks
from flowcabal_tui.project.memory.knowledge_steps import KnowledgeSteps
from flowcabal_tui.project.memory.sources import Sources
from flowcabal_tui.project.workshop import Workshop
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.store import Store


@dataclass(frozen=True, slots=True)
class StepTools:
    """What the steps work with."""

    store: Store
    queries: Sources
    workshop: Workshop
    mirror: Mirror
    knowledge: KnowledgeSteps
    kinds: ProfileKinds
    language: str
    rules: RuleChecks
    results: CheckResults
    curator: Callable[[bool], Awaitable[Curator | None]]
    """The curator, by rule alone if True; None when it is switched off."""
    by_rule: Callable[[Chapter], bool]
    """Is no model asked about this chapter, since the writer did not want to pay for it?"""
    most_profiles: Callable[[], int]
    """How many profiles one kept chapter may have written anew."""
    offer: Callable[[Edited], None]
    emit: Callable[[Event], None]
    restoring: bool = False
    """What was made before is made again, of the generation of then; nothing follows from it."""
    pinned: Generation | None = None
    """Of a step of a paid job: the generation that it reads, so that repeating it asks what is paid already."""

    async def chapter(self, subject: str) -> tuple[Chapter, str]:
        """A chapter and the text of its present version. Gone when it is deleted or empty."""
        chapter = await self.store.book.chapter(ChapterId(subject))
        if chapter.digest is None:
            raise Gone(subject)
        return chapter, await self.store.book.text(chapter.id, chapter.version)

    async def curator_for(self, chapter: Chapter, sample: int = 0, made: Derived | None = None) -> Curator | None:
        """The curator for this chapter: imported text is summarised by rule, since an import spends no money.

        A further answer, which only the writer asks for, is a model's; and so is what follows one that was paid for.
        """
        paid = sample or (made is not None and made.method == "model")
        return await self.curator(not paid and self.by_rule(chapter))

    async def generation(self) -> Generation:
        """What the steps read: the newest, but for a paid job."""
        return await self.store.memory.generation() if self.pinned is None else self.pinned
