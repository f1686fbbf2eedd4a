"""The models of a project by role: built on first use, their whole answers paid once and booked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from flowcabal_tui.agents.paid import PaidOnce
from flowcabal_tui.domain.addresses import is_loopback
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.model_calls import ROLES, EndpointCheck, Role, StructuredMode
from flowcabal_tui.domain.model_ports import EmbeddingPort, ModelPort
from flowcabal_tui.domain.windows import LEAST_CONTEXT, context_room
from flowcabal_tui.locale import _
from flowcabal_tui.models.ladder import Ladder
from flowcabal_tui.models.lexical import LexicalEmbedder
from flowcabal_tui.models.registry import check, check_embedder, check_structured, make_embedder, make_model
from flowcabal_tui.models.tokens import Calibration, TokenEstimator
from flowcabal_tui.models.vocabularies import ExactTokens, load, on_disk, vocabulary_of
from flowcabal_tui.project.models.booked import BookedModel
from flowcabal_tui.project.models.spending import CALIBRATION, Spending
from flowcabal_tui.protocol.base import Event
from flowcabal_tui.runner.limits import Limits
from flowcabal_tui.settings.project_file import ProjectSettings
from flowcabal_tui.store import Store

if TYPE_CHECKING:
    from flowcabal_tui.models.http_model import HttpModel

Learned = Literal["listed", "refused"]
"""The source of a known window: the server's list of models, or the error for a prompt that was too long."""

MODES: Final = "structured modes"
WINDOWS: Final = "windows"


