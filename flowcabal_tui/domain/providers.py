"""The dialects of model servers. `models/<name>.py` implements each but the embedded one: `MODEL` and `base_url`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Final, Literal

from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import mark

Provider = Literal["openai", "anthropic", "offline"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The properties of a dialect that are known without its module."""

    address: str
    """The address when the settings name none."""
    words: str = ""
    """Its name in a form; not translated yet."""
    answer_limit: int | None = None
    """Tokens of an answer when neither the request nor the endpoint sets a limit; None: the request has no limit."""
    cache_write: Decimal = Decimal(1)
    """The price of a token that is written into the cache, as a multiple of the price of input."""


DIALECTS: Final[Mapping[Provider, Dialect]] = {
    "openai": Dialect("https://api.openai.com/v1", mark("another, OpenAI-compatible")),
    # its documentation, "Prompt caching": 1.25 of the price of input for entries that live five minutes
    "anthropic": Dialect(
        "https://api.anthropic.com",
        mark("another, Anthropic-compatible"),
        answer_limit=8_192,
        cache_write=Decimal("1.25"),
    ),
    "offline": Dialect("", answer_limit=8_192),
}
SPOKEN: Final = tuple(name for name in DIALECTS if name != "offline")
"""The dialects that are spoken over HTTP."""
