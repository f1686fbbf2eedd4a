"""The scenes of a chapter as its writer separates them: by ornamental lines, or by wider gaps (decision 33)."""

from __future__ import annotations

from flowcabal_tui.domain.manuscript import Span
from flowcabal_tui.domain.value_class import dataclass


@dataclass(frozen=True, slots=True)
class ChapterScene:
    """One scene. `number` counts from 1; `opening` is the break before it with the blank lines around it.

    The first scene of a chapter has an empty opening, unless it has a title. `beats` is its text in the outline.
    """

    number: int
    title: str
    opening: Span
    body: Span
    text: str
    mark: str = ""
    """The ornament of its opening; "": blank lines, or none."""
    beats: str = ""
