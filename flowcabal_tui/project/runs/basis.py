"""The inputs of a quote besides the workflow: token counts, usual lengths, and texts that are not written yet."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from flowcabal_tui.agents.context.scene_question import LONGEST
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.models.bounds import USUAL_OUTPUT, with_margin
from flowcabal_tui.project.models.lengths import DRAFT_TOKENS

MOST_TOKENS: Final = 8_000
"""The assumed highest length of a text that no model writes: a person types it, or an action returns it."""
AGENT_TOKENS: Final = 500
"""A usual answer of the agents' model."""
FINDING_TOKENS: Final = 300
"""Tokens around the findings in the feedback to a further attempt, and around the quotations that a second round
corrects."""
FOUND_TOKENS: Final = 1_200
"""Maximum tokens of the findings by rule in one prompt, with the instruction to correct them."""
RETRY_TOKENS: Final = 1_000
"""Tokens of a retry besides the draft and the findings: the instruction, and the paragraphs that may change."""
INQUIRY_TOKENS: Final = 20 * 1_500 + 2_000
"""An inquiry's question with its passages, at most."""
SCENE_TOKENS: Final = 2 * LONGEST * 2 + 4_000
"""The question about a scene, at most: two tokens a character, and its own words with the names."""
SCENE_ANSWER: Final = 120
"""A usual answer to it."""
QUERY_TOKENS: Final = 2_500
"""Maximum tokens of the query with which a context searches the book (2,000 characters)."""
ESCAPED: Final = 1.5
"""The factor by which a draft grows in a check, where every quotation mark is escaped."""
FLOWS_DEEP: Final = 4
"""Depth of nested workflows that are counted when their inputs are not known yet."""
STAND_IN: Final = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class Length:
    """The expected length of an unwritten text, in tokens."""

    likely: int
    most: int

    def plus(self, other: Length) -> Length:
        return Length(self.likely + other.likely, self.most + other.most)


class NoCount:
    """Counts nothing; for callers that need only keys or messages."""

    def count(self, text: str) -> int:
        return 0


@dataclass(slots=True)
class Basis:
    """The inputs of a quote besides the workflow."""

    counter: TokenCounter
    draft_tokens: int = DRAFT_TOKENS
    """The usual length of a node's text: the goal of a chapter, or the median of the book's own."""
    answer_tokens: int = USUAL_OUTPUT
    """The assumed highest length of a node's text when the model is sent no limit."""
    embedding: Endpoint | None = None
    """The endpoint that embeds the query of a context; None when that costs nothing."""
    asks_scene: bool = False
    """The agents' model may be asked about the scene of the chapter."""
    lengths: list[Length] = field(default_factory=list)
    """Lengths of the texts that placeholders represent."""
    questions: set[Digest] = field(default_factory=set)
    """The questions about scenes that are already counted: each is asked once."""

    def stand_in(self, length: Length) -> str:
        """A short placeholder text that counts as a text of this length."""
        self.lengths.append(length)
        return f"\ue000{len(self.lengths) - 1}\ue001"

    def measure(self, text: str) -> Length:
        """The tokens of a text with placeholders in it; the maximum includes a margin for the estimate."""
        known = self.counter.count(STAND_IN.sub("", text))
        length = Length(known, with_margin(self.counter, known))
        for number in STAND_IN.findall(text):
            length = length.plus(self.lengths[int(number)])
        return length
