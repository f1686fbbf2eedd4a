"""The sums of a quote: the likely and the highest price, by the kind of call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.ids import NodeId
from flowcabal_tui.domain.model_calls import ModelRequest, Usage
from flowcabal_tui.domain.run import CALL_KINDS, CallKind, Quote, QuoteLine, Spend
from flowcabal_tui.locale import _
from flowcabal_tui.models.bounds import bound_of, output_bound, sent_limit, structured_extra, with_margin
from flowcabal_tui.models.registry import cost
from flowcabal_tui.models.structured import REPAIRS
from flowcabal_tui.models.tokens import TokenEstimator


@dataclass(frozen=True, slots=True)
class Calls:
    """A number of equal calls; the token counts are those of one call."""

    number: int
    input_tokens: int
    output_tokens: int
    max_tokens: int | None = None
    """The limit that is sent with the request, beside the model's own."""


@dataclass(slots=True)
class Tally:
    """The spending of the nodes that would run."""

    would_run: list[NodeId] = field(default_factory=list)
    served: list[NodeId] = field(default_factory=list)
    frozen: list[NodeId] = field(default_factory=list)
    likely: dict[CallKind, Spend] = field(default_factory=dict)
    most: dict[CallKind, Spend] = field(default_factory=dict)
    open_ends: dict[str, None] = field(default_factory=dict)
    """The reasons why no bound is known, in words."""
    assumed: dict[str, int] = field(default_factory=dict)
    """The longest answer that was assumed, by model, where no limit is sent."""
    unpriced: dict[str, None] = field(default_factory=dict)
    """Models without a price."""
    currencies: set[str] = field(default_factory=set)
    dearest: Spend = Spend()
    """See Quote."""

    def call(self, kind: CallKind, endpoint: Endpoint, likely: Calls, most: Calls) -> None:
        """Adds calls of one kind to one model."""
        price = cost(endpoint, Usage(likely.input_tokens, likely.output_tokens))
        usual = Spend(1, likely.input_tokens, likely.output_tokens, price)
        self._add(kind, self.likely, likely.number, usual)
        bound = bound_of(endpoint, most.input_tokens, most.output_tokens)
        each = Spend(1, bound.input_tokens, bound.output_tokens, bound.cost)
        self._add(kind, self.most, most.number, each)
        self.dearest = _dearest(self.dearest, each)
        if not endpoint.is_free:
            self.currencies.add(endpoint.currency)
            if most.output_tokens and sent_limit(endpoint, most.max_tokens) is None:
                self._assume({endpoint.model: bound.output_tokens})
            if endpoint.price_in is None or endpoint.price_out is None:
                self.unpriced[endpoint.model] = None

    def structured(
        self,
        kind: CallKind,
        endpoint: Endpoint,
        counter: TokenEstimator,
        request: ModelRequest,
        shape: type[BaseModel],
        answer_tokens: int,
    ) -> None:
        """Adds a structured question whose usual answer has `answer_tokens`; at most it is repaired and repeated."""
        sent, extra = counter.count_request(request), structured_extra(counter, endpoint, shape)
        limit, tries = output_bound(endpoint, None), (1 + REPAIRS) * (1 + endpoint.retries)
        likely = Calls(1, sent + extra // (1 + REPAIRS), answer_tokens)
        self.call(kind, endpoint, likely, Calls(tries, with_margin(counter, sent + extra) + limit, limit))

    @staticmethod
    def _add(kind: CallKind, into: dict[CallKind, Spend], number: int, each: Spend) -> None:
        into[kind] = into.get(kind, Spend()).plus(each.times(number))

    def _assume(self, answers: Mapping[str, int]) -> None:
        for model, tokens in answers.items():
            self.assumed[model] = max(tokens, self.assumed.get(model, 0))

    def add(self, other: Tally, times: int = 1) -> None:
        """Adds another tally, `times` times."""
        for mine, theirs in ((self.likely, other.likely), (self.most, other.most)):
            for kind, spend in theirs.items():
                self._add(kind, mine, times, spend)
        self.open_ends |= other.open_ends
        self.unpriced |= other.unpriced
        self._assume(other.assumed)
        self.currencies |= other.currencies
        self.dearest = _dearest(self.dearest, other.dearest)

    def quote(self, stale: Sequence[NodeId] = ()) -> Quote:
        """The tally as a value."""
        kinds = [kind for kind in CALL_KINDS if kind in self.most]
        lines = tuple(QuoteLine(kind, self.likely[kind], self.most[kind]) for kind in kinds)
        likely, most = Spend(), Spend()
        for line in lines:
            likely, most = likely.plus(line.likely), most.plus(line.most)
        open_ends = list(self.open_ends)
        if len(self.currencies) > 1:
            likely, most = (Spend(each.calls, each.input_tokens, each.output_tokens, None) for each in (likely, most))
        for model, tokens in self.assumed.items():
            words = _(
                "An answer of {model} is priced at no more than {n:,} tokens. You are asked before a longer one "
                "costs more."
            )
            open_ends.append(words.format(model=model, n=tokens))
        if self.unpriced:
            names = _(", ").join(self.unpriced)
            open_ends.append(_("No price is set for {models}: only tokens are limited.").format(models=names))
        return Quote(
            would_run=tuple(self.would_run),
            served=tuple(self.served),
            likely=likely,
            most=None if self.open_ends else most,
            lines=lines,
            open_ends=tuple(open_ends),
            frozen=tuple(self.frozen),
            stale=tuple(stale),
            dearest=self.dearest,
            currency=min(self.currencies) if len(self.currencies) == 1 else "",
        )


def _dearest(one: Spend, other: Spend) -> Spend:
    """The highest tokens and the highest cost of two calls."""
    costs = [each.cost for each in (one, other) if each.cost is not None]
    return Spend(
        1,
        max(one.input_tokens, other.input_tokens),
        max(one.output_tokens, other.output_tokens),
        max(costs) if len(costs) == 2 else None,
    )
