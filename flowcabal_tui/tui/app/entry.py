"""What the command line gives the screen: what is recent, what was found, and the access into a project."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from flowcabal_tui.tui.shared.known_books import NO_BOOKS, KnownBooks

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project
    from flowcabal_tui.settings.book_summary import BookSummary
    from flowcabal_tui.settings.screen import ScreenSettings


@dataclass(frozen=True, slots=True)
class Recent:
    """A project that was opened before; `summary` is how it was left."""

    name: str
    path: Path
    opened_at: datetime | None = None
    summary: BookSummary | None = None


@dataclass(frozen=True, slots=True)
class ModelProposal:
    """A model that was found on this machine: what to call it, and where calls to it would go."""

    label: str
    endpoint: str


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """The ways in. All raise FlowCabalError; the screen itself never builds a project.

    `opener(folder, read_only)` opens; `create(folder, name, language)` and `demo(language)` make a project and
    give its folder; `recents()` lists what was open before; `remember(language, theme)` keeps how the
    screen looks; `settle` keeps the wizard's choices: the settings, and the model (None: the offline one, which sends
    nothing away). `books` knows the books that are not open.
    """

    opener: Callable[[Path, bool], Awaitable[Project]]
    create: Callable[[Path, str, str], Awaitable[Path]]
    demo: Callable[[str], Awaitable[Path]]
    recents: Callable[[], tuple[Recent, ...]]
    settle: Callable[[ScreenSettings, ModelProposal | None], None]
    remember: Callable[[str, str], None]
    books: KnownBooks = NO_BOOKS
