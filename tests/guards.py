"""Guards of a knowledge server that refuse nothing."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.project.memory.knowledge import KnowledgeGuards

NOTHING_GUARDED: Final = KnowledgeGuards(lambda: None, lambda: None, lambda: None)
