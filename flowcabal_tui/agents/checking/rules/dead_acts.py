"""Rule: a person who died in an earlier chapter acts in the draft."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flowcabal_tui.agents.checking.rules.deaths import acts_unlisted, deaths, first_acts, unlisted_deaths
from flowcabal_tui.agents.checking.rules.material import EarlierBook, NarratedText, RuleFinding
from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.locale import _


def find(draft: NarratedText, book: EarlierBook) -> Iterator[RuleFinding]:
    """Yields one finding per person: the first act, and the words of the death.

    A person who already acts in a chapter after the death has not died in the sense of the book.
    """
    dead: dict[str, tuple[NarratedText, Span]] = {}
    acting = _acting(book)
    for chapter in book.chapters:
        for name in [each for each in dead if acting(each, chapter) is not None]:
            del dead[name]
        unlisted = chapter.made(unlisted_deaths) if book.language.startswith("zh") else ()
        for name, span in (*chapter.made_of_names(deaths, book), *unlisted):
            if name in draft.narration:
                dead.setdefault(name, (chapter, span))
    for name, (chapter, span) in dead.items():
        act = acting(name, draft)
        if act is not None:
            message = _("Somebody who died in an earlier chapter acts here.")
            source = chapter.quoted(span.start, span.end)
            yield RuleFinding("memory contradiction", message, draft.clause_at(act.start, act.end), source)


def _acting(book: EarlierBook) -> Callable[[str, NarratedText], Span | None]:
    known = {name for entity in book.entities for name in entity.names}

    def acting(name: str, narrated: NarratedText) -> Span | None:
        return narrated.made_of_names(first_acts, book).get(name) if name in known else acts_unlisted(name, narrated)

    return acting
