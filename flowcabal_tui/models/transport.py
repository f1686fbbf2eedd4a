"""HTTP to one endpoint: one client, its time limits, and the translation of all connection failures."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from flowcabal_tui.domain.addresses import host_of, is_encrypted, is_loopback
from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import ModelError, ModelFault
from flowcabal_tui.locale import _
from flowcabal_tui.models.failures import Failures, bad_address

if TYPE_CHECKING:
    import httpx

LINE_LIMIT: Final = 4 * 2**20
"""Bytes of a line, and of all lines of an event together."""
CONNECT_SECONDS: Final = 15.0
WRITE_SECONDS: Final = 60.0
ERROR_BODY_LIMIT: Final = 64 * 2**10
ERROR_SECONDS: Final = 10.0
"""Seconds to wait for the body of an error or a page; without it, the status alone is reported."""
BODY_LIMIT: Final = 64 * 2**20
GATHER_SECONDS: Final = 0.04
"""Pause of a stream after a read, so that several tokens are read at once: reading is the main cost."""
LONG_STREAM: Final = 20
"""The pause applies only after this many reads of a stream."""
UNREAD_LIMIT: Final = 2**20
"""Bytes that may wait for a slow taker before reading stops."""


class EventReader:
    """Server-sent events out of bytes that may be cut anywhere: (name, payload).

    The payload of a comment (`: keep-alive`) is None.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._payload: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes, events: list[tuple[str, str | None]]) -> None:
        """Adds the events that `piece` completes.

        Raises ValueError on a line or an event without end or on broken UTF-8; earlier events have been added.
        """
        if not piece:
            return
        whole = self._rest + piece if self._rest else piece
        lines = whole.splitlines()
        if whole.endswith(b"\n"):
            self._rest = b""
        else:  # a \r at the end may be half of \r\n
            self._rest = lines.pop() + (b"\r" if whole.endswith(b"\r") else b"")
        for line in lines:
            self._take(line, events)
        if len(self._rest) > LINE_LIMIT:
            raise ValueError("line without end")

    def end(self) -> list[tuple[str, str | None]]:
        """The remaining events after the end of the stream: the last one may lack its empty line."""
        events: list[tuple[str, str | None]] = []
        self._take(self._rest.rstrip(b"\r\n"), events)
        self._rest = b""
        if self._payload:
            self._take(b"", events)
        return events

    def _take(self, line: bytes, events: list[tuple[str, str | None]]) -> None:
        if not line:
            if self._payload:
                events.append((self._name, str(b"\n".join(self._payload), "utf-8")))
                self._payload, self._size = [], 0
            self._name = ""
        elif line.startswith(b"data:"):
            self._size += len(line)
            if self._size > LINE_LIMIT:
                raise ValueError("event without end")
            self._payload.append(line[6:] if line[5:6] == b" " else line[5:])
        elif line.startswith(b":"):
            events.append(("", None))
        elif line.startswith(b"event:"):
            self._name = str(line[6:].strip(), "utf-8")


class Inflow:
    """Reads a body in a task of its own, so that all bytes of one network read are handled at once.

    Single pieces would cost a timer, a task switch and an event for every token.
    """

    def __init__(self, *, gather: bool) -> None:
        self._gather = gather
        self._pieces: list[bytes] = []
        self.size = 0
        self._come, self._taken = asyncio.Event(), asyncio.Event()

    async def read(self, body: AsyncGenerator[bytes, None]) -> None:
        """Reads to the end, pausing briefly after each network read of a long stream."""
        reads = 0
        async with aclosing(body):
            async for piece in body:
                first = not self._pieces
                self._pieces.append(piece)
                self.size += len(piece)
                if first:  # all was taken, so this one had to be waited for
                    reads += 1
                    if self._gather and reads > LONG_STREAM:
                        await asyncio.sleep(GATHER_SECONDS)
                    self._come.set()
                if self.size > UNREAD_LIMIT:
                    self._taken.clear()
                    await self._taken.wait()

    def wake(self, *_reading: object) -> None:
        """Ends the wait."""
        self._come.set()

    async def wait(self) -> None:
        """Waits until bytes have arrived or the body has ended."""
        await self._come.wait()

    def take(self) -> bytes:
        """The bytes received since the last call."""
        piece = b"".join(self._pieces)
        self._pieces.clear()
        self.size = 0
        self._come.clear()
        self._taken.set()
        return piece


