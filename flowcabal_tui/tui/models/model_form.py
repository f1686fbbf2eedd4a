"""The form of a model: a provider, its model, address and key, prices and window; one call tries it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar, Final

from pydantic import ValidationError
from textual import on
from textual.app import App
from textual.binding import Binding, BindingType
from textual.widgets import Input, Select

from flowcabal_tui.domain.addresses import host_of
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, SettingsError
from flowcabal_tui.domain.providers import DIALECTS
from flowcabal_tui.domain.text import clean, clean_line
from flowcabal_tui.locale import _, mark
from flowcabal_tui.models.presets import OFFLINE, OTHER, PRESETS, Preset, preset_of
from flowcabal_tui.models.registry import usable_key
from flowcabal_tui.project.words import price_lines, sum_words
from flowcabal_tui.settings.secrets import read_secrets
from flowcabal_tui.tui.shared.form import Field, FormScreen, Typed, Unreadable
from flowcabal_tui.tui.shared.spending import agrees_to_pay
from flowcabal_tui.tui.shared.trouble import attempt
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen
from flowcabal_tui.tui.widgets.help import HelpData
from flowcabal_tui.tui.widgets.wait import awaited

_PRICES: Final = {
    "price_in": mark("Price in"), "price_out": mark("Price out"), "price_cached": mark("Price cached"),
}  # fmt: skip
_NUMBERS: Final = {"context_window": mark("Window"), "max_output": mark("Longest answer")}
_ALL: Final = (*PRESETS, *OTHER, OFFLINE)


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The result of the form. `key` is the typed key ("": none), which is stored in the secrets file as
    `endpoint.secret`."""

    endpoint: Endpoint
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """Names of existing keys: entries of the secrets file, and variables of the environment."""

    secrets: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()

    @classmethod
    def now(cls) -> KnownKeys:
        """The current names; none from a secrets file that cannot be read, which is reported when a key is stored."""
        variables = frozenset(each.key_env for each in PRESETS if os.environ.get(each.key_env, "").strip())
        with suppress(SettingsError):
            return cls(frozenset(read_secrets()), variables)
        return cls(frozenset(), variables)


