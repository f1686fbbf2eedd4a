"""What the command line gives the screen: preferences, and the access into a project."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowcabal_tui.project.views import Workbench


@dataclass(frozen=True, slots=True)
class Recent:
    """A project that was opened before."""

    name: str
    path: Path
    opened_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ModelProposal:
    """A model that was found on this machine: what to call it, and where calls to it would go."""

    label: str
    endpoint: str


@dataclass(frozen=True, slots=True)
class Preferences:
    """The user's own settings, as far as the screen needs them.

    `language` is that of the screen ("en", "zh", "" for the environment's); `editor` an external editor's
    command ("": $VISUAL, then $EDITOR); `keys` overrides keys by the id of an action; `themes_folder` has the
    user's own themes.
    """

    language: str = ""
    theme: str = ""
    editor: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    wizard_done: bool = True
    themes_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class FirstChoices:
    """What the first-run wizard settled. `model` is None for the offline model, which sends nothing away."""

    language: str
    theme: str
    model: ModelProposal | None


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """The ways in. All raise FlowCabalError; the screen itself never builds a project.

    `opener(folder, read_only)` opens; `create(folder, name, language)` and `demo(language)` make a project and
    give its folder; `recents()` lists what was open before; `remember(language, theme)` keeps preferences;
    `settle` keeps the wizard's choices.
    """

    opener: Callable[[Path, bool], Awaitable[Workbench]]
    create: Callable[[Path, str, str], Awaitable[Path]]
    demo: Callable[[str], Awaitable[Path]]
    recents: Callable[[], tuple[Recent, ...]]
    settle: Callable[[FirstChoices], None]
    remember: Callable[[str, str], None]
