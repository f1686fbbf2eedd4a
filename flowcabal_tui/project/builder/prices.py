"""The likely and the highest price of a build by the agents' model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flowcabal_tui.agents.builder.build_prompt import system_prompt, user_prompt
from flowcabal_tui.agents.builder.build_state import Build, BuildLimits
from flowcabal_tui.agents.builder.build_tools import tools
from flowcabal_tui.agents.builder.builder import ANSWER_TOKENS, PURPOSE, USUAL
from flowcabal_tui.domain.model_calls import Endpoint, Message, ModelRequest, Usage
from flowcabal_tui.domain.run import Spend
from flowcabal_tui.models.registry import cost
from flowcabal_tui.models.tokens import TokenEstimator

LIKELY_CALLS: Final = 8
"""Twice the median of right answers, measured by `tests/project/test_builder_reference.py`."""
_LIKELY_ANSWER: Final = 600
"""Tokens."""


@dataclass(frozen=True, slots=True)
class BuildPrice:
    """A price before a build; `currency` is that of the sums."""

    likely: Spend
    most: Spend
    model: str
    currency: str


def price_of(build: Build, endpoint: Endpoint, counter: TokenEstimator, limits: BuildLimits = USUAL) -> BuildPrice:
    """Assumes that every call is like the first one and repeats the earlier messages; the most is the limit of a
    build."""
    messages = (Message("system", system_prompt()), Message("user", user_prompt(build)))
    first = counter.count_request(ModelRequest(messages, PURPOSE, tools=tools()))
    sent = sum(first + call * _LIKELY_ANSWER for call in range(LIKELY_CALLS))
    likely = _spend(endpoint, LIKELY_CALLS, sent, LIKELY_CALLS * _LIKELY_ANSWER)
    received = min(limits.rounds * ANSWER_TOKENS, limits.tokens)
    # the limit is looked at before a round, so the last one may go over it
    most = _spend(endpoint, limits.rounds, limits.tokens - received + first, received + ANSWER_TOKENS)
    return BuildPrice(likely, most, endpoint.model, endpoint.currency)


def _spend(endpoint: Endpoint, calls: int, sent: int, received: int) -> Spend:
    return Spend(calls, sent, received, cost(endpoint, Usage(sent, received)))
