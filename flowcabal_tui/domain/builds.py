"""Summaries of builds for lists, without their documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

BuildState = Literal["building", "interrupted", "asks", "finished", "stopped", "accepted", "rejected"]
REJECTED: Final = "rejected"
"""Stored instead of a workflow reference when the writer rejected the build."""


@dataclass(frozen=True, slots=True)
class NearTemplate:
    """A template that resembles a request: the number of the request's points that it covers."""

    name: str
    title: str
    covered: int
    points: int


@dataclass(frozen=True, slots=True)
class BuildRow:
    """A build of a workflow. `workflow` is the id of the workflow it changes ("": a new one); `saved` the reference of
    the saved result."""

    id: str
    wish: str
    state: BuildState
    workflow: str = ""
    saved: str = ""

    @property
    def waits(self) -> bool:
        """True while the build needs a decision or an answer of the writer."""
        return self.state in ("finished", "asks")
