"""The base of all screens of names and records: they read a cast, change it, and refresh."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from textual import on
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, OptionList

from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.story import RecordId, StoryRecord
from flowcabal_tui.locale import _, mark
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.views import OpenedSource
from flowcabal_tui.protocol.story import PutRecord, RemoveRecord
from flowcabal_tui.tui.shared.form import FormScreen
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.source import SourceScreen
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.story.cast import Cast, read_cast
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.help import HELP_KEYS
from flowcabal_tui.tui.widgets.typed_screen import TypedScreen

T = TypeVar("T")
RELOAD_SECONDS = 1.0
"""While an agent works on the book it changes many times a second; once a second it is shown."""


@dataclass(frozen=True, slots=True)
class StoryPlace:
    """A place to go to: these characters of a chapter, to read or to `edit` them."""

    chapter: ChapterId
    start: int
    end: int
    edit: bool = False


class StoryPage(ModalScreen[StoryPlace | None]):
    """A screen over the workspace; returns the place to go to, or None. `read` reads what it shows."""

    DEFAULT_CSS = "StoryPage { background: $background; }"
    read = staticmethod(read_cast)

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", mark("Back"), priority=True, id="story.back"),
        HELP_KEYS,
    ]

    def __init__(self, project: Project) -> None:
        super().__init__()
        self.project = project
        self.cast: Cast | None = None
        self._reload_timer: Timer | None = None

    def on_mount(self) -> None:
        """Reads the cast after the first frame. Textual calls this in addition to the method of a subclass."""
        self.work(self.reload())

    def work(self, work: Coroutine[Any, Any, object], *, exclusive: bool = False) -> None:
        """Starts work that may fail and shows its errors."""
        attempt(self, work, group="exclusive" if exclusive else "default", exclusive=exclusive)

    async def reload(self) -> None:
        """Reads the cast and shows it."""
        self.cast = await self.read(self.project)
        if self.is_attached:
            await self.show_cast(self.cast)

    async def show_cast(self, cast: Cast) -> None:
        """Fills the screen; the cursor stays where it is."""
        raise NotImplementedError

    def note_check(self, done: int, total: int) -> None:
        """Shows the progress of a check, in chapters."""

    def book_moved(self) -> None:
        """Refreshes the screen soon after a change of the book."""
        if self._reload_timer is None:
            self._reload_timer = self.set_timer(RELOAD_SECONDS, self._reload_now)

    def _reload_now(self) -> None:
        self._reload_timer = None
        self.work(self.reload(), exclusive=True)

    async def ask(self, form: TypedScreen[T]) -> T | None:
        """Shows a form and returns the writer's answer."""
        answer: T | None = await self.app.push_screen_wait(form)
        return answer

    async def put(self, form: FormScreen[Any]) -> RecordId | None:
        """Asks for a record and writes it; returns its id, or None when the form was left."""
        record: StoryRecord | None = await self.ask(form)
        return None if record is None else await self.write(record)

    async def write(self, record: StoryRecord) -> RecordId:
        """Writes a record and refreshes the screen."""
        written = RecordId(await self.project.carry_out(PutRecord(record)))
        await self.reload()
        return written

    async def strike(self, record: StoryRecord, words: str) -> None:
        """Removes a record after a question."""
        message = _("Agents do not bring it back. If a record is merely no longer true, end it instead of removing it.")
        if await self.confirm(_("Remove this?") + f" {words}", message):
            await self.project.carry_out(RemoveRecord(record.id))
            await self.reload()

    async def confirm(self, title: str, words: str) -> bool:
        """Asks a question with yes and no."""
        answer: bool = await self.app.push_screen_wait(ConfirmScreen(title, words))
        return answer

    async def source_of(self, evidence: Evidence) -> OpenedSource:
        """The chapter of the evidence, at its place."""
        return await self.project.memory.source(f"manuscript/{evidence.chapter}", evidence.start, evidence.end)

    async def open_evidence(self, evidence: tuple[Evidence, ...]) -> None:
        """Shows the chapter at the supporting words."""
        if not evidence:
            self.notify(_("No supporting text is given for this."), markup=False)
        else:
            self.app.push_screen(SourceScreen(await self.source_of(evidence[0])))

    def action_leave(self) -> None:
        """Returns to the workspace."""
        self.dismiss(None)


class FilteredPage(StoryPage):
    """A page whose list follows the words of its Input; the list is a PickList with the id `list`."""

    DEFAULT_CSS = """
    FilteredPage > Input, FilteredPage > Input:focus { height: 1; border: none; padding: 0 1; background: $boost; }
    """

    def on_mount(self) -> None:
        """Focuses the list."""
        self.listing.focus()

    @property
    def listing(self) -> PickList:
        """The list of matching rows."""
        return self.query_one("#list", PickList)

    def refill(self) -> None:
        """Shows the rows that match the words."""
        raise NotImplementedError

    def show_details(self) -> None:
        """Shows the entry under the cursor."""
        raise NotImplementedError

    @on(OptionList.OptionHighlighted, "#list")
    def follow_cursor(self, message: OptionList.OptionHighlighted) -> None:
        """Shows another entry."""
        message.stop()
        self.show_details()

    @on(Input.Changed)
    def narrow(self, message: Input.Changed) -> None:
        """Updates the list while the user types."""
        message.stop()
        self.refill()

    @on(Input.Submitted)
    def go_to_list(self, message: Input.Submitted) -> None:
        """Enter moves to the list."""
        message.stop()
        self.listing.focus()

    def action_filter(self) -> None:
        """Focuses the filter line."""
        self.query_one(Input).focus()

    def action_leave(self) -> None:
        """Leaves the filter line, clears the filter, or closes the page, in this order."""
        line = self.query_one(Input)
        if line.value:
            line.value = ""
        elif not line.has_focus:
            self.dismiss(None)
        self.listing.focus()
