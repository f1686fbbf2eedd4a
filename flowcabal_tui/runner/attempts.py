"""Converts attempts to the forms of the log and of the store."""

from __future__ import annotations

from typing import Any, Final

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import StoredResult
from flowcabal_tui.domain.model_calls import Usage
from flowcabal_tui.domain.run import Attempt, made_of

_FREE: Final = Usage()


def done_payload(attempt: Attempt) -> dict[str, Any]:
    """The log's payload for an attempt that ended."""
    return made_of(attempt) | {"usage": to_plain(attempt.usage), "cached": attempt.cached}


def served_payload(attempt: Attempt) -> dict[str, Any]:
    """The log's payload for an output that was taken from an earlier run, where its usage was booked."""
    payload = made_of(attempt)
    del payload["usage"]
    payload["cached"] = payload["stands"] = True
    return payload


def stored_result(key: Digest, attempt: Attempt) -> StoredResult:
    """The attempt as the store keeps it under a key."""
    return StoredResult(**made_of(attempt) | {"key": key}, text=attempt.text)


def served_attempt(number: int, stored: StoredResult) -> Attempt:
    """The attempt for a result that was paid for earlier, whose usage is already booked."""
    made = made_of(stored)
    made["usage"] = _FREE
    return Attempt(number, stored.text, cached=True, **made)


def produced_result(key: Digest, output: Output, seconds: float) -> StoredResult:
    """A program's output in the form that the store keeps under a key."""
    return StoredResult(key=key, text=output.stored, digest=output.digest, seconds=seconds, form=output.form)
