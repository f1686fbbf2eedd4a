"""Translates error responses of a provider, or missing ones, into our errors.

Every text of a provider is hostile and may repeat the key: it is cleaned, shortened and freed of keys here.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from flowcabal_tui.domain.addresses import host_of
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _, mark, sentences
from flowcabal_tui.models.cleaning import whole_characters
from flowcabal_tui.models.windows import refused_window

QUOTE_LIMIT: Final = 300
_KEY_LIKE: Final = late(r"\b(?:(?:sk|gsk|xai|key)-[\w*.\-]{6,}|AIza[\w\-]{8,}|Bearer\s+\S+)")
_TOO_LONG: Final = late(
    r"context.{0,20}(length|window|size)|maximum.{0,20}(context|prompt|input)|prompt is too long|too many tokens"
    r"|input.{0,40}(too long|too large|length)|request_too_large|exceed.{0,40}tokens|physical batch size"
    r"|上下文.{0,20}长|输入.{0,20}[过超]长|超过.{0,20}长度",
    re.IGNORECASE,
)
_FILTERED: Final = late(
    r"content_filter|content_policy|data_inspection|inappropriate|(?<!case[- ])sensitive|敏感|违规|内容安全",
    re.IGNORECASE,
)
_NO_MONEY: Final = late(
    r"insufficient_quota|insufficient.{0,10}(balance|credit)|billing|arrear|余额不足|欠费", re.IGNORECASE
)
_BY_STATUS: Final = {
    401: ModelFault.AUTH,
    402: ModelFault.REFUSED,
    403: ModelFault.AUTH,
    404: ModelFault.NOT_FOUND,
    408: ModelFault.SERVER,
    409: ModelFault.SERVER,
    413: ModelFault.CONTEXT_LENGTH,
    425: ModelFault.SERVER,
    429: ModelFault.RATE_LIMIT,
    503: ModelFault.OVERLOADED,
    529: ModelFault.OVERLOADED,
}
_BY_KIND: Final = (
    ("overloaded", ModelFault.OVERLOADED),
    ("rate_limit", ModelFault.RATE_LIMIT),
    ("authentication", ModelFault.AUTH),
    ("permission", ModelFault.AUTH),
    ("not_found", ModelFault.NOT_FOUND),
    ("invalid_request", ModelFault.REFUSED),
)

_UNSEEN: Final = late(r"<(?:script|style).*?(?:</(?:script|style)>|\Z)", re.IGNORECASE | re.DOTALL)
_TAG: Final = late(r"<[^<>]*>")
_CHECK_ADDRESS = mark("Check the address in the settings and that you are online; then run it again.")
_RUN_AGAIN = mark("Run it again; finished work is not paid for twice.")
WORDS: Final[Mapping[ModelFault, tuple[str, str]]] = {
    ModelFault.AUTH: (mark("{host} does not accept the key"), mark("Check the key in the settings or its variable.")),
    ModelFault.NOT_FOUND: (mark("{host} does not know the model or the address"), mark("Check model and base_url.")),
    ModelFault.REFUSED: (mark("{host} refused the request"), mark("Read the reason above and change the settings.")),
    ModelFault.CONTEXT_LENGTH: (
        mark("The prompt is too long for {model}"),
        mark("Lower the context budget, or choose a model with a larger window."),
    ),
    ModelFault.RATE_LIMIT: (
        mark("{host} asks to wait"),
        mark("Wait and run it again, lower the concurrency, or raise max_wait."),
    ),
    ModelFault.OVERLOADED: (mark("{host} is overloaded"), _RUN_AGAIN),
    ModelFault.SERVER: (mark("{host} reported an internal error"), _RUN_AGAIN),
    ModelFault.NETWORK: (mark("The connection to {host} failed"), _CHECK_ADDRESS),
    ModelFault.STALLED: (
        mark("{host} stopped sending"),
        mark("Run it again; raise first_token_timeout or idle_timeout for a slow model."),
    ),
    ModelFault.TIME_LIMIT: (
        mark("The answer of {model} was stopped at its time limit"),
        mark("Raise answer_timeout of the model if it is slow, or lower its max_output; then run it again."),
    ),
    ModelFault.TRUNCATED: (mark("The answer of {model} was cut off in transit"), _RUN_AGAIN),
    ModelFault.PROTOCOL: (
        mark("{host} sent something that cannot be read"),
        mark("Check that base_url and provider fit together; then run it again."),
    ),
    ModelFault.CONTENT_FILTER: (
        mark("The provider's content filter stopped {model}"),
        mark("Change the passage, or choose another model."),
    ),
    ModelFault.EMPTY: (
        mark("{model} sent an empty answer"),
        mark("Run it again; if the model thinks before it writes, raise max_tokens."),
    ),
    ModelFault.SCHEMA: (
        mark("{model} did not answer in the requested format"),
        mark("Read its text as it is, run it again, or choose another model."),
    ),
}


class Failures:
    """Makes the errors of one endpoint. Stores the key only to remove it from texts; never shows it."""

    def __init__(self, base_url: str, model: str, key: str | None) -> None:
        self._host = _host(base_url)
        self._model, self._key = model, key

    def __repr__(self) -> str:
        return f"Failures({self._host!r}, {self._model!r})"

    def quote(self, text: str) -> str:
        """A provider's words, on one line, harmless, without keys and not too long."""
        if self._key:
            text = text.replace(self._key, "***")
        text = _KEY_LIKE.sub("***", " ".join(clean(whole_characters(text)).split()))
        return text if len(text) <= QUOTE_LIMIT else text[: QUOTE_LIMIT - 1] + "…"

    def error(
        self, fault: ModelFault, detail: str = "", *, status: int | None = None, retry_after: float | None = None
    ) -> ModelError:
        """An error in our words; `detail` is quoted."""
        title, advice = WORDS[fault]
        return ModelError(
            fault,
            _(title).format(host=self._host, model=self._model),
            self.quote(detail),
            _(advice),
            status=status,
            retry_after=retry_after,
        )

    def from_response(self, status: int, headers: Mapping[str, str], body: bytes, now: float) -> ModelError:
        """The error of an answer that is not 200; `now` is the wall clock, in seconds."""
        text = _message(body.decode("utf-8", "replace"))
        wait = retry_after(headers, now)
        detail = f"HTTP {status}: {text}" if text else f"HTTP {status}"
        if wait is not None:
            detail = sentences(detail, _("It asks you to wait {seconds} s.").format(seconds=f"{wait:.0f}"))
        error = self.error(_fault_of(status, text), detail, status=status, retry_after=wait)
        return _with_window(error, body.decode("utf-8", "replace"))

    def from_page(self, body: bytes) -> ModelError:
        """The error for an HTML page in place of an answer: a wrong address, or a network that requires a login."""
        return self.error(ModelFault.PROTOCOL, _message(body.decode("utf-8", "replace")))

    def from_event(self, payload: Any) -> ModelError:
        """The error that a provider reports in the middle of a stream."""
        error = payload.get("error", payload) if isinstance(payload, dict) else payload
        text = _message(json.dumps(payload, ensure_ascii=False))
        kind = " ".join(str(error.get(name, "")) for name in ("type", "code")) if isinstance(error, dict) else ""
        number = re.search(r"\b[45]\d\d\b", kind)
        fault = next((fault for name, fault in _BY_KIND if name in kind.lower()), None)
        if fault is None:
            fault = _fault_of(int(number[0]) if number else 500, f"{kind} {text}")
        failure = self.error(fault, f"{text} ({kind.strip()})" if kind.strip() else text)
        return _with_window(failure, json.dumps(payload, ensure_ascii=False))


