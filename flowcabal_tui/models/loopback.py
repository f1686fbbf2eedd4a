"""An OpenAI-compatible endpoint on loopback, through which the knowledge server uses our models without seeing a
key."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
from collections import Counter
from contextlib import aclosing, suppress
from types import TracebackType
from typing import Any, Final

import h11

from flowcabal_tui.domain.errors import FlowCabalError, ModelError, ModelFault
from flowcabal_tui.domain.model_ports import EmbeddingPort, ModelPort
from flowcabal_tui.models.loopback_wire import (
    BadRequest,
    chat_answer,
    chat_event,
    chat_request,
    embedding_answer,
    embedding_texts,
    error_body,
)

BODY_LIMIT: Final = 8 * 2**20
CONNECTION_LIMIT: Final = 64
READ_SIZE: Final = 2**16
IDLE_SECONDS: Final = 120.0
LINGER_SECONDS: Final = 1.0
_STATUS: Final = {
    ModelFault.RATE_LIMIT: 429,
    ModelFault.CONTEXT_LENGTH: 400,
    ModelFault.REFUSED: 400,
    ModelFault.CONTENT_FILTER: 400,
    ModelFault.OVERLOADED: 503,
    ModelFault.NOT_CONFIGURED: 503,
    ModelFault.NOT_CONFIRMED: 503,
}
_log: Final = logging.getLogger(__name__)
_JSON: Final = ("content-type", "application/json")


class LoopbackEndpoint:
    """Serves `POST {url}/embeddings` and `POST {url}/chat/completions` while its context lasts.

    `url` ends with `/v1`; every request needs `Authorization: Bearer {token}`. `calls` counts requests:
    "embeddings", "texts", "chats", "refused" (no token, bad request), "failed" (the model's fault).
    """

    def __init__(self, embedder: EmbeddingPort, model: ModelPort | None, *, body_limit: int = BODY_LIMIT) -> None:
        self._embedder, self._model, self._body_limit = embedder, model, body_limit
        self.token = secrets.token_urlsafe(32)
        self.calls: Counter[str] = Counter()
        self._port = 0
        self._connections: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"LoopbackEndpoint({self.url!r})"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> LoopbackEndpoint:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._connections) >= CONNECTION_LIMIT:
            writer.close()
            return
        self._connections.add(task)
        try:
            # Cancelled only when the context ends; asyncio's streams would report that as a failure.
            with suppress(ConnectionError, TimeoutError, h11.ProtocolError, asyncio.CancelledError):
                connection = _Connection(reader, writer, self._body_limit)
                while await self._exchange(connection):
                    pass
                await connection.linger()
        finally:
            self._connections.discard(task)
            writer.close()

    async def _exchange(self, connection: _Connection) -> bool:
        """One request and its answer; False when the connection is over."""
        request = await connection.request()
        if request is None:
            return False
        try:
            await self._answer(connection, request)
        except BadRequest as bad:
            self.calls["refused"] += 1
            await connection.reply(bad.status, error_body(str(bad), "invalid_request_error"))
        except ModelError as error:
            self.calls["failed"] += 1
            wait = [("retry-after", f"{error.retry_after:.0f}")] if error.retry_after is not None else []
            await connection.reply(_STATUS.get(error.fault, 502), error_body(str(error), error.fault), *wait)
        except FlowCabalError as error:  # such as the budget: a repeated request would fail too
            self.calls["failed"] += 1
            await connection.reply(403, error_body(str(error), "refused"))
        except (ConnectionError, TimeoutError, h11.ProtocolError):
            raise
        except Exception:  # the edge of a connection: the server must go on for the others
            _log.exception("the loopback endpoint failed")
            self.calls["failed"] += 1
            await connection.reply(500, error_body("internal error", "server_error"))
        return connection.reusable()

    async def _answer(self, connection: _Connection, request: h11.Request) -> None:
        given = dict(request.headers).get(b"authorization", b"")
        if not hmac.compare_digest(given, b"Bearer " + self.token.encode()):
            raise BadRequest(401, "wrong token")
        target = request.target.partition(b"?")[0].decode("ascii", "replace")
        if target not in ("/v1/embeddings", "/v1/chat/completions"):
            raise BadRequest(404, "no such path")
        if request.method != b"POST":
            raise BadRequest(405, "POST only")
        body = _object(await connection.body())
        if target == "/v1/embeddings":
            await self._embed(connection, body)
        else:
            await self._chat(connection, body)

    async def _embed(self, connection: _Connection, body: dict[str, Any]) -> None:
        texts = embedding_texts(body, self._embedder.dimensions)
        self.calls["embeddings"] += 1
        self.calls["texts"] += len(texts)
        vectors = await self._embedder.embed(texts)
        base64 = body.get("encoding_format") == "base64"
        await connection.reply(200, embedding_answer(vectors, self._embedder.identity, base64=base64))

    async def _chat(self, connection: _Connection, body: dict[str, Any]) -> None:
        if self._model is None:
            raise BadRequest(503, "no chat model")
        request, name = chat_request(body), self._model.endpoint.model
        self.calls["chats"] += 1
        if not body.get("stream"):
            await connection.reply(200, chat_answer(await self._model.answer(request), name))
            return
        async with aclosing(self._model.stream(request)) as events:
            first = await anext(events)  # a failure before the first event still has a status of its own
            await connection.begin("text/event-stream")
            try:
                await connection.piece(chat_event(first, name))
                async for event in events:
                    await connection.piece(chat_event(event, name))
                await connection.piece(b"data: [DONE]\n\n")
            except ModelError as error:
                self.calls["failed"] += 1
                await connection.piece(b"data: " + error_body(str(error), error.fault) + b"\n\n")
        await connection.end()


class _Connection:
    """HTTP/1.1 on one socket: h11 has the protocol, this moves the bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body_limit: int) -> None:
        self._reader, self._writer, self._body_limit = reader, writer, body_limit
        self._http = h11.Connection(h11.SERVER)

    async def request(self) -> h11.Request | None:
        """The next request line with its headers; None when the client has gone."""
        event = await self._next()
        return event if isinstance(event, h11.Request) else None

    async def body(self) -> bytes:
        """Raises BadRequest(413) beyond the limit."""
        whole = bytearray()
        while isinstance(event := await self._next(), h11.Data):
            whole += event.data
            if len(whole) > self._body_limit:
                raise BadRequest(413, "body too large")
        if not isinstance(event, h11.EndOfMessage):
            raise ConnectionError("the client left in the middle of a request")
        return bytes(whole)

    async def reply(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        """A whole answer; a request that was not read to its end closes the connection."""
        rest = [] if self._http.their_state is h11.DONE else [("connection", "close")]
        await self._send(
            h11.Response(status_code=status, headers=[_JSON, ("content-length", str(len(body))), *headers, *rest]),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )

    async def begin(self, kind: str) -> None:
        await self._send(h11.Response(status_code=200, headers=[("content-type", kind)]))

    async def piece(self, piece: bytes) -> None:
        if piece:
            await self._send(h11.Data(data=piece))

    async def end(self) -> None:
        await self._send(h11.EndOfMessage())

    def reusable(self) -> bool:
        """Makes ready for the next request; False if there can be none."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    async def linger(self) -> None:
        """Reads the rest of the client's request: closing with unread bytes would destroy the answer under way."""
        if self._http.our_state is h11.MUST_CLOSE:
            self._writer.write_eof()
            async with asyncio.timeout(LINGER_SECONDS):
                while await self._reader.read(READ_SIZE):
                    pass

    async def _next(self) -> h11.Event | None:
        """The next event; None when the client sends too early, which we do not serve."""
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                if self._http.they_are_waiting_for_100_continue:
                    await self._send(h11.InformationalResponse(status_code=100, headers=[]))
                async with asyncio.timeout(IDLE_SECONDS):
                    self._http.receive_data(await self._reader.read(READ_SIZE))
                continue
            return event if isinstance(event, h11.Event) else None

    async def _send(self, *events: h11.Event) -> None:
        for event in events:
            if octets := self._http.send(event):
                self._writer.write(octets)
        await self._writer.drain()


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest(400, "the body is no JSON") from None
    if not isinstance(value, dict):
        raise BadRequest(400, "the body is no JSON object")
    return value
