"""The wait before a failed call is sent again."""

from __future__ import annotations

import random
from typing import Final

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault

FIRST_SPAN: Final = 1.0


class Backoff:
    """Full jitter: a wait drawn evenly from 0 to a span that doubles with each attempt.

    Rule: M. Brooker, "Exponential Backoff And Jitter", 2015. A wait requested by the provider is respected, with a
    tenth of jitter added, so that parallel calls do not return at the same moment.
    """

    def __init__(self, endpoint: Endpoint, rng: random.Random) -> None:
        self._endpoint, self._rng = endpoint, rng

    def seconds(self, error: ModelError, attempt: int) -> float | None:
        """The wait in seconds after `attempt` (from 1) failed; None: do not retry."""
        if not error.retryable or attempt > self._endpoint.retries:
            return None
        if self._endpoint.is_local and error.fault is ModelFault.STALLED:
            return None  # the server may still be processing the request, and would then process it twice
        longest = self._endpoint.max_wait
        if error.retry_after is None:
            return self._rng.uniform(0, min(longest, FIRST_SPAN * 2 ** (attempt - 1)))
        if error.retry_after > longest:
            return None
        return min(longest, error.retry_after * self._rng.uniform(1, 1.1))
