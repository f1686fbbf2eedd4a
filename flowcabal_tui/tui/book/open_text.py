"""The text of the open chapter: the saved text, the unsaved one, and the version on which that is based."""

from __future__ import annotations

from collections.abc import Sequence

from flowcabal_tui.domain.manuscript import Chapter, ChapterVersion, Draft
from flowcabal_tui.domain.text import clean


class OpenText:
    """One chapter. `typed` is the unsaved text, None if there is none.

    `base` is the version on which the unsaved text is based, None if unknown; without unsaved text it is the newest
    version.
    """

    def __init__(self, chapter: Chapter, saved: str, versions: Sequence[ChapterVersion], draft: Draft | None) -> None:
        self.chapter, self.versions = chapter, tuple(versions)
        self.saved = clean(saved)
        self.typed: str | None = None
        self.base: int | None = chapter.version
        self._posted: str | None = None
        self.is_locked = False
        if draft is not None and clean(draft.text) != self.saved:
            self.typed, self.base = clean(draft.text), draft.base

    @property
    def text(self) -> str:
        """The unsaved text, or the saved one."""
        return self.saved if self.typed is None else self.typed

    @property
    def is_unsaved(self) -> bool:
        """True when there is unsaved text."""
        return self.typed is not None

    @property
    def is_outdated(self) -> bool:
        """True when the unsaved text is based on another version than the newest, or on an unknown one."""
        return self.is_unsaved and self.base != self.chapter.version

    def type(self, text: str) -> None:
        """Sets the unsaved text; a text equal to the saved one clears it."""
        self.typed = None if text == self.saved else text
        if self.typed is None:
            self.base = self.chapter.version

    def post(self) -> str:
        """The text to save now."""
        self._posted = self.text
        return self._posted

    def refresh(self, chapter: Chapter, saved: str, versions: Sequence[ChapterVersion]) -> None:
        """Takes the newest state of the chapter; unsaved text stays.

        After a save of this text, text typed since builds on it.
        """
        saved = clean(saved)
        is_same = saved == self.saved and self.base == self.chapter.version
        if saved == self._posted:
            self._posted, is_same = None, True
        self.chapter, self.saved, self.versions = chapter, saved, tuple(versions)
        if is_same or not self.is_unsaved:
            self.base = chapter.version
        self.type(self.text)
