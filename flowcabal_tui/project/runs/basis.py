"""What a quote rests on beside the workflow: token counts, usual lengths, and texts that are not written yet."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from flowcabal_tui.agents.context.scene_question import LONGEST
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.model_calls import Endpoint, TokenCounter
from flowcabal_tui.models.bounds import USUAL_OUTPUT, with_margin
from flowcabal_tui.project.models.lengths import DRAFT_TOKENS

MOST_TOKENS: Final = 8_000
"""What a text is taken to be long at most that no model writes: a person types it, or an action gives it."""
AGENT_TOKENS: Final = 500
"""A usual answer of the agents' model."""
FINDING_TOKENS: Final = 300
"""Around the findings that a further attempt is told, and around the quotations that a second round corrects."""
RETRY_TOKENS: Final = 1_000
"""Of a retry beside the draft and the findings: the order, and which paragraphs may change."""
INQUIRY_TOKENS: Final = 20 * 1_500 + 2_000
"""An inquiry's question with its passages, at most."""
SCENE_TOKENS: Final = 2 * LONGEST * 2 + 4_000
"""The question about a scene, at most: two tokens a character, and its own words with the names."""
SCENE_ANSWER: Final = 120
"""A usual answer to it."""
QUERY_TOKENS: Final = 2_500
"""Of the query that a context searches the book with: 2,000 characters."""
ESCAPED: Final = 1.5
"""How much longer a draft gets in a check, where every quotation mark is escaped."""
FLOWS_DEEP: Final = 4
"""So many workflows inside each other are counted when their inputs are not known yet."""
STAND_IN: Final = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class Length:
    """Of a text that is not written yet, in tokens."""

    likely: int
    most: int

    def plus(self, other: Length) -> Length:
        return Length(self.likely + other.likely, self.most + other.most)


class NoCount:
    """Counts nothing: only keys or messages are wanted."""

    def count(self, text: str) -> int:
        return 0


@dataclass(slots=True)
class Basis:
    """What a quote rests on beside the workflow."""

    counter: TokenCounter
    draft_tokens: int = DRAFT_TOKENS
    """The usual length of what a node writes: the goal of a chapter, or the median of the book's own."""
    answer_tokens: int = USUAL_OUTPUT
    """What a node's text is taken to be long at most where the model is sent no limit."""
    embedding: Endpoint | None = None
    """Where the query of a context is embedded; None when that costs nothing."""
    asks_scene: bool = False
    """The agents' model may be asked about the scene of the chapter."""
    lengths: list[Length] = field(default_factory=list)
    """Of the texts that stand-ins stand for."""
    questions: set[Digest] = field(default_factory=set)
    """Those about scenes that were counted: each is asked once."""

    def stand_in(self, length: Length) -> str:
        """A short text that is counted as one of this length."""
        self.lengths.append(length)
        return f"\ue000{len(self.lengths) - 1}\ue001"

    def measure(self, text: str) -> Length:
        """Tokens of a text with stand-ins in it; the most with a margin on the estimate."""
        known = self.counter.count(STAND_IN.sub("", text))
        length = Length(known, with_margin(self.counter, known))
        for number in STAND_IN.findall(text):
            length = length.plus(self.lengths[int(number)])
        return length
