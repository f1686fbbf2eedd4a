"""Removes thoughts that a server leaves in the text."""

from __future__ import annotations

from typing import Final, Literal

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


class InlineThoughts:
    """Separates `<think>...</think>` at the very beginning of a streamed answer from its text.

    Local servers without a parser for the model's thinking leave it there. In other places the words are not changed.
    """

    def __init__(self) -> None:
        self._held = ""
        self._part: Literal["before", "thinking", "gap", "text"] = "before"

    def feed(self, piece: str) -> tuple[str, str]:
        """The (text, thinking) that is certain after `piece`."""
        thought = ""
        if self._part == "before":
            piece = self._begin(piece)
        if self._part == "thinking":
            thought, closed, rest = (self._held + piece).partition(_CLOSE)
            if not closed:
                return "", self._without_tail(thought)
            self._part, piece = "gap", rest
        if self._part == "gap" and (piece := piece.lstrip("\n")):
            self._part = "text"
        return piece, thought

    def _begin(self, piece: str) -> str:
        """Decides whether the answer begins with thoughts. Returns the text that is left to read."""
        piece, self._held = self._held + piece, ""
        begun = piece.lstrip()
        if begun.startswith(_OPEN):
            self._part = "thinking"
            return begun.removeprefix(_OPEN)
        if _OPEN.startswith(begun):  # too little to tell; also "" before the first letter
            self._held = piece
            return ""
        self._part = "text"
        return piece

    def _without_tail(self, thought: str) -> str:
        """Holds back a possible beginning of the closing mark."""
        size = next((size for size in range(len(_CLOSE) - 1, 0, -1) if thought.endswith(_CLOSE[:size])), 0)
        self._held = thought[len(thought) - size :]
        return thought[: len(thought) - size]
