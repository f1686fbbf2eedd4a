"""What a promise, a moment or a fact says in full, and the places of the text that support it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from textual.content import Content

from flowcabal_tui.domain.memory import Evidence
from flowcabal_tui.domain.story import Fact, Moment, Promise, StoryRecord
from flowcabal_tui.locale import _
from flowcabal_tui.tui.shared.passage import Passage
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.story.cast import Cast
from flowcabal_tui.tui.story.words import fact_lines, moment_lines, promise_lines
from flowcabal_tui.tui.widgets.role_words import head_words
from flowcabal_tui.tui.widgets.roles import role_style

_MOST_PLACES: Final = 4


def supporting_places(record: StoryRecord) -> tuple[Evidence, ...]:
    """The first places that support it, and for a promise those that pay it."""
    payment = record.payment if isinstance(record, Promise) else ()
    return (*record.evidence[:_MOST_PLACES], *payment[:_MOST_PLACES])


def detail_lines(record: StoryRecord, cast: Cast, passages: Mapping[Evidence, Passage]) -> Iterator[Content]:
    """The record, and below each place its paragraph with the supporting words marked, where it was read."""
    first, *rest = _lines(record, cast)
    yield Content.styled(first, "bold")
    for line in rest:
        yield Content.styled(line, role_style("secondary"))
    for each in supporting_places(record):
        passage = passages.get(each)
        said = None if passage else one_line(each.sentence, 400)
        if passage is None and said == one_line(getattr(record, "text", "")):
            continue
        yield Content("")
        yield head_words(cast.chapter(each.chapter), _what(record, each))
        yield passage.shown() if passage else Content.styled(f"“{said}”", role_style("quoted"))


def _lines(record: StoryRecord, cast: Cast) -> Iterator[str]:
    match record:
        case Promise():
            yield from promise_lines(record, cast)
        case Moment():
            yield from moment_lines(record, cast)
        case Fact():
            yield from fact_lines(record, cast)


def _what(record: StoryRecord, place: Evidence) -> str:
    """What happens there to a promise; the other records rest on all of their places alike."""
    if not isinstance(record, Promise):
        return ""
    return _("paid") if place in record.payment else _("planted")