class ModelForm(FormScreen[ModelChoice]):
    """Returns the model once the user has agreed to its use; after a no, the form stays as it is. The caller stores
    it."""

    help = HelpData(
        mark("Model"),
        mark("Choose a provider: its address, a model and the currency of its prices are filled in. The key goes "
             "into your secrets.toml, which only you can read, never into the book. Prices are for a million "
             "tokens; without them, costs are unknown. F5 makes one small call, after you confirm its cost."),
    )  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f5", "try_it", mark("Try"), priority=True, id="model-form.try",
                tooltip=mark("One small call with these settings; you confirm its cost first."))
    ]  # fmt: skip

    def __init__(
        self,
        title: str,
        endpoint: Endpoint | None,
        keys: KnownKeys,
        *,
        embeds: bool = False,
        may_use: Callable[[ModelChoice], Awaitable[bool]] | None = None,
    ) -> None:
        """`embeds`: the model makes vectors; `keys` are the existing ones; `may_use` asks for the user's agreement,
        None: for every model on another machine."""
        self._base, self._keys_known, self._embeds, self._may_use = endpoint, keys, embeds, may_use
        self._preset = preset_of(endpoint)
        super().__init__(title, self._rows(), self._choice)

    def keys_words(self) -> str:
        """The keys of this form."""
        return _("F5: try it   Ctrl+s: apply   Esc: cancel")

    def _rows(self) -> tuple[Field, ...]:
        base, preset = self._base, self._preset
        offered = [each for each in _ALL if not self._embeds or (each.provider == "openai" and _model(each, True))]
        offered = [*offered, *([OTHER[0]] if OTHER[0] not in offered else [])]
        preset = self._preset = preset if preset in offered else offered[0]
        numbers = {} if self._embeds else _NUMBERS
        prices = {"price_in": _PRICES["price_in"]} if self._embeds else _PRICES
        return (
            Field("preset", _("Provider"), preset.name, choices=tuple((each.name, _label(each)) for each in offered)),
            Field("model", _("Model"), base.model if base else _model(preset, self._embeds)),
            Field("base_url", _("Address"), base.base_url if base else preset.base_url, preset.address),
            Field("key", _("Key"), "", self._key_hint(), is_key=True),
            *(
                Field(name, _(words), _number(getattr(base, name, None)), _("for a million tokens; empty: unknown"))
                for name, words in prices.items()
            ),
            Field("currency", _("Currency"), base.currency if base else preset.currency),
            *(
                Field(name, _(words), _number(getattr(base, name, None)), _("tokens; empty: the server's own value"))
                for name, words in numbers.items()
            ),
        )

    def _key_hint(self) -> str:
        """The place of the key that is used when none is typed."""
        names = self._key_names()
        if names.get("api_key_env") in self._keys_known.variables:
            return _("from the environment: {name}").format(name=names["api_key_env"])
        if names.get("secret") in self._keys_known.secrets:
            return _("kept in secrets.toml; type to replace it")
        return _("none is needed") if self._preset.local else _("goes into your secrets.toml")

    def _key_names(self) -> Mapping[str, str]:
        """The names under which a key would be found, unless one is typed."""
        base, preset = self._base, self._preset
        if base is not None and preset == preset_of(base):
            return {"api_key_env": base.api_key_env, "secret": base.secret}
        if preset.local:
            return {}
        if preset.secret in self._keys_known.secrets and preset.key_env not in self._keys_known.variables:
            return {"secret": preset.secret}
        return {"api_key_env": preset.key_env}

    @on(Select.Changed, "#field-preset")
    def fill(self, event: Select.Changed) -> None:
        """Fills in the model, address and currency of another provider."""
        preset = next((each for each in _ALL if each.name == event.value), None)
        if preset is None or preset == self._preset:
            return
        self._preset = preset
        filled = {"model": _model(preset, self._embeds), "base_url": preset.base_url, "currency": preset.currency}
        for name, words in {**filled, "key": "", **dict.fromkeys(_PRICES, "")}.items():
            for line in self.query(f"#field-{name}").results(Input):
                line.value = words
        self.query_one("#field-base_url", Input).placeholder = preset.address
        self.query_one("#field-key", Input).placeholder = self._key_hint()
        self.say("")

    def _choice(self, typed: Typed) -> ModelChoice:
        """Raises Unreadable."""
        if self._preset == OFFLINE:
            return ModelChoice(Endpoint(provider="offline", model="offline"))
        values: dict[str, object] = {name: typed.text(name) for name in ("model", "base_url", "currency")}
        values |= {name: _price(typed.text(name), _(words)) for name, words in _PRICES.items() if name in typed.fields}
        values |= {name: _whole(typed.text(name), _(words)) for name, words in _NUMBERS.items() if name in typed.fields}
        values |= {"provider": self._preset.provider, "api_key_env": "", "secret": "", **self._key_names()}
        if not values["model"]:
            raise Unreadable(_("Write the name of the model as its provider spells it."))
        base = self._base if self._base is not None and self._preset == preset_of(self._base) else None
        key = _key(typed.text("key"))
        try:
            known = base.model_dump() if base is not None else {}
            endpoint = Endpoint.model_validate({**known, **values})
        except ValidationError as error:
            wrong = ", ".join(str(each["loc"][0]) for each in error.errors() if each["loc"])
            raise Unreadable(_("These settings cannot be used: {names}.").format(names=wrong)) from error
        if not (host := host_of(endpoint.address)) or not endpoint.address.startswith(("http://", "https://")):
            raise Unreadable(_("Write the address with https://, as the provider gives it."))
        if not key:
            return ModelChoice(endpoint)
        secret = host if self._preset in OTHER else self._preset.secret
        return ModelChoice(endpoint.model_copy(update={"api_key_env": "", "secret": endpoint.secret or secret}), key)

    def action_take(self) -> None:
        """Returns the model if the user agrees, or shows the error."""
        if (choice := self.typed()) is not None:
            attempt(self, self._take(choice), group="take", exclusive=True)

    async def _take(self, choice: ModelChoice) -> None:
        if await (self._may_use or self._agrees)(choice):
            self.dismiss(choice)

    async def _agrees(self, choice: ModelChoice) -> bool:
        if choice.endpoint.is_local or choice.endpoint.provider == "offline":
            return True
        answer: bool = await self.app.push_screen_wait(ConfirmScreen(*use_question(choice)))
        return answer

    def action_try_it(self) -> None:
        """Makes one call, after the user agreed to its cost."""
        if (choice := self.typed()) is not None:
            attempt(self, self._try(choice), group="try", exclusive=True)

    async def _try(self, choice: ModelChoice) -> None:
        endpoint = choice.endpoint
        if endpoint.provider == "offline":
            self.say(_("The offline model is built in and needs no call."))
            return
        if not await may_call(self.app, choice, embeds=self._embeds):
            return
        from flowcabal_tui.project.models.trying import try_model  # httpx is not needed to fill in a form

        asking = _("{model} is being asked ...").format(model=clean_line(endpoint.model))
        checked = await awaited(self.app, asking, try_model(endpoint, choice.key, embeds=self._embeds))
        if checked is None:
            self.say(_("The call was stopped."))
            return
        words = clean(checked.message)
        self.say(_("✓ {words} ({n} s)").format(words=words, n=f"{checked.seconds:.1f}") if checked.ok else f"! {words}")


