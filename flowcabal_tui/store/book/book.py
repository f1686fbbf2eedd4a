"""The book: chapters in story order, their versions, and the texts about it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from sqlite3 import Connection
from typing import Final

from flowcabal_tui.domain.changes import ChangeKind
from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.comments import Comment
from flowcabal_tui.domain.context import Scene
from flowcabal_tui.domain.errors import Gone, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, OutputId
from flowcabal_tui.domain.manuscript import Author, Chapter, ChapterVersion, ImportedChapter
from flowcabal_tui.domain.memory import BackgroundTask, Curated, MetaName
from flowcabal_tui.domain.outline import BookOutline, OutlineLink
from flowcabal_tui.domain.text import clean, clean_line, digest, says_same
from flowcabal_tui.locale import _, mark
from flowcabal_tui.store.book.curation import CURATED, Keeping, Kept, curated_of, keep, set_deleted, set_tags
from flowcabal_tui.store.book.drafts import forget_draft, text_of_version
from flowcabal_tui.store.file.blobs import get_text, unpack
from flowcabal_tui.store.file.connection import StorePart, transaction
from flowcabal_tui.store.rows.changes import begin_change, log_change
from flowcabal_tui.store.rows.comments import add_comments
from flowcabal_tui.store.rows.generations import NOW, next_generation
from flowcabal_tui.store.rows.locks import require_unlocked
from flowcabal_tui.store.rows.outline import LINKS, book_outline, links_text
from flowcabal_tui.store.rows.tasks import TaskMaker, add_tasks, no_tasks
from flowcabal_tui.store.rows.texts import (
    CHAPTERS,
    DELETED,
    EMPTY,
    ChapterPlace,
    NewVersion,
    append_version,
    arrange,
    chapter_now,
    chapter_of,
    chapters_now,
    latest,
    new_places,
    place_of,
    places,
    put_place,
    scene_subject,
    version_of,
)

_VERSIONS: Final = """SELECT version.subject, number, digest, author, version.at, version.generation, output,
        version.note, CASE mode WHEN 'replay' THEN coalesce(change_log.kind, 'forget') ELSE '' END
    FROM version LEFT JOIN change_log ON change_log.generation=version.generation AND kind IN ('forget', 'restore')
    WHERE version.subject=? ORDER BY number DESC"""


def meta_subject(name: MetaName) -> str:
    """The project-relative uri of a text about the book."""
    return f"meta/{name}"


class Book(StorePart):
    """Each change is one transaction with its background tasks, and begins a new generation."""

    async def chapters(self) -> tuple[Chapter, ...]:
        """All chapters in story order, also those without text."""
        return tuple(chapter_of(row) for row in await self._database.rows(CHAPTERS, {"as_of": NOW}))

    async def deleted(self) -> tuple[Chapter, ...]:
        """Deleted chapters that can be restored, with their former place, the last deleted one first."""
        return tuple(chapter_of(row) for row in await self._database.rows(DELETED, {"as_of": NOW}))

    async def chapter(self, chapter: ChapterId) -> Chapter:
        """A chapter by its id. Raises Gone if it is unknown or deleted."""
        for candidate in await self.chapters():
            if candidate.id == chapter:
                return candidate
        raise Gone(chapter)

    async def require_known(self, chapter: ChapterId) -> None:
        """Raises Gone for a chapter that never was in the book; one that is deleted is known."""
        await self._database.one("SELECT 1 FROM place WHERE chapter=? LIMIT 1", (chapter,), chapter)

    async def text(self, chapter: ChapterId, version: int | None = None) -> str:
        """The text of a version (None: the newest); "" when there is none. Raises Gone for an unknown version."""
        row = await self._database.row(
            "SELECT body FROM version JOIN blob USING (digest) WHERE subject=? AND (? IS NULL OR number=?)"
            " ORDER BY number DESC LIMIT 1",
            (chapter, version, version),
        )
        if row is None and version:
            raise Gone((chapter, version))
        return unpack(row[0]) if row else ""

    async def titles_by_text(self) -> dict[Digest, set[str]]:
        """For each present or past text of the chapters, the titles of the chapters that have or had it."""
        here = {chapter.id: chapter.title for chapter in await self.chapters()}
        titles: dict[Digest, set[str]] = {}
        for subject, text in await self._database.rows("SELECT subject, digest FROM version"):
            if subject in here:
                titles.setdefault(Digest(text), set()).add(here[subject])
        return titles

    async def versions(self, chapter: ChapterId) -> tuple[ChapterVersion, ...]:
        """The versions of a text, newest first."""
        return tuple(version_of(row) for row in await self._database.rows(_VERSIONS, (chapter,)))

    @transaction
    def add_chapter(self, connection: Connection, title: str, volume: str = "", position: int | None = None) -> Chapter:
        """Adds a chapter without text at `position` (from 1; None: at the end); later chapters move back by one."""
        order = places(connection)
        at = len(order) if position is None else max(0, min(position - 1, len(order)))
        (new,) = new_places(connection, [(title, volume)], self._now())
        arrange(connection, [*order[:at], new, *order[at:]], self._begin(connection, "add", new.chapter, at + 1))
        return chapter_now(connection, new.chapter)

    @transaction
    def import_chapters(
        self,
        connection: Connection,
        chapters: Sequence[ImportedChapter],
        tasks: TaskMaker = no_tasks,
        comments: Mapping[int, Sequence[Comment]] | None = None,
    ) -> tuple[Chapter, ...]:
        """Appends chapters with their texts, and with their `comments` by row index, all or none."""
        order = places(connection)
        named = [(found.title, found.volume) for found in chapters]
        new = new_places(connection, named, self._now())
        generation = self._begin(connection, "import", "", len(order) + 1)
        arrange(connection, [*order, *new], generation)
        for position, (place, found) in enumerate(zip(new, chapters, strict=True), len(order) + 1):
            version = self._append(connection, NewVersion(place.chapter, found.text, "import"), generation)
            add_tasks(connection, tasks(place.chapter, version.digest, position))
        for row, noted in (comments or {}).items():
            moved = [replace(each, chapter=new[row].chapter) for each in noted]
            add_comments(connection, moved, self._now())
        return tuple(chapters_now(connection)[len(order) :])

    @transaction
    def rename(self, connection: Connection, chapter: ChapterId, title: str, volume: str | None = None) -> None:
        """Changes the title (and the volume, unless None). Raises Gone for an unknown chapter."""
        at = chapter_now(connection, chapter)
        new = replace(at, title=clean_line(title), volume=at.volume if volume is None else clean_line(volume))
        put_place(connection, place_of(new), self._begin(connection, "rename", chapter, at.position))

    @transaction
    def move(self, connection: Connection, chapter: ChapterId, position: int) -> None:
        """Moves the chapter to `position` (from 1); the others keep their order. Raises Gone for an unknown chapter."""
        old = chapter_now(connection, chapter).position
        order = places(connection)
        new = max(1, min(position, len(order)))
        if new != old:
            order.insert(new - 1, order.pop(old - 1))
            arrange(connection, order, self._begin(connection, "move", chapter, min(old, new)))

    @transaction
    def delete(self, connection: Connection, chapter: ChapterId) -> None:
        """Removes a chapter from the book and the memory; its versions stay. Raises ChapterLocked, or Gone for an
        unknown one."""
        at = chapter_now(connection, chapter)
        require_unlocked(connection, chapter)
        generation = self._begin(connection, "delete", chapter, at.position)
        put_place(connection, place_of(at), generation, deleted=True)
        arrange(connection, places(connection), generation)

    @transaction
    def undelete(self, connection: Connection, chapter: ChapterId) -> Chapter:
        """Restores a deleted chapter to its former place. Raises Gone when it is not deleted."""
        row = connection.execute(
            "SELECT position, title, volume, deleted FROM place WHERE chapter=? ORDER BY generation DESC LIMIT 1",
            (chapter,),
        ).fetchone()
        if row is None or not row[3]:
            raise Gone(chapter)
        order = places(connection)
        at = min(row[0] - 1, len(order))
        new = ChapterPlace(chapter, row[1], row[2])
        generation = self._begin(connection, "undelete", chapter, at + 1)
        arrange(connection, [*order[:at], new, *order[at:]], generation)
        return chapter_now(connection, chapter)

    @transaction
    def write(
        self,
        connection: Connection,
        chapter: ChapterId,
        text: str,
        author: Author = "human",
        note: str = "",
        *,
        expected_version: int | None = None,
        settles_draft: bool = False,
        is_older: bool = False,
        tasks: TaskMaker = no_tasks,
    ) -> ChapterVersion:
        """Adds a version of the text; for an unchanged text returns the present version.

        With `settles_draft` it deletes the chapter's unsaved text in the same transaction; with `is_older` it logs that
        the text is that of an older version. Raises VersionConflict when
        the newest text is not that of `expected_version`, Gone for an unknown chapter.
        """
        at = chapter_now(connection, chapter)
        _require_newest(connection, chapter, expected_version, _("The chapter was changed in the meantime."))
        before = latest(connection, chapter)
        written = self._write(connection, NewVersion(chapter, text, author, note), at.position, tasks)
        if is_older and written != before:
            log_change(connection, written.generation, "older", chapter, self._now())
        if settles_draft:
            forget_draft(connection, chapter)
        return written

    async def meta_text(self, name: MetaName) -> str:
        return await self.text(ChapterId(meta_subject(name)))

    @transaction
    def write_meta(
        self,
        connection: Connection,
        name: MetaName,
        text: str,
        author: Author = "human",
        *,
        expected_version: int | None = None,
        tasks: TaskMaker = no_tasks,
    ) -> ChapterVersion:
        """Adds a version of a text about the book; versions as for chapters (`versions("meta/outline")`).

        Raises VersionConflict when the newest text is not that of `expected_version`.
        """
        new = NewVersion(meta_subject(name), text, author)
        _require_newest(connection, new.subject, expected_version, _("The text was changed in the meantime."))
        return self._write(connection, new, 0, tasks)

    @transaction
    def write_scene(self, connection: Connection, chapter: ChapterId, scene: Scene) -> ChapterVersion:
        """Replaces the writer's settings for the scene of a chapter. Raises Gone for an unknown chapter.

        It counts as a change before the chapter: its next run reads it, a run of an earlier chapter does not.
        """
        new = NewVersion(scene_subject(chapter), to_json(scene), "human")
        return self._write(connection, new, chapter_now(connection, chapter).position - 1, no_tasks)

    async def outline(self) -> BookOutline:
        """The present outline with the chapters of its parts."""
        text, links = await self.meta_text("outline"), await self.text(LINKS)
        return await asyncio.to_thread(book_outline, text, links, await self.chapters())

    async def link_outline(self, links: Sequence[OutlineLink]) -> None:
        """Assigns parts of the outline to chapters; rules assign the parts that are not listed."""
        new = NewVersion(LINKS, links_text(links), "human")
        await self._database.do(lambda connection: self._write(connection, new, 0, no_tasks))

    async def keep(self, keeping: Keeping, tasks: TaskMaker = no_tasks) -> Kept:
        """Keeps an output in one transaction: text, version, tags and background tasks, all or none.

        Raises Gone for an unknown chapter.
        """
        at = self._now()
        return await self._database.do(lambda connection: keep(connection, keeping, tasks, at))

    async def kept(self, chapter: ChapterId | None = None) -> tuple[Curated, ...]:
        """Kept outputs (of one chapter, or all), forgotten ones too, oldest first."""
        rows = await self._database.rows(
            f"SELECT {CURATED} FROM curated WHERE ? IS NULL OR chapter=? ORDER BY number", (chapter, chapter)
        )
        return self._database.readable(mark("kept outputs"), curated_of, rows)

    async def kept_text(self, output: OutputId) -> str:
        """The text of an output as it was kept. Raises Gone if it is unknown."""
        body = "SELECT body FROM curated JOIN blob USING (digest) WHERE curated.id=?"
        return unpack((await self._database.one(body, (output,), output))[0])

    async def tag(self, output: OutputId, tags: Sequence[str]) -> Curated:
        """Sets the tags of a kept output. Raises Gone if it is unknown."""
        return await self._database.do(lambda connection: set_tags(connection, output, tags))

    @transaction
    def forget(self, connection: Connection, output: OutputId, tasks: TaskMaker = no_tasks) -> Curated:
        """Removes a kept output from the memory at once, and its words from the text. Raises Gone if it is unknown."""
        return set_deleted(connection, output, True, tasks, self._now())

    @transaction
    def restore(self, connection: Connection, output: OutputId, tasks: TaskMaker = no_tasks) -> Curated:
        """Restores a forgotten output. Raises Gone if it is unknown."""
        return set_deleted(connection, output, False, tasks, self._now())

    def _write(self, connection: Connection, new: NewVersion, position: int, tasks: TaskMaker) -> ChapterVersion:
        before = latest(connection, new.subject)
        if before is not None and before.digest == digest(clean(new.text)):
            return before
        version = self._append(connection, new, next_generation(connection, "truth", position, self._now()))
        following = tasks(new.subject, version.digest, position)
        if before is not None and says_same(get_text(connection, before.digest), clean(new.text)):
            following = follow_same_text(connection, new.subject, before.digest, version.digest, following)
        add_tasks(connection, following)
        return version

    def _append(self, connection: Connection, new: NewVersion, generation: Generation) -> ChapterVersion:
        return append_version(connection, new, generation, self._now())

    def _begin(self, connection: Connection, kind: ChangeKind, subject: str, position: int) -> Generation:
        return begin_change(connection, kind, subject, position, self._now())


def _require_newest(connection: Connection, subject: str, expected: int | None, title: str) -> None:
    """Raises VersionConflict unless the newest text is that of the version `expected` (None: any)."""
    newest = latest(connection, subject)
    now = newest.version if newest else 0
    if (
        expected is None
        or expected == now
        or text_of_version(connection, subject, expected) == (newest.digest if newest else EMPTY)
    ):
        return
    raise VersionConflict(
        title,
        _("It has version {now}; your edit is based on version {then}.").format(now=now, then=expected),
        _("Compare the two and save again; nothing was overwritten."),
    )


_BY_RULE: Final = frozenset(("mirror", "index", "knowledge"))


def follow_same_text(
    connection: Connection, chapter: str, before: Digest, now: Digest, tasks: Iterable[BackgroundTask]
) -> list[BackgroundTask]:
    """Links summaries, profiles and checks of the text `before` to the text `now`. Returns those of the tasks that call
    no model."""
    old, new = f'"{chapter}":"{before}"', f'"{chapter}":"{now}"'
    connection.execute("UPDATE derived SET rests=replace(rests, ?, ?) WHERE instr(rests, ?)", (old, new, old))
    connection.execute("UPDATE OR IGNORE checked SET digest=? WHERE chapter=? AND digest=?", (now, chapter, before))
    return [task for task in tasks if task.kind in _BY_RULE]
