"""What of a prompt says what it is about: not the fixed words of a template, which are the same for every chapter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from typing import Final

from flowcabal_tui.domain.workflow import Block, TextBlock

_FILLED_IN: Final = re.compile(r"\{\{(?:(?!\{\{|\}\}).)*\}\}", re.DOTALL)
_SENTENCE: Final = re.compile(r"[^\n.。!！?？:：]+")


def sentences(blocks: Iterable[Block]) -> Iterator[str]:
    """The sentences that stand in text blocks themselves, in order; what is filled in is none."""
    for block in blocks:
        for literal in _FILLED_IN.split(block.text) if isinstance(block, TextBlock) else ():
            yield from filter(None, (match[0].strip() for match in _SENTENCE.finditer(literal)))


def own_words(blocks: Iterable[Block], prompt: str, fixed: Set[str]) -> str:
    """`prompt`, which was made from `blocks`, without those of their sentences that are `fixed`.

    What is filled in stays, and so does a sentence that the writer has changed.
    """
    kept, at = "", 0
    for sentence in sentences(blocks):
        if (start := prompt.find(sentence, at)) < 0:
            continue
        end = start + len(sentence)
        kept += prompt[at:start] + "\n" if sentence in fixed else prompt[at:end]
        at = end
    return kept + prompt[at:]
