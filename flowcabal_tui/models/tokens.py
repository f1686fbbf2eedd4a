"""Estimates the tokens of a text: by script, calibrated by the provider's counts.

A Han character counts 1; of other text a word of up to 12 letters counts 1.1, three digits 1, a punctuation mark and
any other character 1.2. Both parts are weighted by the family of the model. The sum is scaled by a factor: the first
reported usage sets it, and the nth corrects it with weight 1/n, but at least 0.2. Measured on novels in Chinese and in
English with two vocabularies of `tiktoken`, the estimate is 7 to 18 % off on average for a first call, and 2 % (95 of
100 times less than 7 %) after five.
"""

from __future__ import annotations

import json
import math
import re
import string
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, Final, Protocol

from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.model_calls import ModelRequest, ToolCall, Usage
from flowcabal_tui.domain.value_class import dataclass

_HAN: Final = late(
    r"[\u2e80-\u2fff\u3005-\u3007\u3040-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af]+"
)
_HAN_MARKS: Final = late(r"[\u3000-\u3004\u3008-\u303f\uff00-\uffef\u2013-\u2026]+")
_WORDS: Final = late(r"[A-Za-z\u00c0-\u024f\u0370-\u052f]{1,12}")  # a longer word is at least two
_MARKS: Final = string.punctuation.encode()
_BEYOND_ASCII: Final = late(r"[^\x00-\x7f]+")
_OTHERS: Final = late(r"[\u00a0-\u00bf\u0530-\u1fff\u2027-\u2e7f\ua000-\uabff\U00010000-\U0001ffff]+")
_DIGITS: Final = late(r"[0-9]{1,3}")
_SENTENCE_END: Final = late(r"(?:[。！？!?…\n]|\.(?=[\s\"'”’）)]))+[”’\"'』」）)]*")

WORD, MARK = 1.1, 1.2
WEIGHT: Final = 0.2
LEAST_FACTOR, MOST_FACTOR = 0.25, 4.0
LEAST_TOKENS: Final = 50
"""A shorter request does not change the factor, since the frame around its messages outweighs the text."""

_FAMILIES: Final = (
    (late(r"deepseek|qwen|qwq|kimi|moonshot|glm|doubao|hunyuan|minimax|ernie", re.IGNORECASE), 0.7, 1.0),
    (late(r"gpt-?(?:4o|4\.1|4\.5|5|oss)|chatgpt|\bo[134](?:-|$)", re.IGNORECASE), 0.87, 1.0),
)
_UNKNOWN: Final = (1.2, 1.1)  # too high rather than too low


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration of a model: the factor on the estimate, and the number of calls behind it."""

    factor: float = 1.0
    samples: int = 0

    @classmethod
    def stored(cls, known: Mapping[str, Any]) -> Calibration:
        """Reads the calibration from an untrusted project file. An impossible factor is ignored, because quotes depend
        on it."""
        factor, samples = known.get("factor"), known.get("samples")
        if isinstance(factor, float | int) and isinstance(samples, int) and samples >= 0:
            return cls(factor, samples) if LEAST_FACTOR <= factor <= MOST_FACTOR else cls()
        return cls()


class Exact(Protocol):
    """A model's own vocabulary."""

    name: str

    def count(self, text: str) -> int: ...


class TokenEstimator:
    """A TokenCounter for one model: by its vocabulary if that is known, else by a calibrated estimate.

    Deterministic; store `calibration` and the name of the vocabulary to continue later.
    """

    def __init__(self, model: str = "", calibration: Calibration | None = None, exact: Exact | None = None) -> None:
        self.exact = exact
        self._han, self._rest = next(((han, rest) for family, han, rest in _FAMILIES if family.search(model)), _UNKNOWN)
        self.calibration = calibration or Calibration()

    def count(self, text: str) -> int:
        """Tokens of `text`; 0 only for "" and blanks."""
        return math.ceil(self._raw(text) * self._factor - 1e-6)

    @property
    def counted_by(self) -> str:
        """The name of the vocabulary; "" for an estimate."""
        return self.exact.name if self.exact else ""

    @property
    def _factor(self) -> float:
        return 1.0 if self.exact else self.calibration.factor

    def count_request(self, request: ModelRequest) -> int:
        """The tokens of everything that is sent."""
        return self.count(_sent(request))

    def learn(self, request: ModelRequest, usage: Usage) -> None:
        """Corrects the factor by the provider's count; the first call replaces the initial guess."""
        if self.exact is not None:
            return
        tokens, raw = usage.input_tokens, self._raw(_sent(request))
        if tokens is None or tokens < LEAST_TOKENS or raw <= 0:
            return
        seen = self.calibration
        weight = max(WEIGHT, 1 / (seen.samples + 1))
        target = min(MOST_FACTOR, max(LEAST_FACTOR, tokens / raw))
        self.calibration = Calibration(seen.factor + weight * (target - seen.factor), seen.samples + 1)

    def truncate(self, text: str, tokens: int) -> str:
        """The longest beginning of `text` within `tokens` that ends at a sentence; at a character if no sentence
        fits."""
        left = tokens / self._factor + 1e-9
        end = 0
        for match in _SENTENCE_END.finditer(text):
            left -= self._raw(text[end : match.end()])
            if left < 0:
                return text[:end] if end else self._first_characters(text[: match.end()], tokens)
            end = match.end()
        if self._raw(text[end:]) <= left:
            return text
        return text[:end] if end else self._first_characters(text, tokens)

    def _first_characters(self, text: str, tokens: int) -> str:
        length = 16
        while length < len(text) and self.count(text[:length]) <= tokens:
            length *= 2
        ends = range(1, min(len(text), length) + 1)
        return text[: bisect_right(ends, tokens, key=lambda end: self.count(text[:end]))]

    def _raw(self, text: str) -> float:
        if self.exact is not None:
            return self.exact.count(text) if text.strip() else 0
        others, runs = (text, 0) if text.isascii() else _HAN.subn(" ", text)  # what remains of Chinese text is short
        han = len(text) - len(others) + runs
        coded = others.encode("utf-8", "surrogatepass")
        marks = len(coded) - len(coded.translate(None, _MARKS))
        beyond = "" if others.isascii() else "".join(_BEYOND_ASCII.findall(others))
        rest = WORD * len(_WORDS.findall(others)) + len(_DIGITS.findall(others))
        rest += MARK * marks + _length(_OTHERS, beyond)
        return self._han * (han + MARK * _length(_HAN_MARKS, beyond)) + self._rest * rest


def _length(runs: re.Pattern[str], text: str) -> int:
    return sum(map(len, runs.findall(text)))


def _sent(request: ModelRequest) -> str:
    parts = [part for message in request.messages for part in (message.content, *_calls(message.tool_calls))]
    parts += [json.dumps((tool.name, tool.description, tool.parameters), ensure_ascii=False) for tool in request.tools]
    parts += [request.earlier] if request.earlier else []
    if request.json_schema is not None:
        parts.append(json.dumps(request.json_schema, ensure_ascii=False))
    return "\n".join(parts)


def _calls(calls: tuple[ToolCall, ...]) -> list[str]:
    return [f"{call.name} {call.arguments}" for call in calls]
