"""The log of changes of the book, and their undo, which restores the state before a change in a new generation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from sqlite3 import Connection
from typing import Final, cast

from flowcabal_tui.domain.changes import ChangeKind, LoggedChange
from flowcabal_tui.domain.errors import RunError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, Digest, Generation, OutputId
from flowcabal_tui.locale import _, mark
from flowcabal_tui.store.book.curation import set_deleted
from flowcabal_tui.store.file.blobs import get_text
from flowcabal_tui.store.file.connection import Row, StorePart, one_row, transaction
from flowcabal_tui.store.file.reading import decodes
from flowcabal_tui.store.rows.changes import begin_change, mark_undone
from flowcabal_tui.store.rows.comments import move_comments
from flowcabal_tui.store.rows.locks import require_unlocked
from flowcabal_tui.store.rows.outline import LINKS
from flowcabal_tui.store.rows.tasks import TaskMaker, add_tasks
from flowcabal_tui.store.rows.texts import (
    ChapterPlace,
    NewVersion,
    append_version,
    arrange,
    chapters_now,
    latest,
    places,
    put_place,
)

_LOG: Final = """
    SELECT generation, kind, subject, at, undone,
        coalesce((SELECT title FROM place WHERE chapter=subject AND place.generation<change_log.generation
            ORDER BY place.generation DESC LIMIT 1),
            (SELECT title FROM place WHERE chapter=subject AND place.generation=change_log.generation), ''),
        coalesce((SELECT note FROM version WHERE version.generation=change_log.generation AND note<>'' LIMIT 1), ''),
        (SELECT count(*) FROM (
            SELECT subject FROM version WHERE version.generation=change_log.generation
                AND subject IN (SELECT chapter FROM place)
            UNION SELECT chapter FROM place WHERE place.generation=change_log.generation))
    FROM change_log"""


class Changes(StorePart):
    """The log of changes of one project."""

    async def all(self, limit: int = 200) -> tuple[LoggedChange, ...]:
        """The newest `limit` changes, the newest first."""
        rows = await self._database.rows(f"{_LOG} ORDER BY generation DESC LIMIT ?", (limit,))
        return self._database.readable(mark("Changes"), _change, rows)

    async def get(self, generation: Generation) -> LoggedChange:
        """The change of a generation. Raises Gone when none is logged."""
        return _change(await self._database.one(f"{_LOG} WHERE generation=?", (generation,), generation))

    async def last(self) -> LoggedChange | None:
        """The newest change that is neither undone nor an undo itself."""
        row = await self._database.row(f"{_LOG} WHERE undone IS NULL AND kind<>'undo' ORDER BY generation DESC LIMIT 1")
        return _change(row) if row else None

    async def chapters_added(self, generation: Generation) -> tuple[ChapterId, ...]:
        """The chapters that a change added to the book; its undo removes them."""
        rows = await self._database.rows(
            "SELECT chapter FROM place AS made WHERE generation=? AND NOT deleted AND coalesce((SELECT deleted FROM"
            " place WHERE chapter=made.chapter AND generation<made.generation ORDER BY generation DESC LIMIT 1), 1)",
            (generation,),
        )
        return tuple(chapter for (chapter,) in rows)

    @transaction
    def undo(self, connection: Connection, generation: Generation, note: str, tasks: TaskMaker) -> Generation:
        """Undoes a change in a new generation, and returns that generation.

        All or nothing: raises VersionConflict when something that it wrote has changed since, RunError when it is
        already undone or the texts before it were purged, Gone when no such change is logged.
        """
        logged = "SELECT kind, subject, undone FROM change_log WHERE generation=?"
        kind, subject, undone = one_row(connection, logged, (generation,), generation)
        if undone is not None:
            raise RunError(_("This change has already been undone."), _("Nothing was changed."))
        at = self._now()
        if kind in ("forget", "restore"):
            set_deleted(connection, OutputId(subject), kind == "restore", tasks, at)
            (made,) = connection.execute("SELECT max(generation) FROM change_log").fetchone()
        else:
            made = _Undo(connection, generation, at).carry_out(note, tasks)
        mark_undone(connection, generation, made)
        if kind == "undo":
            connection.execute("UPDATE change_log SET undone=NULL WHERE generation=?", (int(subject),))
        return Generation(made)


class _Undo:
    """One undo, within a transaction."""

    def __init__(self, connection: Connection, generation: Generation, at: str) -> None:
        self._connection, self._generation, self._at = connection, generation, at

    def carry_out(self, note: str, tasks: TaskMaker) -> Generation:
        """See `Changes.undo`."""
        placed, written = self._placed(), self._written()
        self._require_unchanged(placed, written)
        first = min((place.position for place, _before in placed), default=0)
        made = begin_change(self._connection, "undo", str(self._generation), first, self._at)
        here = {chapter.id for chapter in chapters_now(self._connection)}
        leaving = {place.chapter for place, before in placed if before is None}
        returning = {before.chapter for _place, before in placed if before is not None} - here
        self._place(placed, made)
        for subject, number in written:
            if subject not in leaving:  # chapters that leave the book keep their versions
                with self._comments_follow(subject, leaving, returning):
                    self._restore(subject, number, made, note, tasks)
        return made

    def _restore(self, subject: str, number: int, made: Generation, note: str, tasks: TaskMaker) -> None:
        new = NewVersion(subject, self._text_before(subject, number), "human", note)
        version = append_version(self._connection, new, made, self._at)
        position = next((at.position for at in chapters_now(self._connection) if at.id == subject), 0)
        add_tasks(self._connection, tasks(subject, version.digest, position))

    @contextmanager
    def _comments_follow(self, subject: str, leaving: Iterable[str], returning: Iterable[str]) -> Iterator[None]:
        """Moves comments together with the end of a text that a leaving chapter gives, or a returning one takes."""
        joined = self._text(subject)
        yield
        for chapter in leaving:
            text = self._text(subject)
            move_comments(self._connection, chapter, subject, text, 0, len(text) - len(self._text(chapter)))
        for chapter in returning:
            begins = len(joined) - len(self._text(chapter))
            move_comments(self._connection, subject, chapter, self._text(chapter), begins, -begins)

    def _text(self, subject: str) -> str:
        newest = latest(self._connection, subject)
        return get_text(self._connection, newest.digest) if newest else ""

    def _written(self) -> list[tuple[str, int]]:
        """Versions that the change wrote; links of the outline only while they are the newest, since later ones
        stay."""
        rows = self._connection.execute(
            "SELECT subject, number FROM version WHERE generation=? ORDER BY subject", (self._generation,)
        ).fetchall()
        return [(subject, number) for subject, number in rows if subject != LINKS or self._is_newest(subject, number)]

    def _is_newest(self, subject: str, number: int) -> bool:
        """True when the newest text is that of this version. A later change that was undone does not count."""
        newest = latest(self._connection, subject)
        row = self._connection.execute(
            "SELECT digest FROM version WHERE subject=? AND number=?", (subject, number)
        ).fetchone()
        return newest is not None and newest.digest == row[0]

    def _placed(self) -> list[tuple[ChapterPlace, ChapterPlace | None]]:
        """Each place that the change wrote, with the earlier one; None: the chapter was not in the book."""
        rows = self._connection.execute(
            "SELECT chapter, title, volume, position FROM place WHERE generation=? ORDER BY position",
            (self._generation,),
        ).fetchall()
        return [(ChapterPlace(*row), self._place_of(row[0], before=self._generation)) for row in rows]

    def _place_of(self, chapter: ChapterId, *, before: int) -> ChapterPlace | None:
        row = self._connection.execute(
            "SELECT chapter, title, volume, position, deleted FROM place WHERE chapter=? AND generation<?"
            " ORDER BY generation DESC LIMIT 1",
            (chapter, before),
        ).fetchone()
        return None if row is None or row[4] else ChapterPlace(*row[:4])

    def _require_unchanged(
        self, placed: Iterable[tuple[ChapterPlace, ChapterPlace | None]], written: Iterable[tuple[str, int]]
    ) -> None:
        changed = []
        for place, _before in placed:
            now = self._connection.execute(
                "SELECT title, volume, position, deleted FROM place WHERE chapter=? ORDER BY generation DESC LIMIT 1",
                (place.chapter,),
            ).fetchone()
            made = self._connection.execute(
                "SELECT title, volume, position, deleted FROM place WHERE chapter=? AND generation=?",
                (place.chapter, self._generation),
            ).fetchone()
            if now != made:
                changed.append(place.title)
        for subject, number in written:
            if not self._is_newest(subject, number):
                changed.append(self._title(subject))
        if changed:
            raise VersionConflict(
                _("{titles}: changed in the meantime.").format(titles=_(", ").join(dict.fromkeys(changed))),
                _("Nothing was undone."),
                _("Undo the later change first, or restore the older versions of these texts."),
            )

    def _title(self, subject: str) -> str:
        row = self._connection.execute(
            "SELECT title FROM place WHERE chapter=? ORDER BY generation DESC LIMIT 1", (subject,)
        ).fetchone()
        return row[0] if row else subject

    def _text_before(self, subject: str, number: int) -> str:
        if number == 1:
            return ""
        row = self._connection.execute(
            "SELECT digest FROM version WHERE subject=? AND number=?", (subject, number - 1)
        ).fetchone()
        if row is None:
            raise RunError(_("The text before this change was purged."), self._title(subject), _("Nothing was undone."))
        return get_text(self._connection, Digest(row[0]))

    def _place(self, placed: list[tuple[ChapterPlace, ChapterPlace | None]], made: Generation) -> None:
        """Moves the chapters that the change placed back to their earlier places; the others keep their order."""
        if not placed:
            return
        now = {place.chapter: place for place in places(self._connection)}
        for place, before in placed:
            if before is None and place.chapter in now:
                require_unlocked(self._connection, place.chapter)
                put_place(self._connection, place, made, deleted=True)
        touched = {place.chapter for place, _before in placed}
        order = [place for place in now.values() if place.chapter not in touched]
        for before in sorted((before for _place, before in placed if before), key=lambda place: place.position):
            here = now.get(before.chapter)
            same = here is not None and (here.title, here.volume) == (before.title, before.volume)
            at = here.position if here is not None and same else 0  # 0: its row is written in any case
            order.insert(before.position - 1, ChapterPlace(before.chapter, before.title, before.volume, at))
        arrange(self._connection, order, made)


@decodes
def _change(row: Row) -> LoggedChange:
    generation, kind, subject, at, undone, title, note, chapters = row
    return LoggedChange(
        generation,
        cast(ChangeKind, kind),
        title,
        note,
        chapters,
        datetime.fromisoformat(at),
        undone is not None,
        subject,
    )
