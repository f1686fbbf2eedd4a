"""The states of the knowledge server, as the status line shows them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Absent:
    """No openviking-server is installed; everything else works without it."""


@dataclass(frozen=True, slots=True)
class Starting:
    """Not answering yet; `seconds` since the start, published once a second."""

    seconds: int = 0


@dataclass(frozen=True, slots=True)
class Ready:
    """Answering. `repair`: the last server ended unasked, so `KnowledgeSync.repair` is due."""

    url: str
    repair: bool = False


@dataclass(frozen=True, slots=True)
class Restarting:
    """It exited for the `tries`-th time in a row and will be started again in `seconds`."""

    tries: int
    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Given up, until `start` is called again; `reason` is for the user, without secrets."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """Not started, or stopped on purpose."""


@dataclass(frozen=True, slots=True)
class External:
    """An external server; `reason` is its fault ("" when it answers)."""

    url: str
    reason: str = ""


KnowledgeStatus = Absent | Starting | Ready | Restarting | Failed | Stopped | External
