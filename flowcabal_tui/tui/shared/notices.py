"""Notices: which one is displayed, which are queued, for how long, and the list of all of them."""

from __future__ import annotations

from collections import deque
from datetime import datetime
from typing import Final

from textual.message import Message
from textual.notifications import SeverityLevel

from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _, sentences
from flowcabal_tui.tui.widgets.cells import cell_width
from flowcabal_tui.tui.widgets.prose_wrap import wrap_parts

LISTED: Final = 200
WAITING: Final = 20
NOTICE_SECONDS: Final = 3.0
WARNED_SECONDS: Final = 8.0
_SECONDS_TO_NOTICE: Final = 1.0
_CELLS_A_SECOND: Final = 20
"""A slow reader: about 200 English words, or 600 Chinese characters, a minute."""
_COMMAND: Final = late(r"`[^`\n]{1,72}`")
_SENTENCE_END: Final = late(r"(?<=[。！？])(?=\S)|(?<=[.!?] )(?=\S)")
_WHOLE: Final = str.maketrans(" -", "\ue000\ue001")
"""Replaces characters at which a row could end. Notices contain no characters for private use."""
_DIVIDED: Final = str.maketrans("\ue000\ue001", " -")


@dataclass(frozen=True, slots=True)
class Notice:
    """One message to the user; `words` and `title` are free of control characters."""

    words: str
    title: str
    severity: SeverityLevel
    at: datetime

    @property
    def line(self) -> str:
        """The notice on one line; a warning is recognisable without colours."""
        sign = "" if self.severity == "information" else "! "
        is_heading = self.title and self.title[-1] not in ".!?。！？"
        kind = _("{kind}: {words}").format(kind=self.title, words="") if is_heading else self.title
        return sign + sentences(*kind.split(), *self.words.split())


@dataclass
class GoesOn(Message):
    """Reports the current work of `source`; empty `words`: it has ended. For the app."""

    source: str
    words: str


@dataclass
class NoticeOver(Message):
    """The notice with these words no longer applies. For the app."""

    words: str


def reading_seconds(words: str) -> float:
    """The seconds needed to read a row."""
    return _SECONDS_TO_NOTICE + cell_width(words) / _CELLS_A_SECOND


def _wrapped(line: str, width: int) -> list[str]:
    """The rows of a line; a sentence, and a command in backticks, is divided only if it does not fit a row."""
    sentences_of_line = _SENTENCE_END.split(_COMMAND.sub(lambda found: found[0].translate(_WHOLE), line))
    return [row.strip().translate(_DIVIDED) for row in wrap_parts(sentences_of_line, width)]


class Notices:
    """One notice in view, cut into rows; the next ones wait; `listed` holds the last `LISTED`, oldest first.

    `hold` sets a text about running work that is displayed while there is no notice.
    """

    def __init__(self) -> None:
        self.listed: deque[Notice] = deque(maxlen=LISTED)
        self._waiting: deque[Notice] = deque(maxlen=WAITING)
        self._running_work: dict[str, str] = {}
        self.shown: Notice | None = None
        """The displayed notice."""
        self._rows: list[str] = []

    @property
    def row(self) -> str:
        """The displayed row: of the notice, else of the running work held last, else empty."""
        return self._rows[0] if self._rows else next(reversed(self._running_work.values()), "")

    @property
    def left(self) -> int:
        """The number of rows and notices after the displayed row."""
        return max(0, len(self._rows) - 1) + len(self._waiting)

    @property
    def seconds(self) -> tuple[float, float]:
        """The minimum seconds for the displayed row when another one is waiting, and its normal seconds."""
        least = reading_seconds(self.row)
        usual = NOTICE_SECONDS if self.shown is None or self.shown.severity == "information" else WARNED_SECONDS
        return least, max(least, usual)

    def say(self, notice: Notice) -> None:
        """Adds a notice to the list; queues it unless the same words are displayed or queued already."""
        self.listed.append(notice)
        known = (self.shown, *self._waiting)
        if all(other is None or other.line != notice.line for other in known):
            self._waiting.append(notice)

    def advance(self, width: int) -> None:
        """Moves to the next row of at most `width` cells, or to none."""
        self._rows = self._rows[1:]
        if not self._rows:
            self.shown = self._waiting.popleft() if self._waiting else None
            self._rows = _wrapped(self.shown.line, width) if self.shown else []

    def fit(self, width: int) -> None:
        """Wraps the rest of the displayed notice for another width."""
        self._rows = _wrapped(sentences(*self._rows), width) if self._rows else []

    def withdraw(self, words: str) -> None:
        """Hides a notice that no longer applies; it stays in the list."""
        self._waiting = deque((each for each in self._waiting if each.words != words), maxlen=WAITING)
        if self.shown is not None and self.shown.words == words:
            self._rows = self._rows[:1]

    def hold(self, source: str, words: str) -> None:
        """Sets the words of `source` about running work; empty words remove them."""
        self._running_work.pop(source, None)
        if words:
            self._running_work[source] = words
