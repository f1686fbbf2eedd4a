"""Builds as they are listed, without their documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

BuildState = Literal["building", "interrupted", "asks", "finished", "stopped", "accepted", "rejected"]
REJECTED: Final = "rejected"
"""In the place of the reference that came of a build: the writer turned it down."""


@dataclass(frozen=True, slots=True)
class BuildRow:
    """A build of a workflow. `workflow` is the id that it changes, "" for a new one; `saved` what came of it."""

    id: str
    wish: str
    state: BuildState
    workflow: str = ""
    saved: str = ""

    @property
    def waits(self) -> bool:
        """Is the writer to decide or to answer?"""
        return self.state in ("finished", "asks")
