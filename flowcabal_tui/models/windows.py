"""A model's window in tokens, as reported by servers: in their list of models, in a special answer, or in the error for
an overflow.

OpenAI's own list has no such field. vLLM: `max_model_len`; OpenRouter, Together: `context_length`; Groq:
`context_window`; llama.cpp: `meta.n_ctx`, older ones `/props`; LM Studio: `/api/v0/models`; Ollama: `/api/ps`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from flowcabal_tui.domain.late_pattern import late

LEAST, MOST = 256, 100_000_000
"""Limits of a plausible context window in tokens."""
LOCAL_PATHS: Final = ("/props", "/api/v0/models", "/api/ps")
"""Addresses on this machine to ask where the list has no window; all are read only."""
_FIELDS: Final = (
    "loaded_context_length",
    "n_ctx",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "max_context_window",
    "num_ctx",
)
"""Most reliable first: the loaded size before the greatest possible one."""
_INSIDE: Final = ("meta", "top_provider", "default_generation_settings")
_NUMBER: Final = r"(\d[\d,]{2,11})"
_IN_WORDS: Final = tuple(
    late(pattern, re.IGNORECASE)
    for pattern in (
        rf"limit:[^>]{{0,40}}>\s*{_NUMBER}",  # Anthropic: exceed context limit: 190000 + 20000 > 200000
        rf"(?:context|model)(?: token)? (?:length|size|window|limit)[^.\d]{{0,20}}(?:is|of|:|\()\s*(?:only )?{_NUMBER}",
        rf"tokens?\s*>\s*{_NUMBER}",  # and: prompt is too long: 210000 tokens > 200000 maximum
        rf"token limit:?\s*{_NUMBER}",
        rf"(?:context|prompt|input)[^.\d]{{0,40}}(?:maximum|max|limit)[^.\d]{{0,20}}{_NUMBER}",
        rf"input length should be \[\d+,\s*{_NUMBER}\]",
        rf"上下文[^\d]{{0,16}}{_NUMBER}",
    )
)


def listed_window(body: bytes, model: str) -> int | None:
    """The window of `model` in an answer of one of the addresses; None where it is missing."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    rows = value
    if isinstance(value, dict):
        rows = next((value[name] for name in ("data", "models") if isinstance(value.get(name), list)), [value])
    named = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    fitting = [row for row in named if model in _names(row)]
    chosen = fitting or (named if len(named) == 1 else [])
    return _window_of(chosen[0]) if chosen else None


def refused_window(body: str) -> int | None:
    """The window stated in the error for an overflow; None if it states none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    error = value.get("error", value) if isinstance(value, dict) else None
    if isinstance(error, dict) and (found := _window_of(error)) is not None:
        return found
    return next((number for each in _IN_WORDS if (match := each.search(body)) and (number := _valid(match[1]))), None)


def _names(row: Mapping[str, Any]) -> set[str]:
    aliases = row.get("aliases")
    return {str(row.get(name, "")) for name in ("id", "model", "name")} | set(
        map(str, aliases) if isinstance(aliases, list) else ()
    )


def _window_of(row: Mapping[str, Any]) -> int | None:
    places = [row, *(row[name] for name in _INSIDE if isinstance(row.get(name), dict))]
    found = [number for place in places for name in _FIELDS if (number := _valid(place.get(name)))]
    return found[0] if found else None


def _valid(given: object) -> int | None:
    if isinstance(given, bool) or not isinstance(given, int | str):
        return None
    try:
        number = int(str(given).replace(",", ""))
    except ValueError:
        return None
    return number if LEAST <= number <= MOST else None
