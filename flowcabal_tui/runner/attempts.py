"""Attempts as the log and the store have them."""

from __future__ import annotations

from typing import Any

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.items import Output
from flowcabal_tui.domain.journal import StoredResult
from flowcabal_tui.domain.model_calls import Usage
from flowcabal_tui.domain.run import Attempt


def done_payload(attempt: Attempt) -> dict[str, Any]:
    """What the log says of an attempt that ended."""
    return _made(attempt) | {"usage": to_plain(attempt.usage), "cached": attempt.cached}


def served_payload(attempt: Attempt) -> dict[str, Any]:
    """What the log says of an output that was taken from an earlier run: its usage was booked there."""
    return _made(attempt) | {"cached": True, "stands": True}


def _made(attempt: Attempt) -> dict[str, Any]:
    return {
        "digest": attempt.digest,
        "key": attempt.key,
        "author": attempt.author,
        "model": attempt.model,
        "finish": attempt.finish,
        "seconds": attempt.seconds,
        "form": attempt.form,
    }


def stored_result(key: Digest, attempt: Attempt) -> StoredResult:
    """The attempt as the store keeps it under a key."""
    return StoredResult(
        key=key,
        text=attempt.text,
        digest=attempt.digest,
        model=attempt.model,
        author=attempt.author,
        finish=attempt.finish,
        usage=attempt.usage,
        seconds=attempt.seconds,
        form=attempt.form,
    )


def served_attempt(number: int, stored: StoredResult) -> Attempt:
    """A result that was paid for earlier: its usage is booked already."""
    return Attempt(
        number=number,
        text=stored.text,
        digest=stored.digest,
        key=stored.key,
        author=stored.author,
        model=stored.model,
        finish=stored.finish,
        seconds=stored.seconds,
        cached=True,
        form=stored.form,
    )


def produced_result(key: Digest, output: Output, seconds: float) -> StoredResult:
    """What a program made, as the store keeps it under a key."""
    return StoredResult(key, output.stored, output.digest, "", "model", "stop", Usage(), seconds, output.form)
