"""A minimal embeddings endpoint for OpenViking to call, and a record of statuses to wait on."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from flowcabal_tui.viking.client import KnowledgeClient
from flowcabal_tui.viking.server import EmbeddingEndpoint, OpenVikingServer, find_server
from flowcabal_tui.viking.status import KnowledgeStatus
from flowcabal_tui.viking.sync import KnowledgeSync
from tests.waiting import PATIENCE, until

DIMENSION = 64
KEY = "model-key-that-must-stay-secret"
USERS_KEY = "a-key-of-the-user"


def embed(text: str) -> list[float]:
    """Character bigrams hashed into a vector: texts that share words are near each other."""
    vector = [0.01] * DIMENSION
    for pair in itertools.pairwise(text):
        vector[hashlib.blake2b("".join(pair).encode()).digest()[0] % DIMENSION] += 1.0
    return vector


@dataclass
class FakeModel:
    """POST /v1/embeddings and /v1/chat/completions with a bearer check; keeps what it was asked.

    It answers while `answering` is set; `broken` refuses every text; `embed` says what is near what.
    """

    endpoint: EmbeddingEndpoint
    embedded: list[str] = field(default_factory=list)
    chats: list[str] = field(default_factory=list)
    refused: int = 0
    broken: bool = False
    embed: Callable[[str], list[float]] = embed
    answering: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().lower().split("\r\n")
                length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length"))
                body = json.loads(await reader.readexactly(length))
                allowed = any(line == f"authorization: bearer {KEY}" for line in lines)
                self.asked.set()
                await self.answering.wait()
                status, answer = self._answer(lines[0], body) if allowed else (401, {"error": "no"})
                self.refused += not allowed
                content = json.dumps(answer).encode()
                writer.write(
                    f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n"
                    f"content-length: {len(content)}\r\n\r\n".encode()
                    + content
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer(self, request: str, body: dict[str, object]) -> tuple[int, dict[str, object]]:
        if self.broken:
            return 400, {"error": {"message": "broken on purpose"}}
        if "chat/completions" in request:
            self.chats.append(json.dumps(body, ensure_ascii=False))
            message = {"role": "assistant", "content": "WRITTEN BY THE SUMMARISER"}
            return 200, {"id": "1", "model": "m", "choices": [{"index": 0, "message": message}]}
        given = body["input"]
        texts = given if isinstance(given, list) else [given]
        self.embedded += [str(text) for text in texts]
        vectors = [{"index": n, "embedding": self.embed(str(text))} for n, text in enumerate(texts)]
        return 200, {"data": vectors, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


@contextlib.asynccontextmanager
async def fake_model() -> AsyncIterator[FakeModel]:
    model = FakeModel(EmbeddingEndpoint("", KEY, DIMENSION))
    model.answering.set()
    listening = await asyncio.start_server(model.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    model.endpoint = EmbeddingEndpoint(f"http://127.0.0.1:{port}/v1", KEY, DIMENSION)
    try:
        yield model
    finally:
        listening.close()


class Statuses:
    """Every status that was published, and a way to wait for one."""

    def __init__(self) -> None:
        self.seen: list[KnowledgeStatus] = []
        self._changed = asyncio.Condition()

    def __call__(self, status: KnowledgeStatus) -> None:
        self.seen.append(status)
        self._wake = asyncio.ensure_future(self._notify())

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def wait_for(self, wanted: Callable[[KnowledgeStatus], bool], *, after: int = 0) -> KnowledgeStatus:
        def found() -> KnowledgeStatus | None:
            return next((status for status in self.seen[after:] if wanted(status)), None)

        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(lambda: found() is not None)
        status = found()
        assert status is not None
        return status


@dataclass
class Running:
    """The module's server with all that was made for it."""

    server: OpenVikingServer
    model: FakeModel
    client: KnowledgeClient
    statuses: Statuses
    folder: Path


def server_command() -> tuple[str, ...]:
    """The installed server; skips the test when there is none."""
    found = find_server()
    if not found:
        pytest.skip("no openviking-server: set FLOWCABAL_OPENVIKING_SERVER or install flowcabal-tui[knowledge]")
    return found


def quick_server(folder: Path) -> str:
    """A program that starts the installed server sooner, see quick_server.py; another one as it is."""
    (*_python, own) = server_command()
    if own != str(Path(sys.executable).parent / "openviking-server"):
        return own
    program = folder / "quick-openviking-server"
    program.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).with_name("quick_server.py")}" "{own}" "$@"\n'
    )
    program.chmod(0o700)
    return str(program)


FAKE_SERVER = (sys.executable, str(Path(__file__).with_name("fake_server.py")))


def processes_of(folder: Path) -> list[int]:
    """Guard, server and its children: all name the folder on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and os.fsencode(folder) in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def server_process(folder: Path) -> int:
    """The server itself: it has the port on its command line, and the guard's `--` not."""
    for pid in processes_of(folder):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if b"--port" in words and b"--" not in words:
            return pid
    raise AssertionError("no server runs")


async def gone(folder: Path) -> None:
    """Waits until no process of `folder` is left."""
    await until(lambda: not processes_of(folder))


@dataclass(frozen=True)
class Contents:
    """What a server has of a book: texts of files by their paths, and vectors that are there or missing.

    OpenViking writes notes of its own into the directories above ours; they are not counted.
    """

    files: dict[str, str]
    vectors: int
    missing: int


async def contents(client: KnowledgeClient, sync: KnowledgeSync) -> Contents:
    """Reads every file of every directory that was put."""
    files: dict[str, str] = {}
    vectors = missing = 0
    for path, record in sync._manifest:
        uri = f"{sync._root}/{path}"
        for entry in await client.ls(uri):
            files[entry.uri.removeprefix(f"{sync._root}/")] = await client.read(entry.uri)
        found = await client.check_consistency(uri)
        vectors, missing = vectors + found.expected - found.missing, missing + found.missing
        assert {f"{path}/{name}" for name in record.files} <= files.keys()
    return Contents(files, vectors, missing)
