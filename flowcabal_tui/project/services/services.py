"""The services of an open project, one per subject, each imported and built at its first use."""

from __future__ import annotations

from importlib import import_module
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
    """Holds the services of a project. Lives on the engine's loop.

    The service of a subject is imported from the module of its name here, and built at its first use.
    """

    book: BookService
    memory: MemoryService
    story: StoryService
    workflows: WorkflowService
    runs: RunService
    models: ModelService
    builds: BuildService
    findings: FindingService
    conversations: ConversationService
    comparisons: ComparisonService
    revision: RevisionService
    settings: SettingsService
    drafts: DraftService
    knowledge: KnowledgeService

    def __init__(self, parts: Parts, startup: Startup) -> None:
        self._parts, self._startup = parts, startup

    def __getattr__(self, name: str) -> object:
        kind = ProjectServices.__annotations__.get(name)
        if kind is None:
            raise AttributeError(name)
        more = (self._startup,) if name == "models" else ()
        service: object = getattr(import_module(f"flowcabal_tui.project.services.{name}"), kind)(self._parts, *more)
        setattr(self, name, service)
        return service

    def all(self) -> tuple[object, ...]:
        """The services that carry out commands."""
        return (
            *(self.book, self.memory, self.story, self.workflows, self.runs, self.models, self.builds),
            *(self.findings, self.conversations, self.comparisons, self.revision, self.settings),
        )
