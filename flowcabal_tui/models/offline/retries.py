"""A retry in the messages of a request: the draft as the model's own turn, then what was wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from flowcabal_tui.domain.model_calls import Message, ModelRequest

_FEEDBACK: Final = re.compile(r"<feedback label=\"[^\"]*\">\n(.*?)\n</feedback>", re.DOTALL)
_LISTED: Final = re.compile(r"^(\d+)\. “", re.MULTILINE)
_MENDS: Final = '<paragraph n="'
_LINE: Final = re.compile(r"^[^\n]*\S[^\n]*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Told:
    """`request` holds the feedback in the writer's turn; `numbers` are the paragraphs of the draft that may change."""

    request: ModelRequest
    draft: str = ""
    numbers: tuple[int, ...] = ()


def told(request: ModelRequest) -> Told:
    """A request without the turns of a retry, and what they say."""
    messages = request.messages
    if not is_retry(request) or (found := _FEEDBACK.match(messages[-1].content)) is None:
        return Told(request)
    *before, asked, draft, order = messages
    words = order.content[found.end() :]
    numbers = tuple(int(n) for n in _LISTED.findall(words)) if _MENDS in words else ()
    asked = Message(asked.role, f"{asked.content}\n\n<feedback>\n{found[1]}\n</feedback>")
    return Told(replace(request, messages=(*before, asked)), draft.content, numbers)


def is_retry(request: ModelRequest) -> bool:
    """Does the last turn say what was wrong with the turn of the model before it?"""
    messages = request.messages
    return len(messages) > 2 and messages[-2].role == "assistant" and messages[-1].content.startswith("<feedback ")


def changed(before: str, after: str, numbers: tuple[int, ...]) -> str:
    """The paragraphs that differ, in the form that was asked for; "" when others differ, or none."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    differ = [n for n, (one, other) in enumerate(zip(old, new, strict=False), 1) if one != other]
    if len(old) != len(new) or not differ or not set(differ) <= set(numbers):
        return ""
    return "\n".join(f'{_MENDS}{n}">\n{new[n - 1].strip()}\n</paragraph>' for n in differ)
