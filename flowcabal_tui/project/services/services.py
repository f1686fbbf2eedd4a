"""The services of an open project, one per subject, each imported and built at its first use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from flowcabal_tui.project.parts import Parts
from flowcabal_tui.project.startup import Startup

if TYPE_CHECKING:
    from flowcabal_tui.project.services.book import BookService
    from flowcabal_tui.project.services.builds import BuildService
    from flowcabal_tui.project.services.comparisons import ComparisonService
    from flowcabal_tui.project.services.conversations import ConversationService
    from flowcabal_tui.project.services.drafts import DraftService
    from flowcabal_tui.project.services.findings import FindingService
    from flowcabal_tui.project.services.knowledge import KnowledgeService
    from flowcabal_tui.project.services.memory import MemoryService
    from flowcabal_tui.project.services.models import ModelService
    from flowcabal_tui.project.services.revision import RevisionService
    from flowcabal_tui.project.services.runs import RunService
    from flowcabal_tui.project.services.settings import SettingsService
    from flowcabal_tui.project.services.story import StoryService
    from flowcabal_tui.project.services.workflows import WorkflowService


class ProjectServices:
    """Holds the services of a project. Lives on the engine's loop."""

    def __init__(self, parts: Parts, startup: Startup) -> None:
        self._parts, self._startup = parts, startup

    def all(self) -> tuple[object, ...]:
        """The services that carry out commands."""
        return (
            *(self.book, self.memory, self.story, self.workflows, self.runs, self.models, self.builds),
            *(self.findings, self.conversations, self.comparisons, self.revision, self.settings),
        )

    @cached_property
    def book(self) -> BookService:
        """The book."""
        from flowcabal_tui.project.services.book import BookService

        return BookService(self._parts)

    @cached_property
    def memory(self) -> MemoryService:
        """The memory."""
        from flowcabal_tui.project.services.memory import MemoryService

        return MemoryService(self._parts)

    @cached_property
    def story(self) -> StoryService:
        """The story."""
        from flowcabal_tui.project.services.story import StoryService

        return StoryService(self._parts)

    @cached_property
    def workflows(self) -> WorkflowService:
        """Workflows."""
        from flowcabal_tui.project.services.workflows import WorkflowService

        return WorkflowService(self._parts)

    @cached_property
    def runs(self) -> RunService:
        """Runs."""
        from flowcabal_tui.project.services.runs import RunService

        return RunService(self._parts)

    @cached_property
    def models(self) -> ModelService:
        """Models and the user's confirmations."""
        from flowcabal_tui.project.services.models import ModelService

        return ModelService(self._parts, self._startup)

    @cached_property
    def builds(self) -> BuildService:
        """Builds of workflows."""
        from flowcabal_tui.project.services.builds import BuildService

        return BuildService(self._parts)

    @cached_property
    def findings(self) -> FindingService:
        """Findings of checks."""
        from flowcabal_tui.project.services.findings import FindingService

        return FindingService(self._parts)

    @cached_property
    def conversations(self) -> ConversationService:
        """Conversations with the book."""
        from flowcabal_tui.project.services.conversations import ConversationService

        return ConversationService(self._parts)

    @cached_property
    def comparisons(self) -> ComparisonService:
        """Comparisons of candidates."""
        from flowcabal_tui.project.services.comparisons import ComparisonService

        return ComparisonService(self._parts)

    @cached_property
    def revision(self) -> RevisionService:
        """Comments, locks and passes."""
        from flowcabal_tui.project.services.revision import RevisionService

        return RevisionService(self._parts)

    @cached_property
    def settings(self) -> SettingsService:
        """The settings of the book."""
        from flowcabal_tui.project.services.settings import SettingsService

        return SettingsService(self._parts)

    @cached_property
    def drafts(self) -> DraftService:
        """Unsaved text."""
        from flowcabal_tui.project.services.drafts import DraftService

        return DraftService(self._parts)

    @cached_property
    def knowledge(self) -> KnowledgeService:
        """The knowledge server."""
        from flowcabal_tui.project.services.knowledge import KnowledgeService

        return KnowledgeService(self._parts)
