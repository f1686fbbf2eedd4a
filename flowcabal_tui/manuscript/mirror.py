"""The Markdown mirror of kept chapters: `manuscript/0007-title.md`, a heading line, then the text."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.text import clean, digest, slug

MIRROR_NAME: Final = late(r"(\d{4,9})-.*\.md")
"""The names that `mirror_name` gives; the group is the chapter's position."""


def mirror_name(position: int, title: str) -> str:
    """The file name of the chapter at `position` (from 1); safe for any title."""
    return f"{position:04}-{slug(title)}.md"


def render_mirror(title: str, text: str) -> str:
    """The content of the file, from which `parse_mirror` returns the exact text, without control sequences."""
    return f"# {' '.join(clean(title).split())}\n\n{clean(text)}\n"


def parse_mirror(content: str) -> tuple[str, str]:
    """The title and text of a mirror file, even after an outside edit; without a heading line the title is ""."""
    content = clean(content).removesuffix("\n")
    heading, newline, text = content.partition("\n")
    if not heading.startswith("# ") and heading != "#":
        return "", content
    return heading[1:].strip(), text.removeprefix("\n") if newline else ""


def mirror_digest(content: str) -> Digest:
    """The digest of the text in a mirror file: differs from the kept version's after an edit outside."""
    return digest(parse_mirror(content)[1])
