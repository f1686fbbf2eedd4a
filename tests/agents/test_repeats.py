"""What a context says twice is left out of the weaker source."""

from __future__ import annotations

from flowcabal_tui.agents.context.candidates import ContextText
from flowcabal_tui.agents.context.gather import far, read_book
from flowcabal_tui.agents.context.relevance import Relevance, Relevant
from flowcabal_tui.agents.context.repeats import repeats
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import PassagePlace, Span
from tests.agents.fakes import FakeBook

TEXT = "Nora came by the Thursday boat with one trunk. " * 4
OVERVIEW = ContextText("manuscript/c1", "1", "", "L1", "summaries", "Nora comes back to Saltreach by boat.", 1)


async def chosen(end: int) -> list[ContextText]:
    """The overview of a chapter, and a passage of it up to this character."""
    view = FakeBook([("1", TEXT), ("2", "Night.")], language="en").before(2)
    place = PassagePlace(ChapterId("c1"), 1, 0, 0, end)
    found = await far(await read_book(view), Relevance((), (Relevant(place, ("Nora",), (), Span(0, end)),)))
    return [OVERVIEW, *found]


async def test_a_chapter_whose_passages_are_nearly_its_whole_text_has_no_overview() -> None:
    (dropped,) = repeats(await chosen(len(TEXT) - 4), 0, "en")
    assert dropped[:2] == (0, None)
    assert not list(repeats(await chosen(len(TEXT) // 2), 0, "en"))