class Transport:
    """Sends requests to an endpoint; every failure is a ModelError without the key in it."""

    def __init__(self, endpoint: Endpoint, base_url: str, headers: Mapping[str, str], key: str | None) -> None:
        self._endpoint, self._base_url = endpoint, base_url
        self._headers = dict(headers)
        self.failures = Failures(base_url, endpoint.model, key)
        self._client: httpx.AsyncClient | None = None
        self._opening = asyncio.Lock()

    def __repr__(self) -> str:
        return f"Transport({self._endpoint.identity!r})"

    async def events(
        self, path: str, body: Mapping[str, Any], patience: Callable[[], float]
    ) -> AsyncGenerator[list[tuple[str, str | None]], None]:
        """Streams a POST: the events of each network read. `patience()` is how long the next byte may take.

        A plain JSON body is one event; the reads before its end have none. Raises ModelError.
        """
        reader = EventReader()
        response = await self._send(path, body, patience())
        try:
            if "text/html" in response.headers.get("content-type", ""):
                raise self.failures.from_page(await self._explanation(response))
            plain = "json" in response.headers.get("content-type", "")
            received = bytearray()
            async with aclosing(self._pieces(response, patience, gather=not plain)) as pieces:
                async for piece in pieces:
                    if plain:
                        received += piece[: BODY_LIMIT - len(received)]
                        yield []
                        continue
                    events: list[tuple[str, str | None]] = []
                    try:
                        reader.feed(piece, events)
                    except ValueError as error:
                        yield events
                        raise self.failures.error(ModelFault.PROTOCOL, str(error)) from None
                    yield events
            yield [("", received.decode("utf-8", "replace"))] if plain else reader.end()
        except ValueError as error:
            raise self.failures.error(ModelFault.PROTOCOL, str(error)) from None
        finally:
            await response.aclose()

    async def post(self, path: str, body: Mapping[str, Any]) -> bytes:
        """The whole body of the answer to a POST. Raises ModelError."""
        response = await self._send(path, body, self._endpoint.pace.first_token_timeout)
        try:
            async with asyncio.timeout(self._endpoint.pace.answer_timeout):
                return await self._whole(response, self._endpoint.pace.idle_timeout)
        except TimeoutError:
            raise self.late() from None
        finally:
            await response.aclose()

    async def get(self, path: str, seconds: float, *, root: bool = False) -> bytes:
        """The body of a GET below base_url, or with `root` below the server's root; b"" for any failure. Not
        retried."""
        base = self._base_url
        if root:
            parts = urlsplit(base)
            base = f"{parts.scheme}://{parts.netloc}"
        try:
            with self._faults():
                client = await self._open()
                async with asyncio.timeout(seconds), client.stream("GET", base + path) as response:
                    is_plain = response.status_code == 200 and "html" not in response.headers.get("content-type", "")
                    return await self._whole(response, seconds) if is_plain else b""
        except (ModelError, TimeoutError):
            return b""

    async def aclose(self) -> None:
        """Closes all connections; running calls fail."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _send(self, path: str, body: Mapping[str, Any], seconds: float) -> httpx.Response:
        client = await self._open()
        with self._faults():
            request = client.build_request("POST", self._base_url + path, content=_encoded(body))
            try:
                async with asyncio.timeout(seconds):
                    response = await client.send(request, stream=True)
            except TimeoutError:
                raise self._silent(seconds) from None
        if response.status_code != 200:
            try:
                raise await self._refusal(response)
            finally:
                await response.aclose()
        return response

    async def _refusal(self, response: httpx.Response) -> ModelError:
        body = await self._explanation(response)
        return self.failures.from_response(response.status_code, response.headers, body, time.time())

    async def _explanation(self, response: httpx.Response) -> bytes:
        """The body of an error or a page, or its beginning if it is long, slow or cut off."""
        pace, body = self._endpoint.pace, bytearray()
        with suppress(TimeoutError, ModelError):
            async with asyncio.timeout(min(ERROR_SECONDS, pace.answer_timeout)):
                await self._read_into(body, response, ERROR_BODY_LIMIT, pace.idle_timeout)
        return bytes(body)

    async def _whole(self, response: httpx.Response, seconds: float) -> bytes:
        body = bytearray()
        await self._read_into(body, response, BODY_LIMIT, seconds)
        return bytes(body)

    async def _read_into(self, body: bytearray, response: httpx.Response, limit: int, seconds: float) -> None:
        """Reads up to `limit` bytes; waits at most `seconds` for each piece."""
        async with aclosing(self._pieces(response, lambda: seconds)) as pieces:
            async for piece in pieces:
                body += piece[: limit - len(body)]
                if len(body) == limit:
                    return

    async def _pieces(
        self, response: httpx.Response, patience: Callable[[], float], *, gather: bool = False
    ) -> AsyncGenerator[bytes, None]:
        """Yields received bytes repeatedly; raises when none arrive for `patience()` seconds."""
        inflow = Inflow(gather=gather)
        # httpx promises an iterator only, but gives a generator, which has to be closed.
        body = cast("AsyncGenerator[bytes, None]", response.aiter_bytes())
        reading = asyncio.create_task(inflow.read(body))
        reading.add_done_callback(inflow.wake)
        try:
            while True:
                if not (inflow.size or reading.done()):
                    seconds = patience()
                    try:
                        async with asyncio.timeout(seconds):
                            await inflow.wait()
                    except TimeoutError:
                        if not inflow.size:
                            raise self._silent(seconds) from None
                if inflow.size:
                    yield inflow.take()
                elif reading.done():
                    with self._faults():
                        reading.result()
                    return
        finally:
            reading.cancel()
            await asyncio.wait([reading])
            _ = reading.cancelled() or reading.exception()  # an error that no caller waits for is not reported

    def late(self) -> ModelError:
        """The error of an answer that reached the endpoint's time limit."""
        limit = f"{self._endpoint.pace.answer_timeout:g}"
        words = _("It took longer than {seconds} s (answer_timeout).").format(seconds=limit)
        return self.failures.error(ModelFault.TIME_LIMIT, words)

    def _silent(self, seconds: float) -> ModelError:
        return self.failures.error(
            ModelFault.STALLED, _("Nothing arrived for {seconds} s.").format(seconds=f"{seconds:g}")
        )

    @contextmanager
    def _faults(self) -> Iterator[None]:
        import httpx

        try:
            yield
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise bad_address(self._base_url) from None
        except httpx.DecodingError as error:
            raise self.failures.error(ModelFault.PROTOCOL, str(error)) from None
        except (httpx.HTTPError, httpx.StreamError) as error:
            words = str(error) or type(error).__name__
            raise self.failures.error(ModelFault.NETWORK, words) from None

    async def _open(self) -> httpx.AsyncClient:
        async with self._opening:
            if self._client is None:
                # In a thread: importing httpx and reading the certificates would hold up the loop for 0.2 s.
                self._client = await asyncio.to_thread(self._make_client)
            return self._client

    def _make_client(self) -> httpx.AsyncClient:
        if host_of(self._base_url) != host_of(self._endpoint.address):  # removing the path changed the host
            raise bad_address(self._endpoint.address)
        try:
            return self._client_for(near=is_loopback(self._base_url))
        except (ImportError, ValueError, OSError) as error:  # a SOCKS proxy, a proxy of no known kind, no certificates
            raise ModelError(
                ModelFault.NETWORK,
                _("The network settings of the environment cannot be used"),
                self.failures.quote(str(error)),
                _("Set HTTPS_PROXY to an http:// proxy and unset ALL_PROXY, or correct SSL_CERT_FILE."),
            ) from None

    def _client_for(self, *, near: bool) -> httpx.AsyncClient:
        import httpx

        return httpx.AsyncClient(
            headers={"content-type": "application/json", **self._headers},
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS, write=WRITE_SECONDS),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=16, keepalive_expiry=30.0),
            verify=is_encrypted(self._base_url),
            trust_env=not near,
            follow_redirects=False,
        )


def _encoded(body: Mapping[str, Any]) -> bytes:
    """JSON; half a surrogate pair, which UTF-8 cannot carry, becomes "?", and a date its text."""
    return json.dumps(body, ensure_ascii=False, default=str).encode("utf-8", "replace")
