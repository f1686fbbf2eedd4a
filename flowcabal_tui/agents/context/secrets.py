"""Finds sentences of a plan that reveal a secret in other words than the book's, since the outline does not quote
chapters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.context.candidates import HIDDEN
from flowcabal_tui.agents.context.intent import search_terms
from flowcabal_tui.domain.memory import Entity
from flowcabal_tui.domain.story import Fact

_SENTENCE: Final = re.compile(r"[^\n。！？!?；;]+[。！？!?；;]?")
_MOST_OF: Final = 2 / 3
_LEAST_ALONE: Final = 2
"""So many words of a secret tell it where none of those whom it is about is named."""


@dataclass(frozen=True, slots=True)
class Secret:
    """The words of a secret, without names, and the names of the people it concerns."""

    terms: frozenset[str]
    names: tuple[str, ...]

    def is_told_by(self, sentence: str) -> bool:
        """True when a sentence contains most of the words and a name, or all of the words."""
        said = sentence.casefold()
        found = sum(term.casefold() in said for term in self.terms)
        if found < len(self.terms) * _MOST_OF or not found:
            return False
        return any(name in sentence for name in self.names) or (found == len(self.terms) >= _LEAST_ALONE)


def secrets_of(facts: Iterable[Fact], entities: Sequence[Entity], language: str) -> tuple[Secret, ...]:
    """The secrets of the facts: the words of each fact, and of each sentence that it rests on."""
    names = [name for entity in entities for name in entity.names]
    of = {entity.id: entity.names for entity in entities}
    found = []
    for fact in facts:
        about = tuple(name for entity in fact.about for name in of.get(entity, ()))
        for words in (fact.text, *(each.sentence for each in fact.evidence)):
            if terms := frozenset(search_terms(words, names, language)):
                found.append(Secret(terms, about))
    return tuple(found)


def without_secrets(text: str, secrets: Sequence[Secret]) -> str:
    """The text with every character of a sentence that reveals a secret replaced by the mark."""

    def sentence(match: re.Match[str]) -> str:
        told = any(secret.is_told_by(match[0]) for secret in secrets)
        return HIDDEN * len(match[0]) if told else match[0]

    return _SENTENCE.sub(sentence, text) if secrets else text
