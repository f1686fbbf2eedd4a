"""Providers to choose from in a form: their addresses, the name of a model, and the currency in which they bill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flowcabal_tui.domain.addresses import host_of
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.providers import SPOKEN, Provider
from flowcabal_tui.domain.text import slug
from flowcabal_tui.models.discover import KNOWN, LOCAL

_IN_YUAN: Final = frozenset(("DeepSeek", "Qwen (DashScope)", "Kimi (Moonshot)", "GLM (Zhipu)", "SiliconFlow"))


@dataclass(frozen=True, slots=True)
class Preset:
    """A provider, or a server program on this machine. `embedding` is its model for vectors ("": it has none)."""

    name: str
    provider: Provider = "openai"
    base_url: str = ""
    model: str = ""
    embedding: str = ""
    key_env: str = ""
    currency: str = "USD"
    local: bool = False

    @property
    def secret(self) -> str:
        """The name of its key in the user's secrets file."""
        return slug(self.name.partition("(")[0].strip().lower(), fallback="key")

    @property
    def address(self) -> str:
        """The address of calls, also if the settings leave it to the provider."""
        return Endpoint(provider=self.provider, model="-", base_url=self.base_url).address


OTHER: Final[tuple[Preset, ...]] = tuple(Preset(name, provider=name) for name in SPOKEN)
"""Any other address, by its dialect."""
OFFLINE: Final = Preset("offline", provider="offline", model="offline", local=True)
PRESETS: Final[tuple[Preset, ...]] = (
    *(
        Preset(
            each.name, each.provider, each.base_url, each.model, each.embedding, each.key_env,
            "CNY" if each.name in _IN_YUAN else "USD",
        )
        for each in KNOWN
    ),
    *(Preset(name, base_url=url, local=True) for name, url in LOCAL.items()),
)  # fmt: skip


def preset_of(endpoint: Endpoint | None) -> Preset:
    """The preset with the provider and host of an endpoint, else that of its dialect."""
    if endpoint is None:
        return PRESETS[0]
    if endpoint.provider == "offline":
        return OFFLINE
    same = (
        each
        for each in PRESETS
        if each.provider == endpoint.provider and host_of(each.address) == host_of(endpoint.address)
    )
    return next(same, OTHER[SPOKEN.index(endpoint.provider)])