def _with_window(error: ModelError, body: str) -> ModelError:
    if error.fault is ModelFault.CONTEXT_LENGTH:
        error.window = refused_window(body)
    return error


def bad_address(url: str) -> ModelError:
    """The error of an address that cannot be used; a password in it is not shown."""
    return ModelError(
        ModelFault.NOT_CONFIGURED,
        _("The address of the model cannot be used"),
        clean(url.rpartition("@")[2])[:QUOTE_LIMIT],
        _("base_url must look like https://example.com/v1"),
    )


def require_address(url: str) -> None:
    """Raises ModelError(NOT_CONFIGURED) unless `url` is http or https with an unambiguous host."""
    if not host_of(url) or urlsplit(url).scheme not in ("http", "https") or urlsplit(url).port == 0:
        raise bad_address(url)


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds that the provider asks to wait (RFC 9110, 10.2.3: a number or a date); None if it does not.

    A date is compared with the date of the answer, if there is one, because the clock of this machine may be wrong.
    """
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        else:
            value = headers.get("retry-after", "")
            if re.fullmatch(r"\s*[0-9.]+\s*", value):
                seconds = float(value)
            else:
                sent = _seconds(headers["date"]) if "date" in headers else time.time() if now is None else now
                seconds = _seconds(value) - sent
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, seconds) if seconds < 1e10 else None


def _seconds(date: str) -> float:
    return email.utils.parsedate_to_datetime(date).timestamp()


def _host(base_url: str) -> str:
    try:
        parts = urlsplit(base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or base_url
    except ValueError:
        return "?"


def _fault_of(status: int, text: str) -> ModelFault:
    if status in (400, 403, 422) and _FILTERED.search(text):
        return ModelFault.CONTENT_FILTER
    if status in (400, 422, 500) and _TOO_LONG.search(text):  # 500: llama.cpp
        return ModelFault.CONTEXT_LENGTH
    if status == 429 and _NO_MONEY.search(text):
        return ModelFault.REFUSED
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return ModelFault.SERVER if status >= 500 else ModelFault.REFUSED


def _message(text: str) -> str:
    """The message in a body: of a JSON error in any usual shape, of a page of HTML, or the text itself."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _TAG.sub(" ", _UNSEEN.sub(" ", text)).strip()
    error = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(error, dict):
        parts = [error.get(name) for name in ("message", "detail", "code", "type")]
        return ": ".join(dict.fromkeys(str(part) for part in parts if isinstance(part, str) and part)) or text
    return error if isinstance(error, str) else text
