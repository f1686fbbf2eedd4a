"""The window of a model: how much of it a prompt may have, and what an answer needs. All in tokens."""

from __future__ import annotations

from typing import Final

ANSWER: Final = 4_096
"""Kept free for an answer where the settings name no limit."""
OWN_WORDS: Final = 4_096
"""Kept free for the writer's own prompt with upstream outputs."""
LEAST_CONTEXT: Final = 2_000
"""A smaller context is said before a run: the memory of the book hardly takes part."""
_ANSWER_SHARE: Final = 4
_OWN_SHARE: Final = 8


def answer_room(window: int, max_output: int | None) -> int:
    """What is kept free for the answer: what it may have, at most a quarter of the window."""
    return min(max_output or ANSWER, window // _ANSWER_SHARE)


def prompt_room(window: int, max_output: int | None) -> int:
    """What is left for everything that is sent."""
    return window - answer_room(window, max_output)


def context_room(window: int, max_output: int | None) -> int:
    """What is left for the context beside a prompt of usual length."""
    return prompt_room(window, max_output) - min(OWN_WORDS, window // _OWN_SHARE)
