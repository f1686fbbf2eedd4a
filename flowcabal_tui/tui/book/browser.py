"""The whole manuscript: volumes, chapters and scenes with their lengths, goals and state."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.errors import FlowCabalError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.overview import BookOverview
from flowcabal_tui.domain.scenes import ChapterScene
from flowcabal_tui.domain.text import word_count
from flowcabal_tui.locale import _, mark, ngettext
from flowcabal_tui.protocol.book import EditScene
from flowcabal_tui.tui.book.browser_rows import (
    COLUMNS,
    OPENING,
    chapter_lines,
    chapter_row,
    scene_lines,
    scene_row,
    volume_row,
)
from flowcabal_tui.tui.shared.hint_line import HintLine
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.shared.words import counted, one_line
from flowcabal_tui.tui.widgets.cells import is_plain
from flowcabal_tui.tui.widgets.column_rows import Columns
from flowcabal_tui.tui.widgets.help import HELP_KEYS, HelpData
from flowcabal_tui.tui.widgets.list_detail import DetailText, ListDetail
from flowcabal_tui.tui.widgets.progress import goal_rows
from flowcabal_tui.tui.widgets.role_words import head_words, key_words

if TYPE_CHECKING:
    from flowcabal_tui.tui.book.browser_controller import BrowserController

_LOOK: Final = 2.0
"""Interval in seconds for reading the progress of background work."""


@dataclass(frozen=True, slots=True)
class BrowserPlace:
    """A place in a chapter to open (-1: its beginning)."""

    chapter: ChapterId
    start: int = -1
    end: int = -1


class BrowserScreen(ModalScreen[BrowserPlace | None]):
    """Returns the place to open, or None. `current` is the open chapter."""

    help = HelpData(
        mark("The manuscript"),
        mark("Volumes, chapters and scenes. `l` shows the scenes of a chapter, `h` hides them, Enter opens. On a "
             "chapter or a scene, `m` merges it with the next one, `<` and `>` move it, `n` gives it a title. "
             "`s` splits the chapter at the scene, `e` edits the scene's beats in the outline, Ctrl+z undoes the "
             "last change of scenes. `V` shows the versions of the chapter with their differences and restores "
             "one, `w` shows where its lines come from. `K` lists the outputs that you kept for it, or for the "
             "book. `D` deletes a chapter and `U` restores it; Shift+Delete purges it: it is removed from the "
             "project's file for good, which cannot be undone. Set goals on the page of words by day, `#` in the "
             "workspace."),
    )  # fmt: skip
    DEFAULT_CSS = """
    BrowserScreen { background: $background; }
    BrowserScreen > .head { height: auto; max-height: 3; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", mark("Back"), priority=True, id="browser.back"),
        Binding("l,right", "unfold", mark("Scenes"), tooltip=mark("Show the scenes of the chapter."),
                id="browser.unfold"),
        Binding("h,left", "fold", mark("Fold"), show=False, tooltip=mark("Hide the scenes, or the volume."),
                id="browser.fold"),
        Binding("V", "do('versions')", mark("Versions"), tooltip=mark("Versions with differences; restore one."),
                id="browser.versions"),
        Binding("s", "split", mark("Split"), tooltip=mark("Split the chapter: a new one starts at the scene "
                                                          "under the cursor."),
                id="browser.split"),
        Binding("m", "merge", mark("Merge"), id="browser.merge",
                tooltip=mark("Append the next chapter, or scene, to this one.")),
        Binding("e", "beats", mark("Beats"), show=False, id="browser.beats",
                tooltip=mark("The outline of the scene.")),
        Binding("ctrl+z", "undo", mark("Undo"), show=False, id="browser.undo",
                tooltip=mark("Undo the last change of scenes.")),
        Binding("greater_than_sign,shift+down", "move(1)", mark("Move down"), show=False, id="browser.later"),
        Binding("less_than_sign,shift+up", "move(-1)", mark("Move up"), show=False, id="browser.earlier"),
        Binding("plus", "do('add')", mark("Add"), show=False, tooltip=mark("Add a chapter."), id="browser.add"),
        Binding("n", "rename", mark("Rename"), show=False, id="browser.rename"),
        Binding("u", "do('into_volume')", mark("Volume"), show=False, tooltip=mark("Move it to another volume."),
                id="browser.volume"),
        Binding("D,delete", "do('delete')", mark("Delete"), show=False, id="browser.delete"),
        Binding("U", "do('bring_back')", mark("Bring back"), show=False, id="browser.bring-back",
                tooltip=mark("A chapter that was deleted, with its versions.")),
        Binding("K", "do('kept')", mark("Kept"), show=False, id="browser.kept",
                tooltip=mark("The outputs you kept for the chapter: undo a keep, bring it back, purge it.")),
        Binding("shift+delete", "purge", mark("Purge"), show=False, id="browser.purge",
                tooltip=mark("Purge a chapter, deleted or not, from the file for good; cannot be undone.")),
        Binding("w", "origin", mark("Origins"), tooltip=mark("Where the lines of the chapter come from."),
                id="browser.origin"),
        HELP_KEYS,
    ]  # fmt: skip

    def __init__(
        self, name: str, language: str, controller: BrowserController, current: ChapterId | None = None
    ) -> None:
        super().__init__()
        self._book_name, self._chinese, self._controller = name, language.startswith("zh"), controller
        self._first = current
        self._seen: BookOverview | None = None
        self._columns = Columns(*COLUMNS)
        self._scenes: dict[ChapterId, tuple[ChapterScene, ...]] = {}
        self._folded: set[str] = set()

    def compose(self) -> ComposeResult:
        """Yields the progress of the book, and its parts."""
        yield Static(markup=False, classes="head")
        yield Static(key_words(_("No chapters yet. `+` adds one.")), markup=False, classes="empty")
        yield ListDetail(PickList(), DetailText())
        yield HintLine()

    def on_mount(self) -> None:
        """Starts at the open chapter and follows the background work."""
        self.query_one(PickList).focus()
        attempt(self, self.reload(), group="reload")
        self.set_interval(_LOOK, lambda: attempt(self, self.reload(), group="reload", exclusive=True))

    async def reload(self, cursor: str | None = None, *, again: bool = False) -> None:
        """Reads the book. Repaints nothing if nothing has changed, unless scenes are to be read `again` too."""
        seen = await self._controller.project.book.overview()
        if seen == self._seen and not again:
            return
        texts = (
            {status.chapter.id: status.chapter.digest for status in self._seen.chapters}
            if self._seen and not again
            else {}
        )
        for status in seen.chapters:
            if status.chapter.id in self._scenes and status.chapter.digest != texts.get(status.chapter.id):
                self._scenes[status.chapter.id] = await self._controller.project.book.scenes(status.chapter.id)
        self._seen = seen  # last: when the scenes could not be read, the next look reads them again
        self._fill(cursor)

    def _fill(self, cursor: str | None = None) -> None:
        if self._seen is None:
            return
        first, self._first = self._first, None
        self.query_one(".empty").display = not self._seen.chapters
        self.query_one(".head", Static).update(Content("\n").join(self._head(self._seen)))
        self._columns = Columns(*COLUMNS)
        rows = list(self._rows(self._seen))
        self.query_one(PickList).refill(rows, cursor or (_key(first) if first else self._nearest(rows)))

    def _nearest(self, rows: Sequence[Option]) -> str | None:
        """The row under the cursor; for a missing scene its chapter, for a missing chapter the one now in its place.

        So the next key acts near the old row.
        """
        names, ids = self.query_one(PickList), [row.id for row in rows]
        if (picked := names.picked) is None or picked in ids or not ids:
            return picked
        chapter = f"chapter/{picked.split('/')[1]}"
        return chapter if chapter in ids else ids[min(names.highlighted or 0, len(ids) - 1)]

    def _head(self, seen: BookOverview) -> Iterator[Content]:
        chapters = ngettext("{n} chapter", "{n} chapters", len(seen.chapters)).format(n=len(seen.chapters))
        length = counted(seen.length, chinese=self._chinese)
        yield head_words(one_line(self._book_name), chapters, length)
        goals = (_("the book"), seen.length, seen.goals.book), (_("today"), seen.today, seen.goals.day)
        yield from goal_rows(goals, plain=is_plain(self.app))
        if not seen.goals.day:
            yield Content(_("today {n}").format(n=f"{seen.today:+,}"))

    def _rows(self, seen: BookOverview) -> Iterator[Option]:
        for volume, group in groupby(seen.chapters, key=lambda status: status.chapter.volume):
            statuses = list(group)
            if volume:
                row = volume_row(self._columns, volume, statuses, folded=volume in self._folded)
                yield Option(row, id=f"volume/{statuses[0].chapter.id}")
            if volume in self._folded and volume:
                continue
            for status in statuses:
                chapter = status.chapter
                row = chapter_row(self._columns, status, seen.goals.chapter, unfolded=chapter.id in self._scenes)
                yield Option(row, id=_key(chapter.id))
                for scene in self._scenes.get(chapter.id, ()):
                    yield Option(scene_row(self._columns, scene), id=_key(chapter.id, scene))

    # The cursor

    @property
    def _at(self) -> tuple[str, ChapterScene | None, Chapter | None]:
        """The row under the cursor: "volume", "chapter" or "scene", the scene, and the chapter."""
        kind, _slash, rest = (self.query_one(PickList).picked or "").partition("/")
        identity, _slash, number = rest.partition("/")
        chapters = self._seen.chapters if self._seen else ()
        chapter = next((each.chapter for each in chapters if each.chapter.id == identity), None)
        scenes = self._scenes.get(chapter.id, ()) if chapter else ()
        return kind, next((scene for scene in scenes if str(scene.number) == number), None), chapter

    @on(OptionList.OptionHighlighted)
    def show_detail(self) -> None:
        """Shows the beats and the text of the scene, or the beginning of the chapter."""
        kind, scene, chapter = self._at
        detail = self.query_one(DetailText)
        if kind == "volume" or chapter is None:
            detail.show(())
        elif scene is not None:
            detail.show(scene_lines(scene, self._length(scene.text)))
        elif not chapter.version:
            detail.show(chapter_lines(chapter, "", ""))
        else:
            attempt(self, self._show_opening(chapter), group="opening", exclusive=True)

    async def _show_opening(self, chapter: Chapter) -> None:
        with suppress(FlowCabalError):  # it may be deleted by now
            text = await self._controller.project.book.chapter_text(chapter.id)
            if self.is_attached and self._at[1:] == (None, chapter):
                lines = chapter_lines(chapter, self._length(chapter.length), text[:OPENING])
                self.query_one(DetailText).show(lines)

    def _length(self, of: int | str) -> str:
        length = of if isinstance(of, int) else word_count(of)
        return counted(length, chinese=self._chinese)

    @on(OptionList.OptionSelected)
    def open_row(self, message: OptionList.OptionSelected) -> None:
        """Opens a chapter or a scene on Enter, or folds a volume."""
        message.stop()
        kind, scene, chapter = self._at
        if chapter is None:
            return
        if kind == "volume":
            self._folded ^= {chapter.volume}
            self._fill()
        elif scene is not None:
            self.dismiss(BrowserPlace(chapter.id, scene.body.start, scene.body.end))
        else:
            self.dismiss(BrowserPlace(chapter.id))

    def action_unfold(self) -> None:
        """Shows the scenes of the chapter, or the volume."""
        kind, _scene, chapter = self._at
        if chapter is not None and kind == "volume":
            self._folded.discard(chapter.volume)
            self._fill()
        elif chapter is not None and chapter.version:
            attempt(self, self._unfold(chapter.id))

    async def _unfold(self, chapter: ChapterId) -> None:
        self._scenes[chapter] = await self._controller.project.book.scenes(chapter)
        self._fill()
        names = self.query_one(PickList)
        self.call_after_refresh(names.scroll_to_highlight, top=True)

    def action_fold(self) -> None:
        """Hides the scenes; for a chapter without visible scenes, folds its volume."""
        kind, _scene, chapter = self._at
        if chapter is None:
            return
        if kind != "volume" and self._scenes.pop(chapter.id, None) is not None:
            self._fill(_key(chapter.id))
        elif chapter.volume and self._seen is not None:
            self._folded.add(chapter.volume)
            first = next(each.chapter.id for each in self._seen.chapters if each.chapter.volume == chapter.volume)
            self._fill(f"volume/{first}")

    # Changes

    def _then(self, work: Awaitable[object], cursor: str | None = None) -> None:
        """Runs an action on the book, then shows the result with the cursor on a row."""

        async def done() -> None:
            await work
            await self.reload(cursor, again=True)

        attempt(self, done(), group="change")

    def action_do(self, verb: str) -> None:
        """Carries out an action that needs only the chapter."""
        chapter = self._at[2]
        if verb == "add":
            self._then(self._controller.book.add())
        elif verb == "bring_back":
            self._then(self._controller.bring_back())
        elif verb == "kept":
            self._then(self._controller.kept(None if self._at[0] == "volume" else chapter))
        elif chapter is not None:
            work = {
                "rename": lambda: self._controller.book.rename(chapter.id),
                "into_volume": lambda: self._controller.into_volume(chapter),
                "delete": lambda: self._controller.book.delete(chapter.id),
                "versions": lambda: self._controller.versions(chapter),
            }
            self._then(work[verb]())

    def action_purge(self) -> None:
        """Purges the chapter; does nothing on a volume."""
        kind, _scene, chapter = self._at
        self._then(self._controller.maintenance.purge_chapter(None if kind == "volume" else chapter))

    def action_origin(self) -> None:
        """Shows the origin of the chapter's lines."""
        _kind, scene, chapter = self._at
        if chapter is not None:
            place = scene.body.start if scene else 0
            attempt(self, self._origin(chapter.id, place), group="change")

    async def _origin(self, chapter: ChapterId, place: int) -> None:
        if await self._controller.origin(chapter, "", place):
            self.dismiss(None)

    def action_move(self, delta: int) -> None:
        """Moves the chapter earlier or later in the story, or the scene within its chapter."""
        _kind, scene, chapter = self._at
        if chapter is not None and scene is not None:
            to = scene.number + delta
            if 1 <= to <= len(self._scenes[chapter.id]):
                command = EditScene(chapter.id, scene.number, chapter.version, to=to)
                self._then(self._controller.edit_scene(command), _key(chapter.id, scene, to))
            else:
                self.notify(_("The chapter has no scene there."), markup=False)
        elif chapter is not None:
            self._then(self._controller.book.move(chapter.id, delta))

    def action_rename(self) -> None:
        """Renames the chapter or the scene."""
        _kind, scene, chapter = self._at
        if chapter is not None and scene is not None:
            self._then(self._controller.name_scene(chapter, scene))
        else:
            self.action_do("rename")

    def action_beats(self) -> None:
        """Edits the beats of the scene."""
        _kind, scene, chapter = self._at
        if chapter is None or scene is None:
            self.notify(_("`l` shows the scenes: put the cursor on one."), markup=False)
        else:
            self._then(self._controller.write_beats(chapter, scene))

    def action_undo(self) -> None:
        """Undoes the last change of scenes."""
        self._then(self._controller.undo_scenes())

    def action_split(self) -> None:
        """Splits the chapter at the scene under the cursor."""
        kind, scene, chapter = self._at
        if chapter is None or kind == "volume":
            return
        if scene is None or scene.number == 1:
            self.notify(_("`l` shows the scenes: put the cursor on the one where the new chapter should begin."),
                        markup=False)  # fmt: skip
            return
        self._then(self._controller.split(chapter, scene.body.start))

    def action_merge(self) -> None:
        """Appends the next chapter, or scene, to this one."""
        _kind, scene, chapter = self._at
        if chapter is not None and scene is not None:
            self._merge_scene(chapter, scene)
            return
        chapters = [status.chapter for status in self._seen.chapters] if self._seen else []
        following = next((each for each in chapters if chapter and each.position == chapter.position + 1), None)
        if chapter is None or following is None:
            self.notify(_("There is no next chapter."), markup=False)
        else:
            self._then(self._controller.merge(chapter, following))

    def _merge_scene(self, chapter: Chapter, scene: ChapterScene) -> None:
        if scene.number == len(self._scenes[chapter.id]):
            self.notify(_("There is no next scene."), markup=False)
        else:
            command = EditScene(chapter.id, scene.number + 1, chapter.version, join=True)
            self._then(self._controller.edit_scene(command))


def _key(chapter: ChapterId, scene: ChapterScene | None = None, number: int = 0) -> str:
    return f"chapter/{chapter}" if scene is None else f"scene/{chapter}/{number or scene.number}"
