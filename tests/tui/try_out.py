"""The screen over an invented project, for trying out: `python -m tests.tui.try_out [--home|--wizard] [--zh]`."""

from __future__ import annotations

import argparse
import os
import tempfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from flowcabal_tui.domain.errors import ProjectLocked
from flowcabal_tui.settings.book_summary import BookSummary
from flowcabal_tui.settings.screen import ScreenSettings
from flowcabal_tui.tui.app.app import FlowCabalApp, run_app
from flowcabal_tui.tui.app.entry import ModelProposal, ProjectAccess, Recent

if TYPE_CHECKING:
    from flowcabal_tui.project.project import Project


LAMP = BookSummary(
    "The Lamp at Harrow Point", "en", 48_210, 21, "c3", 3, "The Ferry", day="2026-11-21", today=320, goal=1000,
    decisions=1, findings=2, unsaved=1,
)  # fmt: skip
RIVER = BookSummary("长河旧事", "zh", 612_400, 204, "c204", 204, "渡口夜话", day="2026-11-18", today=1800)


def invented_access(language: str, *, locked: bool = False, seen: list[object] | None = None) -> ProjectAccess:
    """ProjectAccess into invented projects; what is settled or remembered goes into `seen`."""
    noted = [] if seen is None else seen

    async def opener(folder: Path, read_only: bool) -> Project:
        from tests.tui.fakes import FakeProject

        if locked and not read_only:
            raise ProjectLocked("The project is open elsewhere.", "Host desk, process 4711.", "Close it there.")
        noted.append(("opened", folder, read_only))
        return FakeProject(language, read_only=read_only)

    async def create(folder: Path, name: str, book_language: str) -> Path:
        noted.append(("created", folder, name, book_language))
        return folder

    async def demo(book_language: str) -> Path:
        return Path(f"sample-{book_language}")

    recents = (
        Recent("The Lamp at Harrow Point", Path("/books/lamp"), datetime(2026, 11, 20, 9, 30), LAMP),
        Recent("长河旧事", Path("/books/river"), datetime(2026, 11, 18, 21, 5), RIVER),
    )

    def settle(settings: ScreenSettings, model: ModelProposal | None) -> None:
        noted.append((settings, model))

    def remember(screen_language: str, theme: str) -> None:
        noted.append((screen_language, theme))

    return ProjectAccess(opener, create, demo, lambda: recents, settle, remember)


PROPOSALS = (
    ModelProposal("deepseek-chat", "https://api.deepseek.com (key in DEEPSEEK_API_KEY)"),
    ModelProposal("qwen3:8b", "http://127.0.0.1:11434 (Ollama, on this machine)"),
)


def main() -> int:
    """Starts the screen."""
    options = argparse.ArgumentParser()
    options.add_argument("--home", action="store_true")
    options.add_argument("--wizard", action="store_true")
    options.add_argument("--locked", action="store_true")
    options.add_argument("--zh", action="store_true")
    options.add_argument("--theme", default="")
    chosen = options.parse_args()
    language = "zh" if chosen.zh else "en"
    app = FlowCabalApp(
        invented_access(language, locked=chosen.locked),
        ScreenSettings(language=language, theme=chosen.theme, wizard_done=not chosen.wizard,
                    editor=os.environ.get("EDITOR", "")),
        path=None if chosen.home or chosen.wizard else Path("lamp"),
        proposals=PROPOSALS,
        state_folder=Path(tempfile.gettempdir()) / "flowcabal-try-out",
    )  # fmt: skip
    return run_app(app)


if __name__ == "__main__":
    raise SystemExit(main())
