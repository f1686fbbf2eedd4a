"""Text typed into decisions: it survives the screen, and a crash, until it is sent or deliberately abandoned."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import QuestionId
from flowcabal_tui.domain.run import Question
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _
from flowcabal_tui.tui.decisions.attempts import Attempts
from flowcabal_tui.tui.shared.drafts import DraftTexts
from flowcabal_tui.tui.shared.editor import edit_outside, editor_command
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.prose_area import ProseArea

Place = tuple[QuestionId, int]
"""A question and the attempt that was edited; 0 where there are no attempts."""


class Unsent:
    """The unsent texts by place; without `drafts` they live only as long as this object."""

    def __init__(self, drafts: DraftTexts | None = None) -> None:
        self._drafts = drafts
        self._texts: dict[Place, str] = {}
        self._changed: set[Place] = set()

    async def load(self, questions: Iterable[Question]) -> None:
        """Reads the stored texts for these questions."""
        for place in [(question.id, number) for question in questions for number in question.attempts or (0,)]:
            if self._drafts is not None and place not in self._texts:
                text = await self._drafts.draft(_key(place))
                self._texts |= {} if text is None else {place: text}

    def remember(self, place: Place, text: str, before: str) -> None:
        """Stores `text`, unless it equals the text `before`."""
        if text == before:
            self._drop(place)
        elif self._texts.get(place) != text:
            self._texts[place] = text
            self._changed.add(place)

    def forget(self, question: QuestionId) -> None:
        """Deletes the texts of an answered question."""
        for place in [known for known in self._texts if known[0] == question]:
            self._drop(place)

    def _drop(self, place: Place) -> None:
        if self._texts.pop(place, None) is not None:
            self._changed.add(place)

    async def save(self) -> None:
        """Stores the changed texts."""
        while self._changed and self._drafts is not None:
            place = self._changed.pop()
            await self._drafts.put_draft(_key(place), self._texts.get(place))

    def text(self, place: Place, otherwise: str) -> str:
        """The text that was typed there, or `otherwise`."""
        return self._texts.get(place, otherwise)

    def has(self, place: Place) -> bool:
        """True when text was typed for this place."""
        return place in self._texts

    def waits(self, question: QuestionId) -> bool:
        """True when text was typed for this question."""
        return any(known == question for known, _number in self._texts)


def _key(place: Place) -> str:
    return f"decision/{place[0]}/{place[1]}"


class TypedAnswer:
    """The text in the editor `#editor` of a decision's screen."""

    def __init__(
        self,
        screen: Screen[Any],
        attempts: Attempts,
        question: Callable[[], Question | None],
        changed: Callable[[], None],
        unsent: Unsent | None,
        editor: str,
    ) -> None:
        """`question` returns the displayed question; `changed` is called when a text was stored.

        `editor` is the command of the writer's own editor.
        """
        self._screen, self._attempts, self._question, self._changed = screen, attempts, question, changed
        self.unsent, self._editor = unsent or Unsent(), editor

    @property
    def _area(self) -> ProseArea:
        return self._screen.query_one("#editor", ProseArea)

    @property
    def place(self) -> Place | None:
        """The question and attempt of the text in the editor."""
        question, shown = self._question(), self._attempts.shown
        return (question.id, shown.number if shown else 0) if question is not None else None

    @property
    def waits(self) -> bool:
        """True when an edited text of the displayed attempt is unsent."""
        return (place := self.place) is not None and self.unsent.has(place)

    def load(self, text: str) -> None:
        """Loads the text typed before into the editor, or `text`."""
        if (place := self.place) is not None:
            self._area.load_text(self.unsent.text(place, text))

    def remember(self) -> None:
        """Stores the text of the editor."""
        question, shown, place = self._question(), self._attempts.shown, self.place
        if question is not None and place is not None and self._area.display:
            before = shown.text if shown else clean(question.proposal)
            self.unsent.remember(place, self._area.text, before)
            self._changed()

    def go_past(self, go: Callable[[], object]) -> None:
        """Calls `go` at once, or, if text would be abandoned, after the writer agrees."""
        question = self._question()
        if question is None or not self.unsent.waits(question.id):
            go()
            return

        def answered(leave: bool | None) -> None:
            if leave and self._question() == question:
                go()

        words = _("You edited a text here and have not submitted it. `e` shows it, F2 submits it.")
        self._screen.app.push_screen(ConfirmScreen(_("Continue without your edited text?"), words), answered)

    async def edit_outside(self) -> None:
        """Opens the text in the writer's own editor; the result is kept if the same text is still displayed."""
        question, place = self._question(), self.place
        title = question.node_title or question.node if question else ""
        command = editor_command(self._editor)
        edited = await edit_outside(self._screen.app, self._area.text, title, command)
        if edited is not None and place is not None and self.place == place:
            self._area.load_text(edited)
            self.remember()
