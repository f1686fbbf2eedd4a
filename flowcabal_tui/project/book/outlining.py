"""Edits the outline part by part, and assigns its parts to chapters. The writer's text is the truth (decision 21)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flowcabal_tui.domain.errors import RunError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.outline import NOWHERE, BookOutline, Outline, OutlineLink, OutlinePart
from flowcabal_tui.domain.prompt_parts import chapter_label
from flowcabal_tui.domain.text import clean
from flowcabal_tui.headings.assigning import link_to, links_of
from flowcabal_tui.headings.outline import read_outline
from flowcabal_tui.locale import _
from flowcabal_tui.project.book.curation import following
from flowcabal_tui.protocol import AssignOutline, BookChanged, Event, WriteOutlinePart
from flowcabal_tui.store import Store
from flowcabal_tui.store.book.outline import OUTLINE_LINKS, read_links

_OUTLINE = ChapterId("meta/outline")


class Outlining:
    """Lives on the engine's loop."""

    def __init__(
        self, store: Store, emit: Callable[[Event], None], wake: Callable[[], None], language: Callable[[], str]
    ) -> None:
        self._store, self._emit, self._wake, self._language = store, emit, wake, language

    async def outline(self) -> tuple[BookOutline, int]:
        """The outline as it is now, and its version."""
        return await self._store.book.outline(), await self._version()

    async def write(self, command: WriteOutlinePart) -> None:
        """Raises VersionConflict when the part was changed since it was read, RunError for an unknown one."""
        book, version = await self.outline()
        await self._require_same(command, book.outline, version)
        if command.title or not command.chapter:
            part = _part(book.outline, command.title, command.nth)
            text, added = _with_body(book.text, part, clean(command.text)), None
        else:
            chapter = await self._chapter(command.chapter)
            title = chapter_label(chapter.position, chapter.title, self._language())
            text, added = _with_part(book, chapter, title, clean(command.text)), chapter
        await self._store.book.write_meta("outline", text, expected_version=version, tasks=following(("knowledge",)))
        if added is not None:
            await self._link_new(added, title)
        self._changed()

    async def assign(self, command: AssignOutline) -> None:
        """Raises RunError for an unknown part or chapter."""
        book = await self._store.book.outline()
        part = _part(book.outline, command.title, command.nth)
        if part.kind == "book":
            raise _unknown(command.title)
        if command.chapter:
            await self._chapter(command.chapter)
        links = [link for link in await self._links() if (link.title, link.nth) != (part.title, part.nth)]
        if command.chapter is not None:
            links.append(link_to(book, part, command.chapter))
        await self._store.book.link_outline(links)
        self._changed()

    async def settle(self) -> None:
        """Before chapters move: what the rules assign by now is written down, so that it moves with its chapter."""
        book = await self._store.book.outline()
        known = await self._links()
        here = {chapter.id for chapter in book.chapters}
        links = (*links_of(book), *(link for link in known if link.chapter == NOWHERE or link.chapter not in here))
        if links and set(links) != set(known):
            await self._store.book.link_outline(links)

    async def join(self, chapter: ChapterId, following_one: ChapterId) -> None:
        """Two chapters become one: what the outline says of the second is said of the first."""
        links = await self._links()
        moved = [replace(each, chapter=chapter) if each.chapter == following_one else each for each in links]
        if moved != list(links):
            await self._store.book.link_outline(moved)

    async def _link_new(self, chapter: Chapter, title: str) -> None:
        """The part that was just added is that chapter's, whatever the rules say of its heading."""
        book = await self._store.book.outline()
        if not book.of(chapter.id) and (parts := [part for part in book.outline.parts if part.title == title]):
            await self._store.book.link_outline([*await self._links(), link_to(book, parts[-1], chapter.id)])

    async def _require_same(self, command: WriteOutlinePart, outline: Outline, version: int) -> None:
        base = command.expected_version
        if base is None or base == version:
            return
        before = read_outline(await self._store.book.text(_OUTLINE, base) if base else "")
        if command.title and _words(before, command) == _words(outline, command) is not None:
            return
        raise VersionConflict(_("The outline was changed meanwhile."), _("Nothing was written."))

    async def _chapter(self, chapter: ChapterId) -> Chapter:
        try:
            return await self._store.book.chapter(chapter)
        except KeyError as error:
            raise RunError(_("There is no such chapter."), _("Nothing was changed.")) from error

    async def _links(self) -> tuple[OutlineLink, ...]:
        return read_links(await self._store.book.text(ChapterId(f"meta/{OUTLINE_LINKS}")))

    async def _version(self) -> int:
        versions = await self._store.book.versions(_OUTLINE)
        return versions[0].version if versions else 0

    def _changed(self) -> None:
        self._wake()
        self._emit(BookChanged())


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


def _with_body(text: str, part: OutlinePart, body: str) -> str:
    """The outline with other words below one heading; every character outside of them stays."""
    old, words = text[part.body.start : part.body.end], body.strip("\n").rstrip()
    has_more = part.body.end < len(text)
    if not words and not old.strip():
        return text
    if old.strip():
        before, after = old[: len(old) - len(old.lstrip("\n"))], old[len(old.rstrip()) :]
    else:
        before, after = "\n" if part.heading.end else "", "\n\n" if has_more else "\n"
    return text[: part.body.start] + before + words + after + text[part.body.end :]


def _with_part(book: BookOutline, chapter: Chapter, title: str, body: str) -> str:
    """The outline with a heading for a chapter behind that of the nearest chapter before it."""
    earlier = [each for each in book.placed if each.place is not None and each.place < chapter.position]
    later = [each for each in book.placed if each.chapters and (each.place or 0) > chapter.position]
    text = book.text
    at = max((each.part.body.end for each in earlier if each.part.kind == "chapter"), default=len(text))
    at = min(at, min((each.part.heading.start for each in later), default=at)) if earlier or later else len(text)
    likeness = next((each.part for each in (*reversed(earlier), *later) if each.part.kind == "chapter"), None)
    line = text[likeness.heading.start : likeness.heading.end] if likeness else "## "
    marks = line[: len(line) - len(line.lstrip("#"))]
    before, after = text[:at].rstrip("\n"), text[at:].lstrip("\n")
    new = f"{marks} {title}".lstrip() + f"\n{body.strip(chr(10)).rstrip()}\n"
    return "\n\n".join(filter(None, (before, new.rstrip("\n")))) + ("\n\n" + after if after else "\n")
