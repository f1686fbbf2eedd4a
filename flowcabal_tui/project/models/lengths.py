"""The assumed tokens of a chapter and of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.models.bounds import USUAL_OUTPUT

DRAFT_TOKENS: Final = 2_000
"""The assumed length of an output where nothing else is known."""


def usual_length(counter: TokenCounter, language: str, goal: int, written: Sequence[int]) -> int:
    """The tokens of a chapter: by its goal, else by the median of the written ones, else a default.

    `goal` and `written` are in characters for a Chinese book, in words otherwise; 0: none.
    """
    length = goal or (round(median(written)) if written else 0)
    return _tokens(counter, language, length) if length else DRAFT_TOKENS


def longest_answer(counter: TokenCounter, language: str, goal: int, written: Sequence[int]) -> int:
    """The assumed maximum of tokens of a text: twice the goal of a chapter, or the longest written one."""
    return max(USUAL_OUTPUT, 2 * _tokens(counter, language, max(goal, *written, 0)))


def _tokens(counter: TokenCounter, language: str, length: int) -> int:
    return counter.count(("\u7684" if language == "zh" else "word ") * length)
