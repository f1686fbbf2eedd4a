"""Role A, the Context agent: the right few thousand tokens out of a million words, explained."""

from flowcabal_tui.agents.context.agent import ContextAgent
from flowcabal_tui.agents.context.gather import Finder, Found

__all__ = ["ContextAgent", "Finder", "Found"]
