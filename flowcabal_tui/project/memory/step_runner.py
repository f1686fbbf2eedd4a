"""Carries out one step of the background work or of a paid reading, and returns its end as a value."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal

from flowcabal_tui.domain.errors import (
    BudgetExceeded,
    DiskFull,
    FlowCabalError,
    Gone,
    HelperFailed,
    KnowledgeError,
    ModelError,
    ModelFault,
    ProjectBusy,
    SettingsError,
    SpendingNotAgreed,
)
from flowcabal_tui.domain.memory import LONGEST_WAIT, BackgroundTask

log = logging.getLogger(__name__)
TRIES: Final = 5
_FIRST_WAIT: Final = 2.0
_MOST_DOUBLINGS: Final = 10
_HOPELESS: Final = frozenset({ModelFault.AUTH, ModelFault.NOT_FOUND, ModelFault.NOT_CONFIGURED})

Ending = Literal["done", "gone", "later", "unconfirmed", "unpaid", "hopeless", "failed"]
"""`gone`: the subject no longer exists. `hopeless`: every other step that calls the model would fail too."""


@dataclass(frozen=True, slots=True)
class StepEnd:
    """The end of a step, and the reason when it is not done."""

    ending: Ending
    why: str = ""
    error: FlowCabalError | None = None


async def run_step(step: Callable[[BackgroundTask], Awaitable[None]], task: BackgroundTask) -> StepEnd:
    """Carries out a step. Never raises, except for a cancellation."""
    try:
        await step(task)
    except FlowCabalError as error:
        ending = _ending_of(error)
        if ending == "gone":
            log.info("step %s of %s: %s", task.kind, task.subject, error.title)
        return StepEnd(ending, error.title, error)
    except Exception as error:  # the edge of a worker: one step must not end the others
        log.exception("step %s of %s", task.kind, task.subject)
        return StepEnd("failed", repr(error))
    return StepEnd("done")


def wait_before(tries: int) -> float:
    """The seconds to wait before the next try of a step that was tried `tries` times."""
    return min(LONGEST_WAIT, math.ldexp(_FIRST_WAIT, min(tries - 1, _MOST_DOUBLINGS)))


def _ending_of(error: FlowCabalError) -> Ending:
    match error:
        case Gone():
            return "gone"
        case KnowledgeError() | ProjectBusy():
            return "later"
        case HelperFailed():
            return "later" if error.cause == "died" else "failed"
        case ModelError():
            if error.fault is ModelFault.NOT_CONFIRMED:
                return "unconfirmed"
            return "later" if error.retryable else "hopeless" if error.fault in _HOPELESS else "failed"
        case SpendingNotAgreed():
            return "unpaid"
        case BudgetExceeded() | SettingsError() | DiskFull():
            return "hopeless"
    return "failed"
