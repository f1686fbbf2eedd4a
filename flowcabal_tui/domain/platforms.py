"""The chapter layouts of platforms for web novels, as far as known."""

from __future__ import annotations

from typing import Literal

from flowcabal_tui.domain.lengths import Counting
from flowcabal_tui.domain.value_class import dataclass


@dataclass(frozen=True, slots=True)
class Platform:
    """One profile, from a TOML file that the user may change. Lengths are counted by `counting`; 0: no known bound.

    `known` is the date of the information. `title`: "numbered" keeps 第N章 or Chapter N in the title line, "bare"
    removes it, "none" omits the line. `scene_break` replaces every scene break.
    """

    id: str
    name: str
    language: str
    known: str
    counting: Counting = "platform"
    least: int = 0
    most: int = 0
    longest_title: int = 0
    longest_paragraph: int = 0
    title: Literal["numbered", "bare", "none"] = "numbered"
    indent: str = ""
    blank_lines: int = 0
    scene_break: str = "***"
    scene_titles: bool = False
    quotes: Literal["", "curly", "corner"] = ""
    full_width: bool = False


@dataclass(frozen=True, slots=True)
class PlatformExport:
    """Chapters in the layout of a platform, and warnings about content that it may refuse."""

    text: str
    chapters: int
    report: tuple[str, ...]
