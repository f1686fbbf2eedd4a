"""What is known about the knowledge server, as the status line shows it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Absent:
    """No openviking-server is installed; everything goes on without it."""


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
    """It died for the `tries`-th time in a row and is started again in `seconds`."""

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
    """A server elsewhere; `reason` says why it does not answer ("" when it does)."""

    url: str
    reason: str = ""


KnowledgeStatus = Absent | Starting | Ready | Restarting | Failed | Stopped | External
