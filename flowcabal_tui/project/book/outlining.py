"""Edits the outline part by part, and assigns its parts to chapters. The writer's text is authoritative (decision
21)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from flowcabal_tui.domain.errors import Gone, RunError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.outline import NOWHERE, BookOutline, Outline, OutlineLink, OutlinePart
from flowcabal_tui.domain.text import clean
from flowcabal_tui.headings.assigning import link_to, links_of, renewed
from flowcabal_tui.headings.editing import with_body, with_chapter, with_volume, with_volume_words
from flowcabal_tui.headings.outline import read_outline
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.following import following
from flowcabal_tui.protocol.book import AssignOutline, BookChanged, WriteOutlinePart
from flowcabal_tui.store.rows.outline import LINKS, read_links

_OUTLINE = ChapterId("meta/outline")


class Outlining:
    """Edits the outline. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase) -> None:
        self._base, self._store = base, base.store

    async def outline(self) -> tuple[BookOutline, int]:
        """The current outline and its version."""
        return await self._store.book.outline(), await self._version()

    async def write(self, command: WriteOutlinePart, put: Callable[[str, int], Awaitable[None]] | None = None) -> None:
        """Writes one part. `put` stores the whole text over the version that it is given (None: as a version by hand).

        Raises VersionConflict when the part was changed since it was read, RunError for an unknown one.
        """
        book, version = await self.outline()
        await self._require_same(command, book.outline, version)
        added, title, body = None, "", clean(command.text)
        if command.volume:
            text = self._with_volume(book, command.volume, body)
        elif command.title or not command.chapter:
            text = _with_words(book, _part(book.outline, command.title, command.nth), body)
        else:
            added = await self._chapter(command.chapter)
            text, title = with_chapter(book, added, body, self._base.settings.project.language)
        await (put or self._put)(text, version)
        if added is not None:
            await self._link_new(book, added, title)
        await self.written()
        self._changed()

    async def _put(self, text: str, version: int) -> None:
        await self._store.book.write_meta("outline", text, expected_version=version, tasks=following(("knowledge",)))

    def _with_volume(self, book: BookOutline, volume: str, body: str) -> str:
        if volume not in book.volumes:
            raise RunError(_("There is no such volume."), _("Nothing was changed."))
        if book.part_of_volume(volume) is not None:
            raise RunError(_("The outline has a part for this volume already."), _("Nothing was changed."))
        return _readable(with_volume(book, volume, body, self._base.settings.project.language))

    async def assign(self, command: AssignOutline) -> None:
        """Assigns a part to a chapter. Raises RunError for an unknown part or chapter."""
        book = await self._store.book.outline()
        part = _part(book.outline, command.title, command.nth)
        if part.kind == "book":
            raise _unknown(command.title)
        if command.chapter:
            await self._chapter(command.chapter)
        links = [link for link in await self._links() if (link.title, link.nth) != (part.title, part.nth)]
        if command.chapter is not None:
            links.append(link_to(book.outline, part, command.chapter))
        await self._store.book.link_outline(links)
        self._changed()

    async def settle(self) -> None:
        """Stores the assignments made by the rules before chapters are moved, so that each part moves with its
        chapter."""
        book = await self._store.book.outline()
        known = await self._links()
        links = _settled(book, known)
        if links and set(links) != set(known):
            await self._store.book.link_outline(links)

    async def written(self) -> None:
        """Renews the links after the outline was rewritten, so that they match its parts."""
        known = await self._links()
        if known and (links := renewed((await self._store.book.outline()).outline, known)) != known:
            await self._store.book.link_outline(links)

    async def _link_new(self, before: BookOutline, chapter: Chapter, title: str) -> None:
        """Links the part that was just added to that chapter; all others keep their links."""
        book, known = await self._store.book.outline(), await self._links()
        is_same = all(book.beats(each.id) == before.beats(each.id) for each in book.chapters if each.id != chapter.id)
        links = known if is_same else _settled(before, known)
        if not is_same or not book.of(chapter.id):
            parts = [part for part in book.outline.parts if part.title == title]
            links = (*links, *(link_to(book.outline, part, chapter.id) for part in parts[-1:]))
        if links != known:
            await self._store.book.link_outline(links)

    async def _require_same(self, command: WriteOutlinePart, outline: Outline, version: int) -> None:
        base = command.expected_version
        if base is None or base == version:
            return
        before = read_outline(await self._store.book.text(_OUTLINE, base) if base else "")
        if command.title and _words(before, command) == _words(outline, command) is not None:
            return
        raise VersionConflict(_("The outline was changed in the meantime."), _("Nothing was written."))

    async def _chapter(self, chapter: ChapterId) -> Chapter:
        try:
            return await self._store.book.chapter(chapter)
        except Gone as error:
            raise RunError(_("There is no such chapter."), _("Nothing was changed.")) from error

    async def _links(self) -> tuple[OutlineLink, ...]:
        return read_links(await self._store.book.text(LINKS))

    async def _version(self) -> int:
        versions = await self._store.book.versions(_OUTLINE)
        return versions[0].version if versions else 0

    def _changed(self) -> None:
        self._base.work.wake()
        self._base.emit(BookChanged())


def _settled(book: BookOutline, known: Sequence[OutlineLink]) -> tuple[OutlineLink, ...]:
    """The present assignments, by rules and by links; links to no chapter and to deleted chapters remain."""
    here = {chapter.id for chapter in book.chapters}
    return (*links_of(book), *(link for link in known if link.chapter == NOWHERE or link.chapter not in here))


def _unknown(title: str) -> RunError:
    return RunError(_("The outline has no such heading: {title}").format(title=title), _("Nothing was changed."))


def _part(outline: Outline, title: str, nth: int) -> OutlinePart:
    for part in outline.parts:
        if (part.title, part.nth) == (title, nth):
            return part
    raise _unknown(title)


def _words(outline: Outline, command: WriteOutlinePart) -> str | None:
    found = (part for part in outline.parts if (part.title, part.nth) == (command.title, command.nth))
    return next((outline.body(part) for part in found), None)


def _with_words(book: BookOutline, part: OutlinePart, body: str) -> str:
    if part.kind == "volume" and part.heading.start == part.heading.end:
        return _readable(with_volume_words(book, part, body))
    return with_body(book.text, part, body)


def _readable(text: str | None) -> str:
    """The text, readable as an outline. Raises RunError where no heading of a volume fits."""
    if text is None:
        title = _("With the other headings of this outline, the new heading would not be recognised as a volume.")
        raise RunError(title, _("Nothing was changed."), _("Edit it in the whole outline."))
    return text
