"""Writes the book to a file; the same text gives the same file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.comments import CommentFilter
from flowcabal_tui.domain.errors import UnknownName, available
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import BookDetails, ImportedChapter
from flowcabal_tui.domain.platforms import Platform, PlatformExport
from flowcabal_tui.domain.text import clean_line
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.epub.cover import MOST_BYTES
from flowcabal_tui.manuscript.platforms import laid_out, load_platforms
from flowcabal_tui.manuscript.writer import export_manuscript, write_atomically
from flowcabal_tui.settings.paths import config_folder
from flowcabal_tui.settings.project_file import ProjectTable
from flowcabal_tui.store import Store
from flowcabal_tui.system.files import Folder

COVERS: Final = ("cover.jpg", "cover.jpeg", "cover.png")
"""A picture of this name in the project's folder is the cover of an EPUB; without one the title is drawn."""


async def export_book(
    store: Store,
    folder: Path,
    project: ProjectTable,
    target: Path,
    wanted: Sequence[ChapterId] = (),
    *,
    comments: bool = False,
) -> Path:
    """Writes chapters with text (`wanted` empty: all) in the format of the target's suffix, with `comments` also the
    open ones.

    Raises ManuscriptError, DiskFull.
    """
    there = [each for each in await store.book.chapters() if each.digest and (not wanted or each.id in wanted)]
    chapters = [
        ImportedChapter(chapter.title, await store.book.text(chapter.id), chapter.volume, chapter.position)
        for chapter in there
    ]
    noted = [each for each in await store.comments.all() if comments and CommentFilter().fits(each)]
    notes = {
        row: tuple(each for each in noted if each.chapter == chapter.id) for row, chapter in enumerate(there) if noted
    }
    written = await store.book.versions(there[0].id) if there else ()
    details = BookDetails(
        title=project.name,
        language=project.language,
        author=project.author,
        identifier=project.id,
        created=written[-1].at if written else None,
        modified=max((chapter.changed_at for chapter in there if chapter.changed_at), default=None),
        cover=await asyncio.to_thread(_cover, folder),
    )
    await asyncio.to_thread(export_manuscript, target, details, chapters, notes)
    return target


async def platforms() -> tuple[Platform, ...]:
    """The layouts of platforms, built-in and the user's. Raises SettingsError."""
    return tuple((await asyncio.to_thread(load_platforms, config_folder() / "platforms")).values())


async def lay_out(
    store: Store, platform: str, wanted: Sequence[ChapterId], target: Path | None = None
) -> PlatformExport:
    """Chapters (`wanted` empty: all) in the layout of a platform, written to `target` if it is given.

    Raises UnknownName, SettingsError, DiskFull.
    """
    known = {each.id: each for each in await platforms()}
    if platform not in known:
        title = _("There is no platform {name}.").format(name=clean_line(platform))
        raise UnknownName(title, "", available(known))
    there = [each for each in await store.book.chapters() if each.digest and (not wanted or each.id in wanted)]
    chapters = [
        ImportedChapter(each.title, await store.book.text(each.id), each.volume, each.position) for each in there
    ]
    export = laid_out(known[platform], chapters)
    if target is not None:
        await asyncio.to_thread(write_atomically, target, export.text.encode())
    return export


def _cover(folder: Path) -> bytes:
    """The cover picture in the project's folder; b"" when none can be read."""
    for name in COVERS:
        with suppress(OSError):
            return Folder(folder).read(name, limit=MOST_BYTES)
    return b""
