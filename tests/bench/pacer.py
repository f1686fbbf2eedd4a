"""A model server whose streams keep time: `python -m tests.bench.pacer TOKENS_A_SECOND SECONDS`.

A late write is made up for, so a stream takes longer than it should only when its reader is slow. Prints its address;
then, for every line on its input, one line of JSON: its streams, and the lag of its own loop, which tells how busy
the machine is. It ends with its input.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

TICK = 0.005


def token(number: int) -> str:
    """A piece of text by which its place in the stream is known."""
    return f"第{number:05d}字。\n" if number % 40 == 39 else f"第{number:05d}字，"


def whole(tokens: int) -> str:
    """The text of a stream."""
    return "".join(map(token, range(tokens)))


@dataclass
class Stream:
    """One answer on its way. `unsent` is the largest number of bytes that waited for the reader."""

    began: float
    sent: int = 0
    seconds: float = 0.0
    unsent: int = 0


class Pacer:
    """All streams are written by one ticker."""

    def __init__(self, rate: float, seconds: float) -> None:
        self._rate, self._tokens = rate, int(rate * seconds)
        self.streams: list[Stream] = []
        self.lags: list[float] = []
        self._open: dict[asyncio.StreamWriter, Stream] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Reads a request and hands its answer to the ticker."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = head.partition("content-length:")[2].partition("\r\n")[0]
                await reader.readexactly(int(length or 0))
                writer.write(
                    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                )
                stream = Stream(asyncio.get_running_loop().time())
                self.streams.append(stream)
                self._open[writer] = stream

    async def tick(self) -> None:
        """Writes what is due."""
        clock = asyncio.get_running_loop().time
        while True:
            due = clock() + TICK
            await asyncio.sleep(TICK)
            self.lags.append(clock() - due)
            for writer, stream in list(self._open.items()):
                self._write(writer, stream, clock())

    def _write(self, writer: asyncio.StreamWriter, stream: Stream, now: float) -> None:
        if writer.is_closing():
            del self._open[writer]
            return
        while stream.sent < min(self._tokens, int((now - stream.began) * self._rate)):
            writer.write(_event({"content": token(stream.sent)}))
            stream.sent += 1
        stream.unsent = max(stream.unsent, writer.transport.get_write_buffer_size())
        if stream.sent == self._tokens:
            stream.seconds = now - stream.began
            writer.write(_event({}, "stop") + _chunk("data: [DONE]\n\n") + b"0\r\n\r\n")
            del self._open[writer]


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice: dict[str, Any] = {"index": 0, "delta": delta, "finish_reason": finish}
    said = {"object": "chat.completion.chunk", "model": "paced", "choices": [choice]}
    return _chunk(f"data: {json.dumps(said, ensure_ascii=False)}\n\n")


def _chunk(text: str) -> bytes:
    body = text.encode()
    return b"%x\r\n%s\r\n" % (len(body), body)


async def main() -> None:
    """Serves until the input ends."""
    pacer = Pacer(float(sys.argv[1]), float(sys.argv[2]))
    loop = asyncio.get_running_loop()
    server = await asyncio.start_server(pacer.serve, "127.0.0.1", 0, limit=2**24)
    ticking = asyncio.create_task(pacer.tick())
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps({"streams": [asdict(stream) for stream in pacer.streams], "lags": pacer.lags}), flush=True)
    ticking.cancel()


if __name__ == "__main__":
    asyncio.run(main())
