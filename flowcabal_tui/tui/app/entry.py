"""The values that the command line passes to the screen: recent books, found models, and access to projects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.tui.shared.known_books import NO_BOOKS, KnownBooks

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.settings.book_summary import BookSummary
    from flowcabal_tui.settings.screen import ScreenSettings
    from flowcabal_tui.tui.models.model_form import ModelChoice


@dataclass(frozen=True, slots=True)
class Recent:
    """A project that was opened before; `summary` is its state when it was left."""

    name: str
    path: Path
    opened_at: datetime | None = None
    summary: BookSummary | None = None


@dataclass(frozen=True, slots=True)
class ModelProposal:
    """A model found on this machine: its label, and the endpoint of its calls."""

    label: str
    endpoint: str


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """Access to projects. All functions raise FlowCabalError; the screen itself never builds a project.

    `opener(folder, read_only)` opens; `create(folder, name, language)` and `demo(language)` make a project and return
    its folder; `recents()` lists recent projects; `remember(language, theme)` stores the appearance of the screen;
    `settle` stores the wizard's choices: the settings, and the model (None: the offline one, which sends nothing away).
    `books` has the summaries of closed books.
    """

    opener: Callable[[Path, bool], Awaitable[Project]]
    create: Callable[[Path, str, str], Awaitable[Path]]
    demo: Callable[[str], Awaitable[Path]]
    recents: Callable[[], tuple[Recent, ...]]
    settle: Callable[[ScreenSettings, ModelProposal | ModelChoice | None], None]
    remember: Callable[[str, str], None]
    books: KnownBooks = NO_BOOKS
