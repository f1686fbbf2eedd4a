"""Kept chapters as plain Markdown files beside the database; edits by others are never overwritten."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar
from unicodedata import normalize

from flowcabal_tui.domain.errors import DiskFull, ManuscriptError
from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.domain.text import clean
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.encoding import decode
from flowcabal_tui.manuscript.mirror import mirror_digest, mirror_name, parse_mirror, render_mirror
from flowcabal_tui.settings.paths import MANUSCRIPT
from flowcabal_tui.store import Store
from flowcabal_tui.system.files import Folder

P = ParamSpec("P")
T = TypeVar("T")
_MIRRORED: Final = late(r"\d{4,}-[^/\0]+\.md")
_LARGEST: Final = 16 << 20
"""Maximum bytes of a chapter's file; a larger one, such as a sparse file, is not read: another program wrote it."""
_HALF_FILE: Final = late(r"\.[a-z0-9_]{8}\.tmp")


@dataclass(frozen=True, slots=True)
class Edited:
    """A chapter's file whose text differs from what the program wrote."""

    chapter: Chapter
    path: Path
    text: str


class Mirror:
    """The folder `manuscript/`. The last file written for a chapter is remembered by name and digest.

    Names are equal if their Unicode NFC forms are: macOS and programs that copy from it decompose names (NFD).
    """

    def __init__(self, folder: Folder, store: Store) -> None:
        """`folder` is the project's."""
        self._project, self._store = folder, store
        self._half_files = asyncio.Lock()
        """Held while a file is written, and while incomplete files that a kill left are removed."""

    async def _before(self, chapter: ChapterId) -> dict[str, str]:
        """The data of the last written file, with its present name; empty when unknown. The row is untrusted: one with
        another form is ignored."""
        found = await self._store.values.learned(self._key(chapter), dict[str, Any])
        if not found or not _is_ours(found):
            return {}
        return found | {"name": self._on_disk(found["name"])} if "name" in found else found

    def _on_disk(self, name: str) -> str:
        """The name, or its other Unicode form if only a file of that name exists."""
        other = _other_form(name)
        return other if other and self._is_there(other) and not self._is_there(name) else name

    async def _content(self, name: str) -> str | None:
        """The content of a file, in whatever encoding another program wrote it; None when it does not exist."""
        return await asyncio.to_thread(_read, self._project, name)

    @staticmethod
    def _key(chapter: ChapterId) -> str:
        return f"mirror/{chapter}"

    async def write(self, chapter: Chapter) -> Edited | None:
        """Updates a chapter's file; an edit made outside is returned and not overwritten. Raises DiskFull."""
        before = await self._before(chapter.id)
        name = await self._place(chapter, before)
        # Of this very version: a newer one under this version's digest would look like an edit made outside.
        text = await self._store.book.text(chapter.id, chapter.version or None)
        if edited := await self._edited(chapter, before):
            return edited
        content = render_mirror(chapter.title, text)
        self._require_small(before)
        written = chapter.digest if clean(text) == text else mirror_digest(content)
        if before.get("name") == name and before.get("digest") == written and self._is_there(name):
            return None
        # Noted before it is written: a kill in between must not make our own file look like somebody's edit.
        await self._store.values.put(self._key(chapter.id), before | {"writing": written})
        try:
            async with self._half_files:
                await _to_its_end(self._project.write, content.encode(), MANUSCRIPT, name)
            if (old := before.get("name")) and old != name:
                await asyncio.to_thread(self._project.remove, MANUSCRIPT, old)
        except OSError as error:
            raise DiskFull(
                _("Cannot write {file}.").format(file=self._project.path / MANUSCRIPT / name),
                _("{reason}. The chapter is safe in the project's database.").format(reason=os_reason(error)),
                _("Free space or correct the permissions; the next attempt writes the file."),
            ) from error
        await self._store.values.put(self._key(chapter.id), {"name": name, "digest": written})
        return None

    def _require_small(self, before: dict[str, str]) -> None:
        """Raises ManuscriptError for a file that is too large to be read, which is not overwritten unread."""
        about = self._project.status(MANUSCRIPT, before["name"]) if "name" in before else None
        if about is not None and about.st_size > _LARGEST:
            raise ManuscriptError(
                _("The chapter's file is too large to be read: {file}").format(file=before["name"]),
                _("It was not overwritten. The chapter is safe in the project's database."),
                _("Move it elsewhere; the next attempt writes the file."),
            )

    def _is_there(self, name: str) -> bool:
        return self._project.status(MANUSCRIPT, name) is not None

    async def _place(self, chapter: Chapter, before: dict[str, str]) -> str:
        """The path for the chapter's file; a file of that name that is not the chapter's own is left as it is."""
        name, other = _names(chapter)
        name = self._on_disk(name)
        if name == before.get("name") or not self._project.is_there(MANUSCRIPT, name):
            return name
        content = await self._content(name)
        own = content is not None and mirror_digest(content) in (chapter.digest, before.get("writing"))
        return name if own else other

    async def _edited(self, chapter: Chapter, before: dict[str, str]) -> Edited | None:
        if "name" not in before:
            return None
        content = await self._content(before["name"])
        if content is None or mirror_digest(content) in (before["digest"], before.get("writing"), chapter.digest):
            return None
        return Edited(chapter, self._project.path / MANUSCRIPT / before["name"], parse_mirror(content)[1])

    async def _twin(self, chapter: Chapter, before: dict[str, str]) -> Edited | None:
        """The file beside the chapter's own whose name is equal to its name, if no version has its text."""
        other = _other_form(before.get("name", ""))
        content = await self._content(other) if other else None
        if content is None:
            return None
        known = {version.digest for version in await self._store.book.versions(chapter.id)}
        if mirror_digest(content) in known:
            return None
        return Edited(chapter, self._project.path / MANUSCRIPT / other, parse_mirror(content)[1])

    async def edited_outside(self, names: Collection[str] | None = None) -> tuple[Edited, ...]:
        """Every chapter whose file (of those with these `names`) was changed by another program, in story order."""
        found: list[Edited] = []
        wanted = None if names is None else set(map(_composed, names))
        for chapter in await self._store.book.chapters():
            before = await self._before(chapter.id)
            if wanted is not None and _composed(before.get("name", "")) not in wanted:
                continue
            if edited := await self._edited(chapter, before) or await self._twin(chapter, before):
                found.append(edited)
        return tuple(found)

    async def stamps(self) -> dict[str, tuple[int, int]]:
        """The time of the last change (ns) and the size (bytes) of each file; unreadable ones are left out."""
        found = await asyncio.to_thread(self._project.statuses, MANUSCRIPT)
        return {name: (status.st_mtime_ns, status.st_size) for name, status in found.items()}

    async def lost(self) -> tuple[Chapter, ...]:
        """Chapters whose file is missing because another program deleted or renamed it."""
        names = set(map(_composed, await self.stamps()))
        files = await self._files(await self._store.book.chapters())
        return tuple(chapter for chapter, name in files if chapter.digest and _composed(name) not in names)

    async def left_behind(self) -> tuple[Chapter, ...]:
        """Chapters whose file is still at its old place after they were moved, renamed or deleted.

        The program was killed between the change and the recording of the step that moves the file.
        """
        book = self._store.book
        files = await self._files(await book.chapters())
        moved = [one for one, name in files if one.digest and _composed(name) not in _names(one)]
        return (*moved, *(chapter for chapter, _name in await self._files(await book.deleted())))

    async def _files(self, chapters: Iterable[Chapter]) -> list[tuple[Chapter, str]]:
        """The chapters that have a file, with its name."""
        known = [(chapter, await self._before(chapter.id)) for chapter in chapters]
        return [(chapter, before["name"]) for chapter, before in known if "name" in before]

    async def sweep(self) -> None:
        """Removes incomplete files that a killed process left."""
        async with self._half_files:
            for name in filter(_HALF_FILE.fullmatch, await self.stamps()):
                with contextlib.suppress(OSError):  # it stays until it may be removed
                    await asyncio.to_thread(self._project.remove, MANUSCRIPT, name)

    async def accept(self, edited: Edited) -> None:
        """Records the file as the last one written, because its text became a version; a file beside it stays."""
        if edited.path.name != (await self._before(edited.chapter.id)).get("name", edited.path.name):
            return
        digest = mirror_digest(render_mirror(edited.chapter.title, edited.text))
        await self._store.values.put(self._key(edited.chapter.id), {"name": edited.path.name, "digest": digest})

    async def remove(self, chapter: ChapterId) -> None:
        """Removes a deleted chapter's file, unless somebody changed it."""
        before = await self._before(chapter)
        if "name" not in before:
            return
        content = await self._content(before["name"])
        if content is not None and mirror_digest(content) in (before["digest"], before.get("writing")):
            await asyncio.to_thread(self._project.remove, MANUSCRIPT, before["name"])
        await self._store.values.put(self._key(chapter), None)

    async def purge(self, texts: Collection[Digest]) -> None:
        """Deletes incomplete files, and the files with one of these texts. Raises OSError."""
        await self.sweep()
        for name in await self.stamps():
            content = await self._content(name)
            if content is not None and mirror_digest(content) in texts:
                await asyncio.to_thread(self._project.remove, MANUSCRIPT, name)


