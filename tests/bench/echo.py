"""A model server in a thread: streams an answer that names its prompt by digest, and remembers every call."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from dataclasses import dataclass, field
from typing import Any, Final, Self

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.text import digest

PIECES: Final = 12
DELAY: Final = 0.008
"""Seconds between two pieces of an answer."""


@dataclass(slots=True)
class Call:
    """One request. `prompt` is the digest of its messages; `ended` when the whole answer was written."""

    prompt: Digest
    ended: bool = False


@dataclass
class EchoServer:
    """Speaks as an OpenAI-compatible server; `calls` grows as they come."""

    calls: list[Call] = field(default_factory=list)
    url: str = ""

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)), daemon=True)
        self._thread.start()
        ready.wait()
        return self

    def __exit__(self, *_error: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready.set()
        await self._over.wait()
        server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length:")[2].partition("\r\n")[0])
                asked = json.loads(await reader.readexactly(length))
                call = Call(digest(json.dumps(asked["messages"], sort_keys=True)))
                self.calls.append(call)
                await self._answer(writer, call)
        writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, call: Call) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for number in range(PIECES):
            writer.write(_event({"content": f"<{call.prompt}>" if not number else f" piece {number}"}))
            await writer.drain()
            await asyncio.sleep(DELAY)
        writer.write(_event({}, "stop") + _chunk("data: [DONE]\n\n") + b"0\r\n\r\n")
        await writer.drain()
        call.ended = True


def prompt_of(text: str) -> Digest | None:
    """Which prompt an answer was given to; None for what no model said."""
    return Digest(text[1:33]) if text.startswith("<") and text[33:34] == ">" else None


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    said = {"object": "chat.completion.chunk", "model": "echo", "choices": [choice]}
    return _chunk(f"data: {json.dumps(said)}\n\n")


def _chunk(text: str) -> bytes:
    return b"%x\r\n%s\r\n" % (len(text.encode()), text.encode())
