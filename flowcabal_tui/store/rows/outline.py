"""The stored outline: the writer's text, and the assignments of its parts to chapters.

Both are versions of texts about the book, so a run that is pinned to a generation reads both as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from flowcabal_tui.domain.codec import to_json
from flowcabal_tui.domain.errors import ProjectDamaged
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.outline import BookOutline, OutlineLink
from flowcabal_tui.store.file.reading import read_json

OUTLINE_LINKS: Final = "outline-links"
"""The subject below `meta/` whose versions are the links."""
LINKS: Final = ChapterId(f"meta/{OUTLINE_LINKS}")
"""The full subject of the links."""


def book_outline(text: str, links: str, chapters: Sequence[Chapter]) -> BookOutline:
    """The outline with its parts and their chapters. `links` is in the form of `links_text`, or ""."""
    from flowcabal_tui.headings.assigning import assigned  # opening a book does not need the rules for headings
    from flowcabal_tui.headings.outline import read_outline

    return assigned(read_outline(text), chapters, read_links(links))


def read_links(text: str) -> tuple[OutlineLink, ...]:
    """The links of a stored text; none when it is damaged, so that the rules assign again."""
    with suppress(ProjectDamaged):
        return read_json(tuple[OutlineLink, ...], text) if text else ()
    return ()


def links_text(links: Sequence[OutlineLink]) -> str:
    """The links in their stored form."""
    return "[" + ",\n".join(to_json(link) for link in links) + "]"
