"""Runs briefs with a model of the user's own settings file, without a project: priced before, and not booked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import reduce

from flowcabal_tui.agents.builder.build_state import Build
from flowcabal_tui.agents.builder.document import Json
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.models.tokens import TokenEstimator
from flowcabal_tui.project.builder.briefs import Brief, answered_by_model
from flowcabal_tui.project.builder.prices import BuildPrice, price_of
from flowcabal_tui.project.trust.own_models import own_model


def price_of_all(briefs: Sequence[Brief], endpoint: Endpoint) -> BuildPrice:
    """The price of the builds of all briefs together."""
    counter = TokenEstimator()
    prices = [price_of(Build(each.wish, each.language, each.copied), endpoint, counter) for each in briefs]
    return reduce(_plus, prices)


def _plus(one: BuildPrice, other: BuildPrice) -> BuildPrice:
    return BuildPrice(one.likely.plus(other.likely), one.most.plus(other.most), one.model, one.currency)


async def model_answers(briefs: Sequence[Brief], endpoint: Endpoint) -> AsyncIterator[Json]:
    """The answers, one after the other. The key is sent to the host in the user's own file. Raises ModelError without
    one."""
    model = own_model(endpoint)
    try:
        for brief in briefs:
            yield await answered_by_model(brief, model)
    finally:
        await model.aclose()
