"""Our client against answers that a server can give; the real server is in test_sync."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.viking.client import Address, KnowledgeBusy, KnowledgeClient

LOCKED = b'{"error": {"code": "CONFLICT", "message": "Resource is being processed"}}'
EXISTS = b'{"error": {"code": "CONFLICT", "message": "already exists: /x"}}'
DONE = b'{"status": "ok", "result": "text"}'
KEY = "the-root-key-of-the-server"


@asynccontextmanager
async def client_of(
    answers: Sequence[tuple[int, bytes]],
) -> AsyncIterator[tuple[KnowledgeClient, list[bytes]]]:
    """A client, and the heads of the requests that it sends; the last answer is repeated."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.read(65536):
            heads.append(head)
            status, content = answers[min(len(heads), len(answers)) - 1]
            writer.write(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n" % (status, len(content)) + content)
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
    client = KnowledgeClient(lambda: Address(url, KEY), busy_waits=(0.0, 0.0, 0.0))
    try:
        yield client, heads
    finally:
        await client.aclose()
        listening.close()


async def test_a_locked_resource_is_tried_again() -> None:
    async with client_of([(409, LOCKED), (409, LOCKED), (200, DONE)]) as (client, heads):
        assert await client.read("viking://resources/x") == "text"
        assert len(heads) == 3
        assert b"x-api-key: " + KEY.encode() in heads[0].lower()


async def test_a_resource_that_stays_locked_is_an_error_in_the_end() -> None:
    async with client_of([(409, LOCKED)]) as (client, heads):
        with pytest.raises(KnowledgeBusy, match="still working"):
            await client.read("viking://resources/x")
        assert len(heads) == 4


async def test_a_directory_that_exists_is_no_lock() -> None:
    async with client_of([(409, EXISTS)]) as (client, heads):
        assert not await client.mkdir("viking://resources/x", "L0")
        assert len(heads) == 1


async def test_an_answer_of_something_else_is_told() -> None:
    async with client_of([(200, b"<html>a router</html>")]) as (client, _heads):
        with pytest.raises(KnowledgeError, match="cannot be read") as caught:
            await client.health()
        assert "[knowledge] url" in caught.value.advice


async def test_a_message_with_our_key_or_escapes_is_shown_without_them() -> None:
    error = {"error": {"code": "INTERNAL", "message": f"\x1b[31mbad {KEY}"}}
    async with client_of([(500, json.dumps(error).encode())]) as (client, _heads):
        with pytest.raises(KnowledgeError) as caught:
            await client.queue()
        assert caught.value.detail == "bad ***"


def test_the_key_is_not_in_what_is_printed() -> None:
    assert KEY not in repr(Address("http://127.0.0.1:1", KEY))
