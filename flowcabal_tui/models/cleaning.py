"""`clean` for text that arrives in pieces."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.text import clean

PENDING_LIMIT: Final = 1024
_UNFINISHED: Final = late(
    r"(?:\x1b\][^\x07\x1b\x9c]*\x1b?"
    r"|\x1b[PX^_][^\x1b\x9c]*\x1b?"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*"
    r"|\x1b[ -/]*"
    r"|[\r\ud800-\udbff])\Z"
)
_SUSPICIOUS: Final = late("[\x1b\x9b\r\ud800-\udfff]")
_SURROGATE: Final = late("[\ud800-\udfff]")


def whole_characters(text: str) -> str:
    """Joins surrogate pairs that JSON escapes left apart; a lone half becomes U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean_whole(text: str) -> str:
    """`clean` for text with surrogate pairs that may be apart."""
    return clean(whole_characters(text))


class StreamCleaner:
    """Cleans pieces so that their sum is the cleaned whole.

    An escape sequence, a line end or a surrogate pair that is cut between two pieces is held back; an escape sequence
    that does not end within PENDING_LIMIT characters is released as plain text, without its escape.
    """

    def __init__(self) -> None:
        self._pending = ""

    def feed(self, piece: str) -> str:
        """The clean text that is certain after `piece`."""
        if not self._pending and not _SUSPICIOUS.search(piece):
            return clean(piece)
        text = self._pending + piece
        unfinished = _UNFINISHED.search(text)
        cut = unfinished.start() if unfinished and len(text) - unfinished.start() <= PENDING_LIMIT else len(text)
        self._pending = text[cut:]
        return clean_whole(text[:cut])

    def end(self) -> str:
        """The text that was held back."""
        text, self._pending = self._pending, ""
        return clean_whole(text)
