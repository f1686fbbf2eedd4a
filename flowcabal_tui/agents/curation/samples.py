"""A further answer to the same question: its source is the same digest followed by the number of the answer."""

from __future__ import annotations

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.memory import Derived

_MARK = "+"


def with_sample(source: Digest, sample: int) -> Digest:
    """The source of the answer number `sample`, from 0."""
    return Digest(f"{source}{_MARK}{sample}") if sample else source


def sample_of(source: str) -> int:
    """The number of the answer."""
    return int(source.partition(_MARK)[2] or 0)


def is_fresh(state: Derived | None, source: Digest, sample: int = 0) -> bool:
    """True when the state was made from this source, by this answer or a later one."""
    return state is not None and state.source.partition(_MARK)[0] == source and sample_of(state.source) >= sample
