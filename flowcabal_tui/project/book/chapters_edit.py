"""Changes of several chapters at once: words replaced everywhere, a chapter split, two merged; and their undo."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence

from flowcabal_tui.domain.errors import ManuscriptError, VersionConflict
from flowcabal_tui.domain.ids import ChapterId, OutputId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.project.base import ProjectBase
from flowcabal_tui.project.book.following import AFTER_EDIT, following
from flowcabal_tui.protocol.book import (
    BookChanged,
    MergeChapters,
    OutputPersisted,
    ReplaceText,
    RevertChange,
    SplitChapter,
)
from flowcabal_tui.store.book.edits import NewText

ChaptersCommand = ReplaceText | RevertChange | SplitChapter | MergeChapters
_SHOWN = 40
"""Characters of the words in the note of a version."""


class ChaptersEdit:
    """Edits several chapters at once. Lives on the engine's loop."""

    def __init__(self, base: ProjectBase, placed: Callable[[Sequence[Chapter]], Awaitable[None]]) -> None:
        """`placed`: see `Curation`."""
        self._store, self._emit, self._wake, self._placed = base.store, base.emit, base.work.wake, placed

    async def do(self, command: ChaptersCommand) -> str:
        """Applies a change and returns its id. Raises VersionConflict or ManuscriptError; then nothing was changed."""
        before, made = await self._store.book.chapters(), ""
        match command:
            case ReplaceText():
                made = str(await self._store.edits.write(*await self._replaced(command), following(AFTER_EDIT)))
            case RevertChange():
                note = _("change undone")
                made = str(await self._store.changes.undo(command.generation, note, following(AFTER_EDIT)))
            case SplitChapter():
                new = await self._store.edits.split(
                    command.chapter, command.at, clean(command.title), command.expected_version, following(AFTER_EDIT)
                )
                made = new.id
            case MergeChapters():
                await self._store.edits.merge(command.chapter, command.following, following(AFTER_EDIT))
        await self._placed(before)
        await self._tell(before)
        return made

    async def _tell(self, before: Sequence[Chapter]) -> None:
        versions = {chapter.id: chapter.version for chapter in before}
        for chapter in await self._store.book.chapters():
            if chapter.version != versions.get(chapter.id):
                self._emit(OutputPersisted(OutputId(""), chapter.id, chapter.version, True))
        self._emit(BookChanged())
        self._wake()

    async def _replaced(self, command: ReplaceText) -> tuple[list[NewText], str]:
        """The new texts, and the note for their versions. Raises ManuscriptError without a place."""
        if not command.places:
            raise ManuscriptError(_("No place was chosen."), _("Nothing was changed in any chapter."))
        words, by = command.words, clean(command.by)
        of_chapter: defaultdict[tuple[ChapterId, int], list[int]] = defaultdict(list)
        for place in command.places:
            of_chapter[place.chapter, place.version].append(place.start)
        texts = []
        for (chapter, version), starts in of_chapter.items():
            text = await self._store.book.text(chapter, version)
            for start in sorted(set(starts), reverse=True):
                if not words or text[start : start + len(words)] != words:
                    raise VersionConflict(
                        _("The words are no longer there: {words}.").format(words=words[:_SHOWN]),
                        _("Nothing was changed in any chapter."),
                        _("Review the places again."),
                    )
                text = text[:start] + by + text[start + len(words) :]
            texts.append(NewText(chapter, text, version))
        note = _("replaced: {words} with {others}").format(words=words[:_SHOWN], others=by[:_SHOWN])
        return texts, note
