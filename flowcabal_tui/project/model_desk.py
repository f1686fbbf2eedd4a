"""The models of a project by role: built on first use, paid once, booked, and held under the cap."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import asdict, replace
from decimal import Decimal
from functools import partial
from typing import Final

from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.domain.errors import BudgetExceeded, ModelError, ModelFault
from flowcabal_tui.domain.ids import Generation, RunId
from flowcabal_tui.domain.memory import Totals
from flowcabal_tui.domain.model_calls import (
    ROLES,
    Answer,
    EmbeddingPort,
    Endpoint,
    EndpointCheck,
    Message,
    ModelEvent,
    ModelPort,
    ModelRequest,
    Role,
    T,
    Usage,
    UsageRecord,
)
from flowcabal_tui.locale import _
from flowcabal_tui.models.collect import ARRIVED, BEFORE_REPEATING
from flowcabal_tui.models.lexical import LexicalEmbedder
from flowcabal_tui.models.registry import check, check_embedder, cost, make_embedder, make_model
from flowcabal_tui.models.tokens import Calibration, TokenEstimator
from flowcabal_tui.protocol import Event, UsageChanged
from flowcabal_tui.runner.effects import whole
from flowcabal_tui.runner.limits import Limits
from flowcabal_tui.settings.project_file import ProjectSettings
from flowcabal_tui.settings.secrets import find_key
from flowcabal_tui.store import Store

CALIBRATION: Final = "tokens"
PAYING_RUN: Final[ContextVar[RunId | None]] = ContextVar("PAYING_RUN", default=None)
"""The run on whose behalf calls are made in this task and those that it begins."""
ANSWER_TOKENS: Final = 4_096
PROMPT_TOKENS: Final = 4_096
"""What is kept free in a model's window for the writer's own prompt with upstream outputs."""


class ModelDesk:
    """Implements the runner's `ModelsPort` and `SpendPort`. Lives on the engine's loop."""

    def __init__(
        self,
        settings: ProjectSettings,
        store: Store,
        limits: Limits,
        emit: Callable[[Event], None],
        *,
        pace: float | None = None,
    ) -> None:
        """`pace` is in seconds a piece of the offline model's text; None: its own."""
        self._settings, self._store, self._limits, self._emit, self._pace = settings, store, limits, emit, pace
        self._models: dict[Endpoint, ModelPort] = {}
        self._paid: dict[Endpoint, PaidOnce] = {}
        self._totals = Totals()
        self._caps: dict[RunId, tuple[Decimal | None, Totals]] = {}
        self.counter = TokenEstimator(self._agent_name())

    def use(self, settings: ProjectSettings) -> None:
        """From now on these settings count."""
        self._settings = settings

    async def begin(self) -> None:
        """Reads what was spent and learned before."""
        self._totals = await self._store.usage.totals()
        if learned := await self._store.values.get(CALIBRATION):
            self.counter.calibration = Calibration(**learned)

    async def counter_at(self, generation: Generation, *, remember: bool) -> TokenEstimator:
        """The counter as it was when a run first read this generation: what is learned since changes no context."""
        key = f"{CALIBRATION}/{generation}"
        known = await self._store.values.get(key)
        if known is None:
            known = asdict(self.counter.calibration)
            if remember:
                await self._store.values.put(key, known)
        return TokenEstimator(self._agent_name(), Calibration(**known))

    def _agent_name(self) -> str:
        chosen = self._settings.models.of("user")
        return chosen.model if chosen else ""

    def endpoint(self, role: Role) -> Endpoint | None:
        """Where a role's model is reached; None when it is not configured."""
        chosen = self._settings.models.of(role)
        return chosen.endpoint() if chosen else None

    def context_budget(self) -> int:
        """What the Context agent may add, in tokens: less than the settings say where the model's window is small."""
        wanted, endpoint = self._settings.budget.context_tokens, self.endpoint("user")
        if endpoint is None or endpoint.context_window is None:
            return wanted
        room = endpoint.context_window - (endpoint.max_output or ANSWER_TOKENS) - PROMPT_TOKENS
        return max(0, min(wanted, room))

    def is_offline(self, role: Role = "user") -> bool:
        """True when the role is played by the embedded model."""
        endpoint = self.endpoint(role)
        return endpoint is not None and endpoint.provider == "offline"

    def model(self, role: Role, name: str | None = None) -> ModelPort:
        """The model of a role, or another one at the same place. Raises ModelError(NOT_CONFIGURED)."""
        endpoint = self.endpoint(role)
        if endpoint is None:
            raise ModelError(
                ModelFault.NOT_CONFIGURED,
                _("No model is set for the role {role}.").format(role=role),
                _("Nothing was sent."),
                _("See `flowcabal-tui models PROJECT` for what is found here, or write it into flowcabal.toml."),
            )
        if name:
            endpoint = replace(endpoint, model=name)
        if endpoint not in self._models:
            self._models[endpoint] = (
                self._offline() if endpoint.provider == "offline" else make_model(endpoint, _key(endpoint))
            )
        return self._models[endpoint]

    def _offline(self) -> ModelPort:
        from flowcabal_tui.models.offline import OfflineModel  # a book is opened sooner without it

        return OfflineModel() if self._pace is None else OfflineModel(pace=self._pace)

    def booked(self, role: Role) -> ModelPort:
        """The model of a role whose whole answers are held under the cap and booked. Raises as `model` does."""
        return _Booked(self, role, self.model(role), self._limits)

    def agent(self) -> PaidOnce:
        """The agents' model, paid once. Raises ModelError(NOT_CONFIGURED)."""
        booked = self.booked("agent")
        if booked.endpoint not in self._paid:
            self._paid[booked.endpoint] = PaidOnce(booked, self._store.answers)
        return self._paid[booked.endpoint]

    def embedder(self) -> EmbeddingPort:
        """The embedding model, or the lexical one that needs no network."""
        endpoint = self.endpoint("embedding")
        if endpoint is None or endpoint.provider == "offline":
            return LexicalEmbedder()
        return make_embedder(endpoint, find_key(endpoint), paid=partial(self._embedded, endpoint))

    async def _embedded(self, endpoint: Endpoint, texts: Sequence[str], tokens: int | None) -> None:
        """Books vectors that have a price. Others are not booked: most are made on this machine, and a price that is
        not known would leave the cap on money without a sum to be held to."""
        if endpoint.price_in is None:
            return
        request = ModelRequest(tuple(Message("user", text) for text in texts), "embedding")
        paid = Usage(self.counter.count_request(request) if tokens is None else tokens, 0)
        priced = replace(endpoint, price_out=Decimal(0))
        await self._enter("embedding", request.purpose, priced, request, Usage(tokens, 0), paid)

    def require_vector_budget(self) -> None:
        """The same as `require_budget` where vectors have a price."""
        endpoint = self.endpoint("embedding")
        if endpoint is not None and endpoint.price_in is not None:
            self.require_budget()

    def cap(self, job: RunId, max_cost: Decimal | None, spent: Totals) -> None:
        """From now on no call of this job begins once it has cost so much; `spent` is what it has cost already."""
        self._caps[job] = (max_cost, spent)

    def _require_job_budget(self, job: RunId | None) -> None:
        limit, spent = self._caps.get(job, (None, Totals())) if job else (None, Totals())
        if limit is not None and (spent.cost is None or spent.cost >= limit):
            raise BudgetExceeded(
                _("The cap of {limit} {currency} is reached.").format(limit=limit, currency=spent.currency),
                _("No new call was made. What was answered is kept."),
                _("Start again with a higher cap to go on."),
            )

    def require_budget(self) -> None:
        """Raises BudgetExceeded when the hard cap on money or tokens is reached, or that of the job that pays."""
        self._require_job_budget(PAYING_RUN.get())
        budget, spent = self._settings.budget, self._totals
        tokens = spent.input_tokens + spent.output_tokens
        if budget.max_cost is not None and spent.cost is None:
            raise BudgetExceeded(
                _("The cap on money cannot be kept, so no new call was made."),
                _("What was spent is not known: a model has no price, or there are two currencies."),
                _("Set price_in and price_out of the models, or cap tokens with max_tokens instead."),
            )
        over_cost = budget.max_cost is not None and (spent.cost or Decimal(0)) >= budget.max_cost
        if over_cost or (budget.max_tokens is not None and tokens >= budget.max_tokens):
            raise BudgetExceeded(
                _("The cap of this project is reached: no new call was made."),
                _("Spent: {cost}, {tokens} tokens.").format(
                    cost=_("unknown") if spent.cost is None else f"{spent.cost} {spent.currency}", tokens=tokens
                ),
                _("Raise max_cost or max_tokens under [budget] in flowcabal.toml."),
            )

    async def spent(self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, usage: Usage) -> None:
        """Books one try and learns from its usage. The offline model costs nothing and is not booked."""
        await self.book(role, purpose, endpoint, request, usage)
        if endpoint.provider != "offline":
            self.counter.learn(request, usage)
            await self._store.values.put(CALIBRATION, asdict(self.counter.calibration))

    async def book(self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, usage: Usage) -> None:
        """Books without learning: the usage may be the sum of several tries, or a count cut short."""
        await self._enter(role, purpose, endpoint, request, usage, usage)

    async def cut(self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, arrived: str) -> None:
        """Books an estimate of a call that was cut off before the provider had counted it; `arrived`: thoughts too."""
        out = self.counter.count(arrived)
        estimate = Usage(self.counter.count_request(request), out)
        await self._enter(role, purpose, endpoint, request, Usage(None, out), estimate)

    async def _enter(
        self, role: Role, purpose: str, endpoint: Endpoint, request: ModelRequest, counted: Usage, paid: Usage
    ) -> None:
        if endpoint.provider == "offline":
            return
        record = UsageRecord(
            role,
            endpoint.model,
            purpose,
            counted,
            self.counter.count_request(request),
            cost(endpoint, paid),
            endpoint.currency,
            run=PAYING_RUN.get() or "",
            node=purpose.removeprefix("node:") if purpose.startswith("node:") else "",
        )
        self._totals = self._totals.plus(record)  # first: it was spent, whatever becomes of the writing
        if (job := PAYING_RUN.get()) in self._caps and job is not None:
            limit, so_far = self._caps[job]
            self._caps[job] = (limit, so_far.plus(record))
        self._emit(UsageChanged(self._totals))
        await self._store.usage.add(record)

    async def check_all(self) -> tuple[EndpointCheck, ...]:
        """One small call to each configured role."""
        found: list[EndpointCheck] = []
        for role in ROLES:
            endpoint = self.endpoint(role)
            if endpoint is None:
                found.append(EndpointCheck(role, role == "embedding", _("not set")))
            elif endpoint.provider == "offline":
                found.append(EndpointCheck(role, True, _("the embedded offline model")))
            elif role == "embedding":
                found.append(await check_embedder(self.embedder()))
            else:
                try:
                    found.append(await check(self.model(role), role))
                except ModelError as error:
                    found.append(EndpointCheck(role, False, error.title))
        return tuple(found)

    async def close(self) -> None:
        """Closes connections."""
        for model in self._models.values():
            if (close := getattr(model, "aclose", None)) is not None:
                await close()


