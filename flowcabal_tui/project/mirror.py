"""Kept chapters as plain Markdown beside the database, never over somebody's edit."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from flowcabal_tui.domain.errors import DiskFull
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.mirror import mirror_digest, mirror_name, parse_mirror, render_mirror
from flowcabal_tui.manuscript.writer import write_atomically
from flowcabal_tui.settings.paths import MANUSCRIPT
from flowcabal_tui.store import Store


@dataclass(frozen=True, slots=True)
class Edited:
    """A chapter's file that holds another text than the program wrote there."""

    chapter: Chapter
    path: Path
    text: str


class Mirror:
    """The folder `manuscript/`. What was written last for a chapter is remembered by name and digest."""

    def __init__(self, folder: Path, store: Store) -> None:
        self._folder, self._store = folder / MANUSCRIPT, store

    @staticmethod
    def _key(chapter: ChapterId) -> str:
        return f"mirror/{chapter}"

    async def write(self, chapter: Chapter) -> Edited | None:
        """Brings a chapter's file up to date; an edit made outside is returned and left alone. Raises DiskFull."""
        path = self._folder / mirror_name(chapter.position, chapter.title)
        before = await self._store.values.get(self._key(chapter.id)) or {}
        if edited := await self._edited(chapter, before):
            return edited
        text = await self._store.book.text(chapter.id)
        if before.get("name") == path.name and before.get("digest") == chapter.digest and path.exists():
            return None
        try:
            await asyncio.to_thread(write_atomically, path, render_mirror(chapter.title, text).encode())
            if (old := before.get("name")) and old != path.name:
                (self._folder / old).unlink(missing_ok=True)
        except OSError as error:
            raise DiskFull(
                _("Cannot write {file}.").format(file=path),
                _("{reason}. The chapter is safe in the project's database.").format(reason=error.strerror or error),
                _("Make room or correct the permissions; the file is written at the next try."),
            ) from error
        await self._store.values.put(self._key(chapter.id), {"name": path.name, "digest": chapter.digest})
        return None

    async def _edited(self, chapter: Chapter, before: dict[str, str]) -> Edited | None:
        if not before:
            return None
        path = self._folder / before["name"]
        try:
            content = await asyncio.to_thread(path.read_text, encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        if mirror_digest(content) in (before["digest"], chapter.digest):
            return None
        return Edited(chapter, path, parse_mirror(content)[1])

    async def edited_outside(self) -> tuple[Edited, ...]:
        """Every chapter whose file was changed by another program, in story order."""
        found: list[Edited] = []
        for chapter in await self._store.book.chapters():
            if edited := await self._edited(chapter, await self._store.values.get(self._key(chapter.id)) or {}):
                found.append(edited)
        return tuple(found)

    async def accept(self, edited: Edited) -> None:
        """Takes the file as it is for what was written last: it became a version of its own."""
        digest = mirror_digest(render_mirror(edited.chapter.title, edited.text))
        await self._store.values.put(self._key(edited.chapter.id), {"name": edited.path.name, "digest": digest})

    async def remove(self, chapter: ChapterId) -> None:
        """Takes a deleted chapter's file away, unless somebody changed it."""
        before = await self._store.values.get(self._key(chapter))
        if not before:
            return
        path = self._folder / before["name"]
        content = path.read_text(encoding="utf-8") if path.exists() else ""
        if mirror_digest(content) == before["digest"]:
            path.unlink(missing_ok=True)
        await self._store.values.put(self._key(chapter), None)
