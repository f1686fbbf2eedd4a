"""Kept chapters as plain Markdown beside the database, never over somebody's edit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flowcabal_tui.domain.errors import DiskFull, ManuscriptError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.encoding import decode
from flowcabal_tui.manuscript.mirror import mirror_digest, mirror_name, parse_mirror, render_mirror
from flowcabal_tui.manuscript.writer import write_atomically
from flowcabal_tui.settings.paths import MANUSCRIPT
from flowcabal_tui.store import Store

_HALF_FILE: Final = re.compile(r"\.[a-z0-9_]{8}\.tmp")


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
        before = await self._store.values.get(self._key(chapter.id)) or {}
        path = await self._place(chapter, before)
        text = await self._store.book.text(chapter.id)
        if edited := await self._edited(chapter, before):
            return edited
        if before.get("name") == path.name and before.get("digest") == chapter.digest and path.exists():
            return None
        # Noted before it is written: a kill in between must not make our own file look like somebody's edit.
        await self._store.values.put(self._key(chapter.id), before | {"writing": chapter.digest})
        try:
            await asyncio.to_thread(write_atomically, path, render_mirror(chapter.title, text).encode())
            if (old := before.get("name")) and old != path.name:
                await asyncio.to_thread((self._folder / old).unlink, missing_ok=True)
        except OSError as error:
            raise DiskFull(
                _("Cannot write {file}.").format(file=path),
                _("{reason}. The chapter is safe in the project's database.").format(reason=os_reason(error)),
                _("Make room or correct the permissions; the file is written at the next try."),
            ) from error
        await self._store.values.put(self._key(chapter.id), {"name": path.name, "digest": chapter.digest})
        return None

    async def _place(self, chapter: Chapter, before: dict[str, str]) -> Path:
        """Where the chapter's file goes; a file of that name that is not the chapter's own stays as it is."""
        path, other = [self._folder / name for name in _names(chapter)]
        content = None if path.name == before.get("name") else await _content(path)
        if content is None or mirror_digest(content) in (chapter.digest, before.get("writing")):
            return path
        return other

    async def _edited(self, chapter: Chapter, before: dict[str, str]) -> Edited | None:
        if "name" not in before:
            return None
        path = self._folder / before["name"]
        content = await _content(path)
        if content is None or mirror_digest(content) in (before["digest"], before.get("writing"), chapter.digest):
            return None
        return Edited(chapter, path, parse_mirror(content)[1])

    async def edited_outside(self, names: Collection[str] | None = None) -> tuple[Edited, ...]:
        """Every chapter whose file (of those with these `names`) was changed by another program, in story order."""
        found: list[Edited] = []
        for chapter in await self._store.book.chapters():
            before = await self._store.values.get(self._key(chapter.id)) or {}
            if names is not None and before.get("name") not in names:
                continue
            if edited := await self._edited(chapter, before):
                found.append(edited)
        return tuple(found)

    async def stamps(self) -> dict[str, tuple[int, int]]:
        """When each file was last changed (ns) and its size (bytes); what cannot be looked at is left out."""
        return await asyncio.to_thread(_stamps, self._folder)

    async def lost(self) -> tuple[Chapter, ...]:
        """Chapters whose file was there and is gone: it was deleted or renamed by another program."""
        names = (await self.stamps()).keys()
        files = await self._files(await self._store.book.chapters())
        return tuple(chapter for chapter, name in files if chapter.digest and name not in names)

    async def left_behind(self) -> tuple[Chapter, ...]:
        """Chapters whose file stands where it stood before they were moved, renamed or deleted.

        The program was killed between the change and the noting of the step that takes the file along.
        """
        book = self._store.book
        moved = [
            one for one, name in await self._files(await book.chapters()) if one.digest and name not in _names(one)
        ]
        return (*moved, *(chapter for chapter, _name in await self._files(await book.deleted())))

    async def _files(self, chapters: Iterable[Chapter]) -> list[tuple[Chapter, str]]:
        """Those that have a file, with its name."""
        known = [(chapter, await self._store.values.get(self._key(chapter.id)) or {}) for chapter in chapters]
        return [(chapter, before["name"]) for chapter, before in known if "name" in before]

    async def sweep(self) -> None:
        """Takes away the half files that a kill left."""
        names = await self.stamps()
        for path in [self._folder / name for name in names if _HALF_FILE.fullmatch(name)]:
            await asyncio.to_thread(path.unlink, missing_ok=True)

    async def accept(self, edited: Edited) -> None:
        """Takes the file as it is for what was written last: it became a version of its own."""
        digest = mirror_digest(render_mirror(edited.chapter.title, edited.text))
        await self._store.values.put(self._key(edited.chapter.id), {"name": edited.path.name, "digest": digest})

    async def remove(self, chapter: ChapterId) -> None:
        """Takes a deleted chapter's file away, unless somebody changed it."""
        before = await self._store.values.get(self._key(chapter)) or {}
        if "name" not in before:
            return
        path = self._folder / before["name"]
        content = await _content(path)
        if content is not None and mirror_digest(content) == before["digest"]:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        await self._store.values.put(self._key(chapter), None)


def _names(chapter: Chapter) -> tuple[str, str]:
    """The name of a chapter's file, and the one it has where that is somebody else's."""
    path = Path(mirror_name(chapter.position, chapter.title))
    return path.name, path.with_stem(f"{path.stem}-{chapter.id}").name


async def _content(path: Path) -> str | None:
    """What a file holds, in whatever encoding another program left it; None when it is not there."""
    return await asyncio.to_thread(_read, path)


def _stamps(folder: Path) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    status = entry.stat()
                    found[entry.name] = (status.st_mtime_ns, status.st_size)
    except OSError:
        return {}
    return found


def _read(path: Path) -> str | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    try:
        return decode(data, path.name).text
    except ManuscriptError:
        return data.decode("utf-8", "replace")
