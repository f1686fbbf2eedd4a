"""A decision in which the writer edits: the words stay until they are handed in or left behind knowingly."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.widgets import ContentSwitcher

from flowcabal_tui.domain.run import Attempt, Question
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.tui.decisions.findings_screen import FindingsScreen
from flowcabal_tui.tui.decisions.unsent import Place, Unsent
from flowcabal_tui.tui.shared.editor import edit_outside, editor_command
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prose_area import ProseArea


class TypingScreen(FindingsScreen):
    """Holds a ProseArea with the id `editor` in a ContentSwitcher; which attempt it edits is told by who derives."""

    def __init__(self, unsent: Unsent, editor: str) -> None:
        super().__init__()
        self.unsent, self._editor = unsent, editor

    @property
    def question(self) -> Question | None:
        """The question that is shown."""
        raise NotImplementedError

    def shown_attempt(self) -> Attempt | None:
        """The attempt that is shown, if the question has any."""
        raise NotImplementedError

    def refresh_attempt(self) -> None:
        """Tell anew which attempt is shown, and whether its edited text waits."""
        raise NotImplementedError

    def action_edit(self) -> None:
        """Edit the attempt, or write the answer."""
        raise NotImplementedError

    @property
    def editor_area(self) -> ProseArea:
        """Where the writer types."""
        return self.query_one("#editor", ProseArea)

    @property
    def face(self) -> str | None:
        """The id of what is shown below the attempt's line."""
        return self.query_one(ContentSwitcher).current

    def place(self) -> Place | None:
        """Whose text the editor would hold."""
        shown = self.shown_attempt()
        return (self.question.id, shown.number if shown else 0) if self.question is not None else None

    def remember(self) -> None:
        """Hold what stands in the editor."""
        question, shown, place = self.question, self.shown_attempt(), self.place()
        if question is not None and place is not None and self.face == "editor":
            self.unsent.remember(place, self.editor_area.text, shown.text if shown else clean(question.proposal))
            self.refresh_attempt()

    @on(ProseArea.Edited, "#editor")
    def write_down(self) -> None:
        """The writer pauses: what was typed is safe from a crash."""
        self.remember()
        attempt(self, self.unsent.save(), group="unsent")

    def past_unsent(self, go: Callable[[], object]) -> None:
        """Go on at once, or, where a text would be left behind, when the writer says so."""
        asked = self.question
        if asked is None or not self.unsent.waits(asked.id):
            go()
            return

        def answered(leave: bool | None) -> None:
            if leave and self.question == asked:
                go()

        words = _("You edited a text here and have not handed it in. `e` shows it, F2 hands it in.")
        self.app.push_screen(ConfirmScreen(_("Go on without your edited text?"), words), answered)

    def action_editor(self) -> None:
        """Edit in the writer's own editor."""
        self.action_edit()
        if self.face == "editor" and self.editor_area.has_focus:
            attempt(self, self._edit_outside(), exclusive=True)

    async def _edit_outside(self) -> None:
        question, place = self.question, self.place()
        title = question.node_title or question.node if question else ""
        edited = await edit_outside(self.app, self.editor_area.text, title, editor_command(self._editor))
        if edited is not None and place is not None and self.place() == place:
            self.editor_area.load_text(edited)
            self.remember()
