"""Reference books in a context: those that a question names, or all of them if the project's settings say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from flowcabal_tui.agents.context.candidates import ContextText
from flowcabal_tui.agents.context.intent import SceneReading, search_terms
from flowcabal_tui.agents.prompt_library import SourceText
from flowcabal_tui.domain.manuscript import Reference, ReferenceHit, ReferenceId
from flowcabal_tui.locale import _

_PASSAGES: Final = 12


class ReferenceBooks(Protocol):
    """The reference books as of the generation of a context."""

    always: bool
    """True when they take part in every context."""

    async def books(self) -> tuple[Reference, ...]: ...

    async def search(
        self, terms: Sequence[str], limit: int, book: ReferenceId | None = None
    ) -> tuple[ReferenceHit, ...]:
        """The passages that contain any of the terms, best first."""


async def named_passages(references: ReferenceBooks, question: str, language: str, first: int) -> list[SourceText]:
    """Passages of the books whose titles occur in the question; their ids count from `first`."""
    found: list[ReferenceHit] = []
    for book in await references.books():
        if book.title and book.title.lower() in question.lower():
            found += await references.search(search_terms(question, (book.title,), language), _PASSAGES, book.id)
    return [
        SourceText(f"s{at}", hit.uri, f"{hit.book}: {hit.title}", hit.text, hit.start)
        for at, hit in enumerate(found, start=first)
    ]


async def near(references: ReferenceBooks, reading: SceneReading) -> list[ContextText]:
    """Passages of all books that match the names and words of a prompt."""
    terms = [*(form for each in reading.names for form in each.forms), *reading.words]
    return [
        ContextText(
            hit.uri,
            hit.title,
            _("in the reference book {title}").format(title=hit.book),
            "L2",
            "knowledge",
            hit.text,
            start=hit.start,
            end=hit.end,
        )
        for hit in await references.search(terms, _PASSAGES)
    ]