class ModelRoles:
    """Implements the runner's `ModelsPort`. Lives on the engine's loop."""

    def __init__(
        self,
        settings: Callable[[], ProjectSettings],
        store: Store,
        limits: Limits,
        emit: Callable[[Event], None],
        key: Callable[[str, Endpoint], str | None],
        clock: Callable[[], datetime],
        *,
        pace: float | None = None,
    ) -> None:
        """`settings` returns the current ones; `key` returns the key for a call to the endpoint of a table; it raises
        ModelError(NOT_CONFIRMED) until the user has confirmed.

        `pace` is in seconds per piece of the offline model's text; None: its default.
        """
        self._now, self._store, self._limits, self._pace = settings, store, limits, pace
        self._key = key
        self._models: dict[Endpoint, ModelPort] = {}
        self._paid: dict[Endpoint, PaidOnce] = {}
        self._modes: dict[str, dict[StructuredMode, bool]] = {}
        self._windows: dict[str, dict[Learned, int]] = {}
        self._queried: set[str] = set()
        self.counter = TokenEstimator(self.name("user"))
        self.spending = Spending(lambda: self._settings.budget, store, self.counter, emit, clock)

    async def begin(self) -> None:
        """Loads the spending and the learned properties of endpoints."""
        await self.spending.begin()
        self._modes = await self._store.values.learned(MODES, dict[str, dict[StructuredMode, bool]]) or {}
        self._windows = await self._store.values.learned(WINDOWS, dict[str, dict[Learned, int]]) or {}
        self.counter.exact = await self._vocabulary()

    @property
    def _settings(self) -> ProjectSettings:
        return self._now()

    async def counter_at(self, generation: Generation, *, remember: bool) -> TokenEstimator:
        """The token counter as it was when a run first read this generation, so that later calibration changes no
        context."""
        key = f"{CALIBRATION}/{generation}"
        known = await self._store.values.learned(key, dict[str, Any])
        if not known:
            known = asdict(self.counter.calibration) | {"counted_by": self.counter.counted_by}
            if remember:
                await self._store.values.put(key, known)
        calibration = Calibration.stored(known)
        exact = self.counter.exact if known.get("counted_by") == self.counter.counted_by else None
        return TokenEstimator(self.name("user"), calibration, exact)

    async def _vocabulary(self) -> ExactTokens | None:
        """The vocabulary of the writing model, where it is on disk."""
        found = vocabulary_of(self.name("user"))
        return await asyncio.to_thread(load, found) if found and on_disk(found) else None

    def name(self, role: Role) -> str:
        """The model's name; "" when none is configured."""
        chosen = self._settings.models.of(role)
        return chosen.model if chosen else ""

    def endpoint(self, role: Role) -> Endpoint | None:
        """The endpoint of a role, with the window learned for it; None when it is not configured."""
        chosen = self._settings.models.of(role)
        return self._with_window(chosen) if chosen else None

    def _with_window(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint with its context window: the configured one, or else the smallest one that was learned."""
        learned = self._windows.get(endpoint.identity)
        if endpoint.context_window is not None or not learned:
            return endpoint
        return endpoint.model_copy(update={"context_window": min(learned.values())})

    async def learn_windows(self, *, again: bool = False) -> None:
        """Queries the servers of the writing roles for the windows of their models, each once per session or when
        `again` is set.

        Costs nothing. Skips endpoints whose window is configured or that the user has not confirmed.
        """
        queried = set() if again else self._queried
        for role in ROLES[:2]:
            endpoint = self._settings.models.of(role)
            if endpoint is None or endpoint.provider == "offline" or endpoint.context_window is not None:
                continue
            if endpoint.identity in queried:
                continue
            queried.add(endpoint.identity)
            self._queried.add(endpoint.identity)
            try:
                ask = getattr(self.model(role), "window", None)
            except ModelError:
                continue
            if ask is not None and (found := await ask()) is not None:
                known = self._windows.get(endpoint.identity, {})
                if known.get("listed") != found:  # another server or other settings: the refusal no longer counts
                    await self._remember_window(endpoint, {"listed": found})

    async def _remember_window(self, endpoint: Endpoint, known: dict[Learned, int]) -> None:
        self._windows[endpoint.identity] = known
        await self._remember(WINDOWS, self._windows)

    async def _remember(self, key: str, value: object) -> None:
        """Stores learned values of endpoints, unless the book is open read-only."""
        if not self._store.read_only:
            await self._store.values.put(key, value)

    def context_budget(self) -> int:
        """The highest number of tokens that the Context agent may add: less than configured if the model's window is
        small."""
        wanted, endpoint = self._settings.budget.context_tokens, self.endpoint("user")
        if endpoint is None or endpoint.context_window is None:
            return wanted
        return max(0, min(wanted, context_room(endpoint.context_window, endpoint.max_output)))

    def small_window(self) -> str:
        """The warning before a run whose model leaves the context fewer than LEAST_CONTEXT tokens; else ""."""
        endpoint, budget = self.endpoint("user"), self.context_budget()
        wanted = self._settings.budget.context_tokens
        if endpoint is None or endpoint.context_window is None or budget >= min(LEAST_CONTEXT, wanted):
            return ""
        words = _(
            "The window of {model} has {window} tokens: {n} are left for the context, so little of the book goes in. "
            "Choose a model with a larger window, or start its server with more."
        )
        return words.format(model=endpoint.model, window=f"{endpoint.context_window:,}", n=f"{budget:,}")

    def is_offline(self, role: Role = "user") -> bool:
        """True when the role uses the embedded model."""
        endpoint = self.endpoint(role)
        return endpoint is not None and endpoint.provider == "offline"

    @property
    def all_free(self) -> bool:
        """True when every model that a node can name is free, and both roles have one."""
        tables = self._settings.models.tables
        writing = [endpoint for table, endpoint in tables.items() if table != "embedding"]
        return self.endpoint("user") is not None and all(endpoint.is_free for endpoint in writing)

    def model(self, role: Role, name: str | None = None) -> ModelPort:
        """The model of a role; with a `name` another configured one, else one of that name at the same place.

        Raises ModelError(NOT_CONFIGURED or NOT_CONFIRMED).
        """
        table, chosen = self._settings.models.called(role, name)
        if chosen is None:
            raise ModelError(
                ModelFault.NOT_CONFIGURED,
                _("No model is set for the role {role}.").format(role=role),
                _("Nothing was sent."),
                _("See `flowcabal-tui models PROJECT` for what is found here, or write it into flowcabal.toml."),
            )
        endpoint = self._with_window(chosen)
        key = self._key(table, endpoint)  # also for a model that is there already: the answer may have changed
        if endpoint not in self._models:
            self._models[endpoint] = self._offline() if endpoint.provider == "offline" else self._http(endpoint, key)
        return self._models[endpoint]

    def _http(self, endpoint: Endpoint, key: str | None) -> HttpModel:
        """A model that remembers over sessions which ways to ask for a structured answer have an effect."""
        model = make_model(endpoint, _named(endpoint, key))
        model.ladder = Ladder(endpoint, self._modes.get(endpoint.identity))

        async def remember() -> None:
            self._modes[endpoint.identity] = dict(model.ladder.known)
            await self._remember(MODES, self._modes)

        async def refused(window: int) -> None:
            known = self._windows.get(endpoint.identity, {})
            await self._remember_window(endpoint, {**known, "refused": window})

        model.on_learned, model.on_refused = remember, refused
        return model

    def _offline(self) -> ModelPort:
        from flowcabal_tui.models.offline import OfflineModel  # a book is opened sooner without it

        return OfflineModel() if self._pace is None else OfflineModel(pace=self._pace)

    def booked(self, role: Role) -> ModelPort:
        """The model of a role whose whole answers are limited by the cap and booked. Raises the errors of `model`."""
        return BookedModel(self.spending, role, self.model(role), self._limits)

    def agent(self) -> PaidOnce:
        """The agents' model with stored answers. Raises ModelError(NOT_CONFIGURED)."""
        return self.paid("agent")

    def paid(self, role: Role) -> PaidOnce:
        """The model of a role with stored answers. Raises the errors of `model`."""
        booked = self.booked(role)
        if booked.endpoint not in self._paid:
            self._paid[booked.endpoint] = PaidOnce(booked, self._store.answers)
        return self._paid[booked.endpoint]

    def embedder(self) -> EmbeddingPort:
        """The embedding model, or the lexical one that needs no network. Raises ModelError(NOT_CONFIRMED)."""
        endpoint = self.endpoint("embedding")
        if endpoint is None or endpoint.provider == "offline":
            return LexicalEmbedder()
        return make_embedder(endpoint, self._key("embedding", endpoint), paid=partial(self.spending.embedded, endpoint))

    def paid_embedding(self) -> Endpoint | None:
        """The endpoint for vectors; None when they cost nothing because they are computed on this machine."""
        endpoint = self.endpoint("embedding")
        if endpoint is None or endpoint.provider == "offline":
            return None
        return None if endpoint.price_in is None and is_loopback(endpoint.base_url) else endpoint

    def require_vector_budget(self) -> None:
        """Like `Spending.require_budget`, if vectors have a price."""
        endpoint = self.endpoint("embedding")
        if endpoint is not None and endpoint.price_in is not None:
            self.spending.require_budget()

    async def check_all(self) -> tuple[EndpointCheck, ...]:
        """Makes one small call to each configured model, and determines their windows again."""
        await self.learn_windows(again=True)
        found: list[EndpointCheck] = []
        answered: dict[ModelPort, EndpointCheck] = {}
        for role in ROLES:
            endpoint = self.endpoint(role)
            if endpoint is None:
                found.append(EndpointCheck(role, role == "embedding", _("not set")))
            elif endpoint.provider == "offline":
                found.append(EndpointCheck(role, True, _("the embedded offline model")))
            else:
                try:
                    if role == "embedding":
                        found.append(await check_embedder(self.embedder()))
                        continue
                    model = self.model(role)
                    if model not in answered:
                        answered[model] = await check(model, role)
                    checked = replace(answered[model], role=role)
                    if role == "agent":
                        if (ladder := getattr(model, "ladder", None)) is not None:
                            ladder.known.clear()  # tried again: the server may have changed
                        checked = await check_structured(model, checked)
                    found.append(self._with_window_detail(checked))
                except ModelError as error:
                    advice = error.advice if error.fault is ModelFault.NOT_CONFIRMED else ""
                    found.append(EndpointCheck(role, False, error.title, advice=advice))
        return tuple(found)

    def _with_window_detail(self, checked: EndpointCheck) -> EndpointCheck:
        endpoint = self.endpoint(checked.role)
        window = endpoint.context_window if endpoint else None
        words = _("{n} tokens").format(n=f"{window:,}") if window else _("unknown")
        return replace(checked, details=(*checked.details, ("window", words)))

    async def close(self) -> None:
        """Closes connections."""
        for model in self._models.values():
            if (close := getattr(model, "aclose", None)) is not None:
                await close()


def _named(endpoint: Endpoint, key: str | None) -> str | None:
    """The key. Raises ModelError(NOT_CONFIGURED) when the endpoint names one that is not there."""
    if key is None and (name := endpoint.api_key_env or endpoint.secret):
        raise ModelError(
            ModelFault.NOT_CONFIGURED,
            _("The key of {model} is missing.").format(model=endpoint.model),
            _("{name} is not set in the environment or in your secrets file. Nothing was sent.").format(name=name),
            _("Set {name} and start again; `flowcabal-tui config path` shows where the files are.").format(name=name),
        )
    return key
