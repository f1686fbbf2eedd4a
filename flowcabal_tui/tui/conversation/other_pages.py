"""The pages of other subjects that the conversation opens."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from flowcabal_tui.domain.context import Receipt
from flowcabal_tui.domain.proposals import Proposal


@dataclass(frozen=True, slots=True)
class OtherPages:
    """Pages of other subjects: a receipt with its title, the form of a name or record, the review of a build."""

    receipt: Callable[[Receipt, str], None]
    correct: Callable[[Proposal], Coroutine[Any, Any, None]]
    review: Callable[[str], Coroutine[Any, Any, None]]
