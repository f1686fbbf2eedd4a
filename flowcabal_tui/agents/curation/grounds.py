"""Tests whether a quotation supports a statement of a model: by its length, its names, and a word in common."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Final, Literal

from flowcabal_tui.agents.context.intent import search_terms
from flowcabal_tui.agents.context.unknown_names import EMPTY_HAN
from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.agents.sentences import sentences
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.text import han_count, line_around

LEAST_WORDS: Final = 4
LEAST_HAN: Final = 8
_WORD: Final = re.compile(r"[^\W\d_\u3007\u4e00-\u9fff]+(?:['’-][^\W\d_]+)*")
_HAN: Final = re.compile(r"[\u3007\u4e00-\u9fff]")
_STOPPED: Final = re.compile(r"[。！？!?….][”’」』》）)\"']*$")
_STEM: Final = 5
"""Letters that two words must share to be equal: carries and carried."""
_LEAST_CHARACTERS: Final = 2
"""Single Chinese characters in common that count as a common word, where no pair of characters is shared."""
_LEAST_SHARED: Final = 2
"""Words (or all, if it has fewer) that a line without a name must share with the text that it sums up."""


class Grounds:
    """Judges quotations of one text by the names of all entities."""

    def __init__(self, text: str, entities: Iterable[Entity], language: str) -> None:
        self._text, self._language = text, language
        known = tuple(entities)
        self._index = NameIndex(known)
        self._forms = {entity.id: entity.names for entity in known}

    def lack(
        self, span: Span, words: str, about: Collection[EntityId], *, all_named: bool
    ) -> Literal["short", "unnamed", "unrelated"] | None:
        """The reason why the quotation at `span` does not support `words` about these; None if it does. A record about
        nobody needs no name.

        `all_named` is for a relation: both its ends must be named near, and a name in the quotation itself is a word in
        common.
        """
        quote = self._text[span.start : span.end]
        if self.is_short(span):
            return "short"
        present = self._named_near(span)
        if about and not (present.issuperset(about) if all_named else present & {*about}):
            return "unnamed"
        names = [form for each in about for form in self._forms.get(each, ())]
        if (all_named and any(name in quote for name in names)) or self._shares_a_word(words, quote, names):
            return None
        return "unrelated"

    def is_short(self, span: Span) -> bool:
        """True for a quotation that is too short to support any record: under four words or eight Chinese characters,
        but for a whole sentence that names somebody or something of the book."""
        quote = self._text[span.start : span.end]
        if len(_WORD.findall(quote)) >= LEAST_WORDS or han_count(quote) >= LEAST_HAN:
            return False
        return not (self._is_whole(span) and self._index.find(quote))

    def _is_whole(self, span: Span) -> bool:
        """True when only marks of the sentences at both ends of the quotation are outside it, and a stop ends them."""
        within = [each for each in self._sentences if each.start < span.end and span.start < each.end]
        if not within or not _STOPPED.search(self._text, within[0].start, within[-1].end):
            return False
        around = self._text[within[0].start : span.start] + self._text[span.end : within[-1].end]
        return not any(map(str.isalnum, around))

    @cached_property
    def _sentences(self) -> tuple[Span, ...]:
        return sentences(self._text)

    def _named_near(self, span: Span) -> frozenset[EntityId]:
        """The entities named in the paragraphs of the quotation."""
        paragraphs = self._text[slice(*line_around(self._text, span.start, span.end))]
        return frozenset(hit.entity for hit in self._index.find(paragraphs))

    def _shares_a_word(self, words: str, quote: str, names: Sequence[str]) -> bool:
        if not self._language.startswith("zh"):
            stems = {term.lower()[:_STEM] for term in search_terms(words, names, self._language)}
            return not stems or any(word.lower()[:_STEM] in stems for word in _WORD.findall(quote))
        terms = search_terms(words, names, self._language)
        for name in names:
            words = words.replace(name, "")
        single = set(_HAN.findall(words)) - EMPTY_HAN
        shared = single & set(quote)
        return not single or any(term in quote for term in terms) or len(shared) >= min(_LEAST_CHARACTERS, len(single))


def sums_up(line: str, text: str, names: Collection[str], language: str) -> bool:
    """True when a line contains one of the names or shares words with `text`."""
    if any(name in line for name in names):
        return True
    terms = search_terms(line, (), language)
    if language.startswith("zh"):
        shared = sum(term in text for term in terms)
    else:
        stems = {word.lower()[:_STEM] for word in _WORD.findall(text)}
        shared = sum(term.lower()[:_STEM] in stems for term in terms)
    return shared >= max(1, min(_LEAST_SHARED, len(terms)))