def use_question(choice: ModelChoice) -> tuple[str, str]:
    """Title and text of the question before the first use of a model: its price, and the data sent to each host."""
    host = host_of(choice.endpoint.address)
    words = [_("Every call costs money, and your manuscript is sent to its provider.")]
    for name, exists in _keys_of(choice):
        sent = _("The key {name} is sent to {host}.")
        later = _("There is no key {name} yet. As soon as there is one, it is sent to {host}.")
        words.append((sent if exists else later).format(name=clean_line(name), host=host))
    return clean_line(_("Use {model} at {host}?").format(model=choice.endpoint.model, host=host)), "\n".join(words)


def _keys_of(choice: ModelChoice) -> Iterator[tuple[str, bool]]:
    """The names of keys that the host may get, and whether there is such a key."""
    endpoint = choice.endpoint
    if endpoint.api_key_env:
        yield endpoint.api_key_env, bool(os.environ.get(endpoint.api_key_env))
    if endpoint.secret:
        yield endpoint.secret, bool(choice.key) or endpoint.secret in KnownKeys.now().secrets


def call_question(choice: ModelChoice, *, embeds: bool = False) -> tuple[str, list[str], list[str]]:
    """Title, price and text of the question before the call: its address and key; no price: it is free."""
    from flowcabal_tui.project.models.trying import most_cost

    endpoint, host = choice.endpoint, host_of(choice.endpoint.address)
    name = next((name for name, exists in _keys_of(choice) if exists), "")
    key = _("The key {name} is sent to {host}.").format(name=clean(name), host=host) if name else _("No key is sent.")
    words = [_("Sends one short test request; no text of your book is sent."), key]
    title = _("One call to {host}?").format(host=host)
    if endpoint.is_local and endpoint.free_as("embedding" if embeds else "user"):
        return title, [], [_("It costs nothing: the server is on this machine."), *words]
    spent = sum_words([(most_cost(endpoint, embeds=embeds), endpoint.currency)])
    return title, price_lines(clean_line(endpoint.model), spent, spent), words


async def may_call(app: App[Any], choice: ModelChoice, *, embeds: bool = False) -> bool:
    """Asks before the call; returns the writer's answer."""
    title, price, words = call_question(choice, embeds=embeds)
    if price:
        return await agrees_to_pay(app, title, price, *words)
    agreed: bool = await app.push_screen_wait(ConfirmScreen(title, "\n".join(words)))
    return agreed


def _model(preset: Preset, embeds: bool) -> str:
    return preset.embedding if embeds else preset.model


def _label(preset: Preset) -> str:
    if preset == OFFLINE:
        return _("Offline model, for trying out")
    if preset in OTHER:
        return _(DIALECTS[preset.provider].words)
    return _("{name}, on this machine").format(name=preset.name) if preset.local else preset.name


def _number(value: Decimal | int | None) -> str:
    return "" if value is None else f"{value:f}" if isinstance(value, Decimal) else str(value)


def _key(typed: str) -> str:
    try:
        return usable_key(typed) or ""
    except ModelError as error:
        raise Unreadable(error.title) from error


def _price(typed: str, name: str) -> Decimal | None:
    try:
        price = Decimal(typed) if typed else None
    except InvalidOperation:
        price = Decimal(-1)
    if price is not None and not (price.is_finite() and 0 <= price < 1_000_000):
        raise Unreadable(_("{name}: write a number such as 2 or 0.28.").format(name=name))
    return price


def _whole(typed: str, name: str) -> int | None:
    digits = typed.replace(",", "").replace("，", "").replace(" ", "")
    scale = {"k": 1_000, "m": 1_000_000, "万": 10_000}.get(digits[-1:].lower(), 1)
    digits = digits[:-1] if scale > 1 else digits
    if not typed:
        return None
    if not (digits.isascii() and digits.isdigit() and 0 < int(digits[:12]) * scale < 10**9):
        raise Unreadable(_("{name}: write a whole number of tokens, such as 128000 or 128k.").format(name=name))
    return int(digits) * scale