def _key(endpoint: Endpoint) -> str | None:
    """The key of an endpoint; None when it names none. Raises ModelError(NOT_CONFIGURED) for one that is not there."""
    key = find_key(endpoint)
    if key is None and (name := endpoint.api_key_env or endpoint.secret):
        raise ModelError(
            ModelFault.NOT_CONFIGURED,
            _("The key of {model} is not there.").format(model=endpoint.model),
            _("{name} is set neither in the environment nor in your secrets file. Nothing was sent.").format(name=name),
            _("Set {name} and start again; `flowcabal-tui config path` shows where the files are.").format(name=name),
        )
    return key


def _priority(request: ModelRequest) -> float:
    """What a running node waits for goes before other nodes; work in the background goes after them."""
    return math.inf if request.purpose.startswith(("monitor.", "context.")) else 0.0


class _Booked:
    """A model whose whole answers wait for a place, ask the budget first, and are booked."""

    def __init__(self, desk: ModelDesk, role: Role, model: ModelPort, limits: Limits) -> None:
        self._desk, self._role, self._model, self._limits = desk, role, model, limits

    @property
    def endpoint(self) -> Endpoint:
        return self._model.endpoint

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        return self._model.stream(request)

    async def answer(self, request: ModelRequest) -> Answer:
        async with self._place(request):
            answer = await self._model.answer(request)
            await self._book(request, answer)
        return answer

    async def structured(self, request: ModelRequest, shape: type[T]) -> tuple[T, Answer]:
        async with self._place(request):
            value, answer = await self._model.structured(request, shape)
            await self._book(request, answer)
        return value, answer

    async def _book(self, request: ModelRequest, answer: Answer) -> None:
        """A cancel comes too late for it: the answer is paid for, and who asked may keep it."""
        book = self._desk.book if answer.summed else self._desk.spent
        await whole(book(self._role, request.purpose, self.endpoint, request, answer.usage))

    @asynccontextmanager
    async def _place(self, request: ModelRequest) -> AsyncIterator[None]:
        """A place for one call, to be booked before another has it. Raises BudgetExceeded.

        The budget is asked after the wait: the calls before this one may have reached the cap. So may a try that
        failed, which is booked before it is repeated.
        """
        async with self._limits.slot(self.endpoint, _priority(request)):
            self._desk.require_budget()
            arrived: list[str] = []
            holder = ARRIVED.set(arrived)
            outside = BEFORE_REPEATING.set(partial(self._before_repeating, request, arrived))
            try:
                yield
            except (ModelError, BudgetExceeded, asyncio.CancelledError) as error:
                await whole(self._lost(request, arrived, getattr(error, "usage", None)))
                raise
            finally:
                BEFORE_REPEATING.reset(outside)
                ARRIVED.reset(holder)

    async def _before_repeating(self, request: ModelRequest, arrived: list[str], usage: Usage | None) -> None:
        await self._lost(request, arrived, usage)
        self._desk.require_budget()

    async def _lost(self, request: ModelRequest, arrived: list[str], usage: Usage | None) -> None:
        """Books what the provider counted of a try without an answer, or an estimate of what arrived."""
        if usage is not None:
            await self._desk.book(self._role, request.purpose, self.endpoint, request, usage)
        elif arrived:
            await self._desk.cut(self._role, request.purpose, self.endpoint, request, "".join(arrived))
        arrived.clear()
