"""What of the requests of a session a provider's cache of prompts can hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flowcabal_tui.models.tokens import TokenEstimator

LEAST: Final = 1_024
"""Tokens of the shortest beginning that providers keep."""
count: Final = TokenEstimator("").count


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as a provider reads it, tools first; `gates` is how many human decisions came before it."""

    model: str
    text: str
    gates: int = 0

    @property
    def tokens(self) -> int:
        return count(self.text)


def sent(body: Mapping[str, Any], gates: int = 0) -> Sent:
    """The request in the order in which prefixes are compared: tools or schema, then the messages."""
    head = [json.dumps(body[key], ensure_ascii=False) for key in ("tools", "response_format") if body.get(key)]
    said = [f"[{message['role']}]\n{message['content']}" for message in body["messages"]]
    return Sent(body["model"], "\n".join((*head, *said)), gates)


def cached_tokens(requests: Sequence[Sent], pause: float = 0, life: float = 300) -> list[int]:
    """Of each request the tokens that an earlier one left in the cache; what has expired at a gate is not counted."""
    found = []
    for number, request in enumerate(requests):
        alive = [
            each.text
            for each in requests[:number]
            if each.model == request.model and (request.gates - each.gates) * pause < life
        ]
        longest = max((count(request.text[: _common(text, request.text)]) for text in alive), default=0)
        found.append(longest if longest >= LEAST else 0)
    return found


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
