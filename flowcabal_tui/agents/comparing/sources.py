"""The candidate from which each paragraph of a result comes, and the paragraphs that the writer changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.comparison import Taken, paragraphs_of, words_digest
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.nodes.kinds.candidates import ALIKE, bigrams, likeness

_MOST: Final = 2_000
"""Maximum number of paragraphs of a result whose origin is determined."""


@dataclass(frozen=True, slots=True)
class ParagraphSource:
    """A paragraph of a result and the candidate's paragraph that it equals, or was changed from."""

    text: str
    taken: Taken
    changed: bool = False

    @property
    def paragraph(self) -> Digest:
        return words_digest(self.text)


def paragraph_sources(
    text: str, candidates: Mapping[Digest, str], taken: Collection[Taken] = ()
) -> tuple[ParagraphSource | None, ...]:
    """For each paragraph its source; None for one by the writer. Of equal ones, a paragraph in `taken` is chosen, else
    the first.

    The source of a changed paragraph is the one with most pairs of characters in common, at least 60 %, as in an
    evolution.
    """
    known: dict[Digest, Taken] = {}
    shapes: list[tuple[frozenset[str], Taken]] = []
    for name, whole in candidates.items():
        for number, paragraph in enumerate(paragraphs_of(whole)):
            place = Taken(name, number)
            if place in taken or words_digest(paragraph) not in known:
                known[words_digest(paragraph)] = place
            shapes.append((bigrams(" ".join(paragraph.split())), place))
    return tuple(_source(each, known, shapes) for each in paragraphs_of(text)[:_MOST])


def _source(
    paragraph: str, known: Mapping[Digest, Taken], shapes: list[tuple[frozenset[str], Taken]]
) -> ParagraphSource | None:
    if (same := known.get(words_digest(paragraph))) is not None:
        return ParagraphSource(paragraph, same)
    own, best, found = bigrams(" ".join(paragraph.split())), ALIKE, None
    for pairs, place in shapes:
        alike = likeness(own, pairs, ALIKE)
        if alike > best or (found is None and alike >= ALIKE):
            best, found = alike, place
    return None if found is None else ParagraphSource(paragraph, found, changed=True)
