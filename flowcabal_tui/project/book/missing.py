"""A project without its database: it is never opened empty beside the chapters of its manuscript folder."""

from __future__ import annotations

from pathlib import Path

from flowcabal_tui.domain.errors import ProjectDamaged
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.mirror import MIRROR_NAME
from flowcabal_tui.settings.paths import MANUSCRIPT, PROJECT_STATE
from flowcabal_tui.store.store import DATABASE


def require_database(folder: Path) -> None:
    """Raises ProjectDamaged where the database is missing or empty although chapters lie in the manuscript folder."""
    file = folder / PROJECT_STATE / DATABASE
    try:
        there = file.stat().st_size > 0
    except OSError:
        there = False
    if there:
        return
    try:
        chapters = sum(MIRROR_NAME.fullmatch(path.name) is not None for path in (folder / MANUSCRIPT).iterdir())
    except OSError:
        chapters = 0
    if not chapters:
        return
    title = _("The project's database is empty: {file}") if file.exists() else _("The project has no database: {file}")
    advice = _("`flowcabal-tui rescue {project} --to FOLDER` extracts what is intact, and makes a new project from it.")
    raise ProjectDamaged(
        title.format(file=file),
        _("Its manuscript folder contains {n} chapters. Nothing was opened or changed.").format(n=chapters),
        advice.format(project=folder),
    )
