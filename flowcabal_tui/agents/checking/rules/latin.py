"""Rule: words in Latin letters inside Chinese text that the book has not used before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.domain.text import han_count
from flowcabal_tui.locale import _

_MOST: Final = 3
_MOSTLY: Final = 10
"""A text with fewer Chinese characters for each such word does not count as Chinese."""
_WORDS: Final = re.compile(r"(?<![A-Za-z0-9@./_-])[A-Za-z][a-z]+(?:[ '’-][A-Za-z]+)*")
_LEAST: Final = 3
_ADDRESSES: Final = frozenset("0123456789@/_.")


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per word, at its first place. Abbreviations in capitals and names of the book are ignored."""
    known = {name.lower() for entity in book.entities for name in entity.names}
    found = {
        match[0].lower(): match
        for match in reversed(list(_WORDS.finditer(draft.text)))
        if len(match[0]) >= _LEAST and draft.text[match.end() : match.end() + 1] not in _ADDRESSES
    }
    if han_count(draft.text) < _MOSTLY * len(found):
        return
    new = [match for word, match in found.items() if word not in known and not book.chapters_with(match[0], 0)]
    for match in sorted(new, key=re.Match.start)[:_MOST]:
        message = _("“{words}” is in Latin letters, and occurs nowhere earlier in the book.").format(words=match[0])
        yield RuleFinding("style shift", message, draft.quoted(match.start(), match.end()))
