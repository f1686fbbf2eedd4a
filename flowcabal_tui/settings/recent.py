"""The list of recent projects, in the user's state folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from flowcabal_tui.settings import paths
from flowcabal_tui.settings.book_summary import forget_summary
from flowcabal_tui.system.files import write_whole

RECENT_LIMIT: Final = 20


def recent_projects() -> tuple[Path, ...]:
    """The recent projects, newest first; empty if the list is damaged."""
    try:
        entries = json.loads((paths.state_folder() / "recent.json").read_text(encoding="utf-8"))
        return tuple(Path(entry) for entry in entries if isinstance(entry, str))
    except (OSError, ValueError, TypeError):
        return ()


def remember_project(folder: Path) -> None:
    """Puts a project at the top of the list. Raises OSError."""
    folder = folder.resolve()
    others = [str(path) for path in recent_projects() if path != folder]
    listed = json.dumps([str(folder), *others][:RECENT_LIMIT], ensure_ascii=False)
    write_whole(paths.state_folder() / "recent.json", listed.encode())


def forget_project(folder: Path) -> None:
    """Removes a project from the list, and its summary; the project itself is not changed. Raises OSError."""
    kept = [str(path) for path in recent_projects() if path != folder]
    write_whole(paths.state_folder() / "recent.json", json.dumps(kept, ensure_ascii=False).encode())
    forget_summary(folder)
