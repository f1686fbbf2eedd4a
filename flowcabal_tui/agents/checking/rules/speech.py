"""Separates narration from speech, paragraph by paragraph, never across one.

A quotation mark left open by mistake ends with its paragraph, so one error does not invert the rest of the text.
"""

from __future__ import annotations

import re
from typing import Final

BLANK: Final = "\0"
"""Replaces each character of speech. No text holds it: `domain.text.clean` removes it."""
_OPENING: Final = frozenset("“「『«„")
_CLOSING: Final = frozenset("”」』»")
_SINGLE: Final = re.compile(r"(?:(?<=[\s—(])|^)‘(?=\w)[^‘\n]{1,2000}?[,.!?…—]’(?=[\s—,.;)]|$)", re.MULTILINE)
"""British speech, which an apostrophe inside it does not end."""


def without_speech(text: str) -> str:
    """`text` with `BLANK` for each character inside quotation marks, and for the marks; the length stays."""
    doubles = any(mark in text for mark in '“”「」『』«»„"')
    if not doubles:
        return _SINGLE.sub(lambda found: BLANK * len(found[0]), text)
    return "\n".join(_narration(paragraph) for paragraph in text.split("\n"))


def _narration(paragraph: str) -> str:
    pieces: list[str] = []
    inside, begun = False, 0
    for place, char in enumerate(paragraph):
        is_reversed = char in _CLOSING and paragraph.endswith(("：", ":"), 0, place)  # an error for an opening mark
        if char in _OPENING or (not inside and (char == '"' or is_reversed)):
            if not inside:
                pieces.append(paragraph[begun:place])
                inside, begun = True, place
        elif char in _CLOSING or (inside and char == '"'):
            pieces.append(BLANK * (place + 1 - begun))  # a lone closing mark: the text before it is speech
            inside, begun = False, place + 1
    rest = paragraph[begun:]
    pieces.append(BLANK * len(rest) if inside else rest)
    return "".join(pieces)
