"""Changes of several chapters at once: replaced words, a split chapter, two merged chapters.

Each is one transaction and one generation; the generation identifies it for undo, and links texts that moved from one
chapter to another.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from sqlite3 import Connection

from flowcabal_tui.domain.changes import ChangeKind
from flowcabal_tui.domain.errors import ManuscriptError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, Generation
from flowcabal_tui.domain.manuscript import Chapter, ChapterVersion
from flowcabal_tui.domain.text import clean, digest
from flowcabal_tui.headings.scenes import cut, parting
from flowcabal_tui.locale import _
from flowcabal_tui.store.file.blobs import get_text
from flowcabal_tui.store.file.connection import StorePart, transaction
from flowcabal_tui.store.file.reading import read_json
from flowcabal_tui.store.rows.changes import begin_change
from flowcabal_tui.store.rows.comments import move_comments
from flowcabal_tui.store.rows.locks import require_unlocked
from flowcabal_tui.store.rows.outline import LINKS, links_text, read_links
from flowcabal_tui.store.rows.tasks import TaskMaker, add_tasks, no_tasks
from flowcabal_tui.store.rows.texts import (
    NewVersion,
    append_version,
    arrange,
    chapter_now,
    chapters_now,
    latest,
    new_places,
    place_of,
    places,
    put_place,
)


@dataclass(frozen=True, slots=True)
class NewText:
    """A text that replaces a version of a chapter."""

    chapter: ChapterId
    text: str
    expected_version: int


class Edits(StorePart):
    """Each change is one transaction with its background tasks, and begins a new generation."""

    @transaction
    def write(
        self,
        connection: Connection,
        texts: Sequence[NewText],
        note: str,
        tasks: TaskMaker,
        beside: Callable[[Connection], None] = lambda _connection: None,
    ) -> Generation:
        """Writes all texts and the rows of `beside`, or nothing. Raises VersionConflict, ChapterLocked or Gone."""
        generation = self._write(connection, texts, note, tasks)
        beside(connection)
        return generation

    def _write(self, connection: Connection, texts: Sequence[NewText], note: str, tasks: TaskMaker) -> Generation:
        now = {chapter.id: chapter for chapter in chapters_now(connection)}
        changed = [now[new.chapter].title for new in texts if now[new.chapter].version != new.expected_version]
        if changed:
            raise VersionConflict(
                _("{titles}: changed in the meantime.").format(titles=_(", ").join(changed)),
                _("Nothing was changed in any chapter."),
                _("Review the places again."),
            )
        texts = [new for new in texts if digest(clean(new.text)) != now[new.chapter].digest]  # no version if equal
        positions = [now[new.chapter].position for new in texts]
        generation = self._begin(connection, "replace", "", min(positions, default=0))
        for new, position in zip(texts, positions, strict=True):
            self._append(connection, NewVersion(new.chapter, new.text, "human", note), position, generation, tasks)
        return generation

    @transaction
    def split(
        self, connection: Connection, chapter: ChapterId, at: int, title: str, expected_version: int, tasks: TaskMaker
    ) -> Chapter:
        """Splits a chapter and returns the new one; a scene break at the place is removed. Raises VersionConflict,
        ManuscriptError (empty part) or Gone.

        The text between the parts is stored, so that `merge` restores the same text.
        """
        known, text = _text(connection, chapter)
        head, between, tail = cut(text, at)
        if known.version != expected_version:
            raise VersionConflict(_("The chapter was changed in the meantime."), _("Nothing was split."))
        if not head.strip() or not tail.strip():
            raise ManuscriptError(
                _("One of the two parts would be empty."),
                _("Nothing was split."),
                _("Choose a place within the text."),
            )
        order, now = places(connection), self._now()
        (new,) = new_places(connection, [(title, known.volume)], now)
        generation = self._begin(connection, "split", chapter, known.position)
        arrange(connection, [*order[: known.position], new, *order[known.position :]], generation)
        keep_parting(connection, chapter, new.chapter, between)
        note = _("split: {title}")
        for subject, part, position, other in (
            (chapter, head, known.position, new.title),
            (new.chapter, tail, known.position + 1, known.title),
        ):
            version = NewVersion(subject, part, "human", note.format(title=other))
            self._append(connection, version, position, generation, tasks)
        begins = len(text) - len(tail)
        move_comments(connection, chapter, new.chapter, tail, begins, -begins)
        return chapter_now(connection, new.chapter)

    @transaction
    def merge(self, connection: Connection, chapter: ChapterId, following: ChapterId, tasks: TaskMaker) -> None:
        """Merges two chapters with a scene break between them. Raises ManuscriptError when `following` is not the next
        one; Gone."""
        first, text = _text(connection, chapter)
        second, added = _text(connection, following)
        if second.position != first.position + 1:
            raise ManuscriptError(
                _("{second} does not follow {first}.").format(second=second.title, first=first.title),
                _("Nothing was merged."),
                _("Review the lists again."),
            )
        require_unlocked(connection, following)
        generation = self._begin(connection, "merge", chapter, first.position)
        put_place(connection, place_of(second), generation, deleted=True)
        arrange(connection, places(connection), generation)
        if added.strip():
            whole = _joined(text, added, kept_parting(connection, chapter, following))
            version = NewVersion(chapter, whole, "human", _("merged: {title}").format(title=second.title))
            self._append(connection, version, first.position, generation, tasks)
            move_comments(connection, following, chapter, whole, 0, len(whole) - len(added))
        self._join_outline(connection, chapter, following, generation)

    async def donors(self, version: ChapterVersion) -> tuple[tuple[ChapterId, int], ...]:
        """Versions of other chapters that this version's text came from, through a split or a merge."""
        question = (
            "SELECT subject, number-1 FROM version WHERE generation=? AND number>1"
            " AND subject IN (SELECT chapter FROM place) ORDER BY subject"
            if version.version == 1
            else "SELECT chapter, max(number) FROM place JOIN version ON subject=chapter"
            " WHERE place.generation=? AND deleted GROUP BY chapter ORDER BY chapter"
        )
        rows = await self._database.rows(question, (version.generation,))
        return tuple((chapter, number) for chapter, number in rows if chapter != version.chapter)

    def _join_outline(
        self, connection: Connection, chapter: ChapterId, following: ChapterId, generation: Generation
    ) -> None:
        """Reassigns the outline parts of the second chapter to the first."""
        newest = latest(connection, LINKS)
        links = read_links(get_text(connection, newest.digest)) if newest else ()
        joined = tuple(replace(each, chapter=chapter) if each.chapter == following else each for each in links)
        if joined != tuple(links):
            self._append(connection, NewVersion(LINKS, links_text(joined), "human"), 0, generation, no_tasks)

    def _append(
        self, connection: Connection, new: NewVersion, position: int, generation: Generation, tasks: TaskMaker
    ) -> None:
        version = append_version(connection, new, generation, self._now())
        add_tasks(connection, tasks(new.subject, version.digest, position))

    def _begin(self, connection: Connection, kind: ChangeKind, subject: str, position: int) -> Generation:
        return begin_change(connection, kind, subject, position, self._now())


