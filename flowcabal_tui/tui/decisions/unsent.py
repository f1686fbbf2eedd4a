"""Text that was typed into decisions and not sent; it survives the screen, and a crash."""

from __future__ import annotations

from collections.abc import Iterable

from flowcabal_tui.domain.ids import QuestionId
from flowcabal_tui.domain.run import Question
from flowcabal_tui.tui.shared.drafts import DraftTexts

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
