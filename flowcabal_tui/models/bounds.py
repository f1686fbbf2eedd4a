"""The highest cost of one call: the same figures for a quote and for the reservation that enforces it."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Final

from pydantic import BaseModel

from flowcabal_tui.domain.answer_schema import answer_schema
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.model_calls import ModelRequest, Usage
from flowcabal_tui.domain.model_ports import TokenCounter
from flowcabal_tui.domain.providers import DIALECTS
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.models.registry import cost
from flowcabal_tui.models.structured import REPAIRS
from flowcabal_tui.models.tokens import TokenEstimator

MARGIN_LEARNED: Final = 1.25
"""Factor on an estimate that the provider's counts have corrected: 95 of 100 texts are off by less than a tenth."""
MARGIN_UNKNOWN: Final = 1.5
"""Factor on the estimate for a model that has not answered yet: it is off by up to a quarter, by half for a rare
script."""
MESSAGE_TOKENS: Final = 16
"""Tokens that providers add around the messages of a request."""
REPAIR_TOKENS: Final = 600
"""Tokens of the words that explain why an answer does not fit its shape."""
USUAL_OUTPUT: Final = 4_096
"""Assumed maximum tokens of an answer when no limit is sent with the request."""


@dataclass(frozen=True, slots=True)
class CallBound:
    """The maximum for one call; `cost` is None when there is no price."""

    input_tokens: int
    output_tokens: int
    cost: Decimal | None

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens


def with_margin(counter: TokenCounter, estimated: int) -> int:
    """The upper limit of an estimate of tokens."""
    learned = isinstance(counter, TokenEstimator) and counter.calibration.samples
    margin = MARGIN_LEARNED if learned else MARGIN_UNKNOWN
    return math.ceil(estimated * margin) + MESSAGE_TOKENS


def sent_limit(endpoint: Endpoint, max_tokens: int | None) -> int | None:
    """The limit of the answer in the request; None when none is sent."""
    limit = endpoint.answer_limit(max_tokens)
    return DIALECTS[endpoint.provider].answer_limit if limit is None else limit


def output_bound(endpoint: Endpoint, max_tokens: int | None, input_tokens: int = 0, assumed: int = USUAL_OUTPUT) -> int:
    """The greatest length of an answer in tokens: the limit sent, else `assumed`, or the rest of the model's window."""
    if (limit := sent_limit(endpoint, max_tokens)) is not None:
        return limit
    if endpoint.context_window is None:
        return assumed
    return min(assumed, max(0, endpoint.context_window - input_tokens))


def bound_of(endpoint: Endpoint, input_tokens: int, output_tokens: int) -> CallBound:
    """The cost of these tokens. No input is assumed to be cached; it may have to be written to the cache."""
    if endpoint.provider == "offline":
        return CallBound(0, 0, Decimal(0))
    price, write = endpoint.price_in, endpoint.write_price
    written = input_tokens if price is not None and write is not None and write > price else 0
    return CallBound(
        input_tokens, output_tokens, cost(endpoint, Usage(input_tokens, output_tokens, written_tokens=written))
    )


def structured_extra(counter: TokenCounter, endpoint: Endpoint, shape: type[BaseModel]) -> int:
    """The additional tokens of a request for a structured answer: its schema, and before the last repair the invalid
    answers with their errors."""
    schema = counter.count(json.dumps(answer_schema(shape), ensure_ascii=False))
    return schema + REPAIRS * (output_bound(endpoint, None) + REPAIR_TOKENS)


def bound_of_request(
    counter: TokenEstimator, endpoint: Endpoint, request: ModelRequest, extra: int = 0, assumed: int = USUAL_OUTPUT
) -> CallBound:
    """The maximum for one try of this request, with `extra` further tokens."""
    estimated = counter.count_request(request) + extra
    most = output_bound(endpoint, request.max_tokens, estimated, assumed)
    return bound_of(endpoint, with_margin(counter, estimated), most)
