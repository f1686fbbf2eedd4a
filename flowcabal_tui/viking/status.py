"""The states of the knowledge server, as the status line shows them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Absent:
    """No openviking-server is installed; all other functions work without it."""


@dataclass(frozen=True, slots=True)
class Starting:
    """Not ready yet; `seconds` since the start, published once a second."""

    seconds: int = 0


@dataclass(frozen=True, slots=True)
class Ready:
    """Ready. `repair`: the last server ended unexpectedly, so `KnowledgeSync.repair` is due."""

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
    """Not restarted again until `start` is called; `reason` is for the user, without secrets."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """Not started, or stopped on purpose."""


@dataclass(frozen=True, slots=True)
class External:
    """An external server; `reason` is the reason why it does not answer ("" when it does)."""

    url: str
    reason: str = ""


KnowledgeStatus = Absent | Starting | Ready | Restarting | Failed | Stopped | External
