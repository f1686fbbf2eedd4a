"""Names and rare words that a moved chapter introduces, and the chapters that use them although it comes after them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.checking.evidence.reading import TextReader
from flowcabal_tui.agents.checking.evidence.statements import DraftClause, statements_of
from flowcabal_tui.agents.names.names import NameIndex
from flowcabal_tui.agents.sentences import sentence_at
from flowcabal_tui.domain.ids import EntityId
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.memory import Entity

_MOST: Final = 0.05
_LEAST_CHAPTERS: Final = 3
"""A word is rare in at most this many chapters, or in at most the share `_MOST` of them."""
_CHANCE: Final = 0.05
_SHARED: Final = {"zh": 3, "en": 2}
"""Rare words that two statements have in common when they speak of the same thing."""
_SURE: Final = 0.5
"""Base score of a name, to which its share of the sentence is added."""


@dataclass(frozen=True, slots=True)
class EarlyUse:
    """A sentence of the text number `text`, and `source`, the place in the text number `introduced` that introduces
    something used there.

    `about` is the named entity; None: the sentence shares rare words. The score is the share of the sentence that the
    name or the words occupy: a long sentence that mentions them in passing depends less on them.
    """

    text: int
    start: int
    end: int
    introduced: int
    source: Span
    about: EntityId | None
    score: float


def early_uses(
    texts: Sequence[str],
    using: Collection[int],
    telling: Collection[int],
    before: int,
    entities: Sequence[Entity],
    language: str,
) -> tuple[EarlyUse, ...]:
    """Sentences of the texts `using` that use something introduced by those of `telling`, the most direct first.

    The texts up to number `before` come earlier than both.
    """
    found = [
        *_names(texts, using, telling, before, entities),
        *_rare_words(texts, using, telling, before, TextReader(language)),
    ]
    best: dict[tuple[int, int], EarlyUse] = {}
    for use in sorted(found, key=lambda each: (-each.score, each.text, each.start)):
        best.setdefault((use.text, use.start), use)
    return tuple(best.values())


def _names(
    texts: Sequence[str], using: Collection[int], telling: Collection[int], before: int, entities: Sequence[Entity]
) -> Iterator[EarlyUse]:
    """The first place in each using text of every entity that is not named before."""
    earlier = "\n".join(texts[:before])
    new = [entity for entity in entities if not any(name in earlier for name in entity.names)]
    index = NameIndex(new)
    narrated: dict[EntityId, tuple[int, Span]] = {}
    for number in sorted(telling):
        for hit in index.find(texts[number]):
            narrated.setdefault(hit.entity, (number, sentence_at(texts[number], hit.start)))
    for number in sorted(using):
        named: set[EntityId] = set()
        for hit in index.find(texts[number]):
            if hit.entity in narrated and hit.entity not in named:
                named.add(hit.entity)
                span = sentence_at(texts[number], hit.start)
                sentence = texts[number][span.start : span.end]
                score = _SURE + (hit.end - hit.start) / len(sentence)
                yield EarlyUse(number, span.start, span.end, *narrated[hit.entity], hit.entity, score)


def _rare_words(
    texts: Sequence[str],
    using: Collection[int],
    telling: Collection[int],
    before: int,
    reader: TextReader,
) -> Iterator[EarlyUse]:
    words = {number: reader.words(texts[number]) for number in (*telling, *using)}
    explained = frozenset[str]().union(*(words[number] for number in telling))
    used = frozenset[str]().union(*(words[number] for number in using))
    rare = explained & used
    rare -= reader.words_among("\n".join(texts[:before]), rare)
    later = len(texts) - before
    counts = dict.fromkeys(rare, 0)
    for text in texts[before:]:
        for word in reader.words_among(text, rare):
            counts[word] += 1
    rare = frozenset(word for word, count in counts.items() if _is_introduced(count, later, before))
    least = _SHARED[reader.language]
    sources = [
        (number, one)
        for number in sorted(telling)
        for one in statements_of(texts[number], (), reader)
        if len(one.words & rare) >= least
    ]
    for number in sorted(using):
        for use in statements_of(texts[number], (), reader):
            shared = _best(use, sources, rare)
            if shared is not None and shared[0] >= least:
                size, (source, one) = shared
                score = size / (size + least) + size / max(1, len(use.words))
                yield EarlyUse(number, use.start, use.end, source, Span(one.start, one.end), None, score)


def _is_introduced(count: int, later: int, before: int) -> bool:
    """True when a word in `count` of the `later` chapters is rare, or is absent from all chapters before not by chance.

    If it were spread evenly, all of `before` would lack it with the probability (1 - count / later) ** before.
    """
    is_rare = count <= max(_LEAST_CHAPTERS, round(_MOST * (later + before)))
    return is_rare or (1 - count / max(later, 1)) ** before < _CHANCE


def _best(
    use: DraftClause, sources: Sequence[tuple[int, DraftClause]], rare: frozenset[str]
) -> tuple[int, tuple[int, DraftClause]] | None:
    own = use.words & rare
    sized = ((len(own & each[1].words), each) for each in sources) if own else ()
    return max(sized, key=lambda one: (one[0], -one[1][0], -one[1][1].start), default=None)