def _joined(one: str, two: str, between: str | None) -> str:
    """Both texts with the text that a split removed between them, or with a scene break."""
    if between is not None:
        return f"{one}{between}{two}"
    one, two = one.rstrip(), two.lstrip("\n")
    return f"{one}{parting(one, two)}{two}" if one else two


def _text(connection: Connection, chapter: ChapterId) -> tuple[Chapter, str]:
    known, newest = chapter_now(connection, chapter), latest(connection, chapter)
    return known, get_text(connection, newest.digest) if newest else ""


def keep_parting(connection: Connection, first: ChapterId, second: ChapterId, between: str) -> None:
    """Stores the text that a split removed between the two."""
    value = json.dumps({"first": first, "between": between})
    connection.execute("INSERT OR REPLACE INTO value VALUES (?, ?)", (_key(second), value))


def kept_parting(connection: Connection, first: ChapterId, second: ChapterId) -> str | None:
    """The text that a split removed between the two; None if they were never one chapter."""
    row = connection.execute("SELECT json FROM value WHERE key=?", (_key(second),)).fetchone()
    kept = read_json(dict[str, str], row[0]) if row else {}
    return kept.get("between", "") if kept.get("first") == first else None


def _key(second: ChapterId) -> str:
    return f"parting/{second}"
