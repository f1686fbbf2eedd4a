"""A model server that reads chapters: the embedded model behind HTTP, with a log of what it was asked.

    python -m tests.bench.reader SECONDS

It waits so long before each answer. Prints its address; then, for every line on its input, what it was asked and has
answered since the line before, as one line of JSON. It ends with its input.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from pydantic import BaseModel

from flowcabal_tui.agents.shapes.curation import Line, Overview, ProfileAnswer, ProfilesAnswer
from flowcabal_tui.agents.shapes.story import StoryAnswer
from flowcabal_tui.domain.model_calls import Message, ModelRequest
from flowcabal_tui.domain.text import digest
from flowcabal_tui.models.offline.model import compose
from flowcabal_tui.models.offline.parsed_request import LabelledRequest as Request
from flowcabal_tui.models.tokens import TokenEstimator

COUNTER: Final = TokenEstimator()
SHAPES: Final[Mapping[str, type[BaseModel]]] = {
    "curator.story": StoryAnswer,
    "curator.l1": Overview,
    "curator.l0": Line,
    "curator.profile": ProfileAnswer,
    "curator.profiles": ProfilesAnswer,
    "curator.arc": ProfileAnswer,
}


@dataclass(slots=True)
class Asked:
    """One request: the digest of its messages, its task, its tokens; `answer` is the digest of what is kept of it.

    `ended` when the whole answer was written.
    """

    prompt: str
    task: str
    tokens: int
    answer: str = ""
    ended: bool = False


class Reader:
    """Serves until it is cancelled."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.asked: list[Asked] = []

    async def serve(self) -> None:
        """Prints the address, then a log for every line of the input."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**26)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        told, loop = 0, asyncio.get_running_loop()
        while await loop.run_in_executor(None, sys.stdin.readline):
            print(json.dumps([asdict(each) for each in self.asked[told:]]), flush=True)
            told = len(self.asked)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                length = int(head.partition("content-length:")[2].partition("\r\n")[0])
                await self._answer(json.loads(await reader.readexactly(length))["messages"], writer)
        writer.close()

    async def _answer(self, messages: list[dict[str, Any]], writer: asyncio.StreamWriter) -> None:
        request = ModelRequest(tuple(Message(each["role"], each["content"]) for each in messages))
        task = Request(request).task
        shape = SHAPES.get(task)
        text = compose(request, shape)
        tokens = sum(COUNTER.count(each["content"]) for each in messages)
        asked = Asked(digest(json.dumps(messages, sort_keys=True)), task, tokens)
        if shape is not None:
            asked.answer = digest(shape.model_validate_json(text).model_dump_json())
        self.asked.append(asked)
        await asyncio.sleep(self._seconds)
        usage = {"prompt_tokens": tokens, "completion_tokens": COUNTER.count(text)}
        said = _event({"content": text}) + _event({}, "stop", usage) + "data: [DONE]\n\n"
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: "
        writer.write(f"{head}{len(said.encode())}\r\n\r\n{said}".encode())
        await writer.drain()
        asked.ended = True


def _event(delta: dict[str, Any], finish: str | None = None, usage: dict[str, int] | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    said = {"object": "chat.completion.chunk", "model": "reader", "choices": [choice], "usage": usage}
    return f"data: {json.dumps(said, ensure_ascii=False)}\n\n"


class ReadingServer:
    """The server as a process of its own."""

    def __init__(self, seconds: float) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.reader", str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def news(self) -> list[Asked]:
        """What it was asked since the last time."""
        assert self._process.stdin is not None
        self._process.stdin.write("log\n")
        self._process.stdin.flush()
        return [Asked(**each) for each in json.loads(self._line())]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.communicate()


if __name__ == "__main__":
    asyncio.run(Reader(float(sys.argv[1])).serve())
