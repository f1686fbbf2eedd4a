"""What could go into a context: one value for every text, note, summary or passage that is considered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from flowcabal_tui.domain.context import BudgetClass
from flowcabal_tui.domain.memory import EntityKind, Level, MetaName

Words = Mapping[str, tuple[str, str]]
"""Headings by key, in Chinese and in English: they stand in the book's language, not the screen's."""

HEADINGS: Final[Words] = {
    "outline": ("大纲", "Outline"),
    "style-guide": ("文风指南", "Style guide"),
    "world-rules": ("世界规则", "World rules"),
    "notes": ("作者笔记", "Notes of the writer"),
    "entities": ("人物、地点与事物", "People, places and things"),
    "facts": ("此时成立的事", "What holds at this point"),
    "profiles": ("侧写（截至本章之前）", "Profiles, as of the chapters before"),
    "summaries": ("前文各章提要", "The earlier chapters in one line each"),
    "far": ("前文相关段落", "Passages from earlier chapters"),
    "knowledge": ("前文相近内容", "Related material"),
    "last_meeting": ("上次同场", "When they last met"),
    "near": ("紧接的前文", "What comes directly before"),
    "preamble": ("以下为已定稿内容，供保持连贯，不要复述。", "Settled text, for continuity; do not retell it."),
}
ENTITY_FOLDERS: Final[Mapping[EntityKind, str]] = {
    "character": "characters",
    "location": "locations",
    "plot-thread": "plot-threads",
    "item": "items",
    "organisation": "organisations",
}
UNRANKED: Final = 1_000_000
HIDDEN: Final = "\ufffc"
"""Stands for a character that the point of view must not be told."""
_HIDDEN_PART: Final = re.compile(f"{HIDDEN}[{HIDDEN}\\s]*")


def heading(key: BudgetClass | MetaName | str, language: str) -> str:
    """The heading of a class or of a meta text in the language of the book."""
    chinese, english = HEADINGS[key]
    return chinese if language.startswith("zh") else english


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may go in. `start`/`end` are offsets in the uri's text when it is a part (-1: whole).

    `position` is its chapter's place in story order (0: of no chapter). `smaller` is the same thing at a lower
    level, taken when this one is too large; `cuttable` texts may be shortened instead. `line` ones take one line.
    `rank` is the place in the order of relevance, where it was looked up for the prompt. `label` is what the receipt
    calls a line that has no title in the prompt.
    """

    uri: str
    title: str
    reason: str
    level: Level
    budget_class: BudgetClass
    text: str
    position: int = 0
    start: int = -1
    end: int = -1
    smaller: Candidate | None = field(default=None)
    cuttable: bool = False
    line: bool = False
    rank: int = UNRANKED
    label: str = ""

    @property
    def block(self) -> str:
        """As it stands in the prompt, with its heading and the empty line behind it."""
        text = _HIDDEN_PART.sub("…", self.text)
        if self.line:
            return f"- {self.title}{': ' if self.title else ''}{' '.join(text.split())}\n"
        return f"## {self.title}\n{text.strip()}\n\n"

    @property
    def continued(self) -> str:
        """As it stands behind another part of the same chapter, whose heading is its own too."""
        return f"{_HIDDEN_PART.sub('…', self.text).strip()}\n\n"

    def follows(self, other: Candidate) -> bool:
        """Are both parts of one chapter's text, so that one heading is enough?"""
        return self.uri == other.uri and self.start >= 0 and other.start >= 0 and not self.line