async def _to_its_end(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Awaits work of a thread without cancelling it: a write that ended after its caller would restore purged text."""
    doing = asyncio.ensure_future(asyncio.to_thread(work, *arguments, **named))
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait([doing])
        raise


def _is_ours(row: dict[str, Any]) -> bool:
    """True when a row has the form that `Mirror.write` leaves. The digest of a chapter without a text is None."""
    if not all(value is None or isinstance(value, str) for value in row.values()):
        return False
    return "name" not in row or ("digest" in row and _MIRRORED.fullmatch(row["name"] or "") is not None)


def _composed(name: str) -> str:
    return normalize("NFC", name)


def _other_form(name: str) -> str:
    """The name in the other Unicode form, composed or decomposed; "" if both are the same."""
    composed = _composed(name)
    other = normalize("NFD", name) if name == composed else composed
    return "" if other == name else other


def _names(chapter: Chapter) -> tuple[str, str]:
    """The name of a chapter's file, and the alternative name if another file has that one."""
    path = Path(mirror_name(chapter.position, chapter.title))
    return path.name, path.with_stem(f"{path.stem}-{chapter.id}").name


def _read(project: Folder, name: str) -> str | None:
    try:
        data = project.read(MANUSCRIPT, name, limit=_LARGEST)
    except OSError:
        return None
    try:
        return decode(data, name).text
    except ManuscriptError:
        return data.decode("utf-8", "replace")
