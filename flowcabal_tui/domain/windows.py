"""The window of a model, divided between prompt and answer. All in tokens."""

from __future__ import annotations

from typing import Final

ANSWER: Final = 4_096
"""Reserved for an answer where the settings set no limit."""
OWN_WORDS: Final = 4_096
"""Reserved for the writer's own prompt with upstream outputs."""
LEAST_CONTEXT: Final = 2_000
"""A smaller context causes a warning before a run: it leaves almost no space for the memory of the book."""
_ANSWER_SHARE: Final = 4
_OWN_SHARE: Final = 8


def answer_room(window: int, max_output: int | None) -> int:
    """The tokens reserved for the answer: its limit, at most a quarter of the window."""
    return min(max_output or ANSWER, window // _ANSWER_SHARE)


def prompt_room(window: int, max_output: int | None) -> int:
    """The tokens left for all that is sent."""
    return window - answer_room(window, max_output)


def context_room(window: int, max_output: int | None) -> int:
    """The tokens left for the context beside a prompt of usual length."""
    return prompt_room(window, max_output) - min(OWN_WORDS, window // _OWN_SHARE)
