"""Our client against answers that a server can give; the real server is in test_sync."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress

import pytest

from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.viking.client import Address, KnowledgeBusy, KnowledgeClient
from flowcabal_tui.viking.external import ExternalKnowledge
from flowcabal_tui.viking.server import free_port
from flowcabal_tui.viking.status import External
from tests.viking.fakes import Statuses
from tests.waiting import PATIENCE, pass_time

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
            await client.is_healthy()
        assert "[knowledge] url" in caught.value.advice


async def test_a_message_with_our_key_or_escapes_is_shown_without_them() -> None:
    error = {"error": {"code": "INTERNAL", "message": f"\x1b[31mbad {KEY}"}}
    async with client_of([(500, json.dumps(error).encode())]) as (client, _heads):
        with pytest.raises(KnowledgeError) as caught:
            await client.waiting()
        assert caught.value.detail == "bad ***"


async def test_a_server_that_hangs_is_not_waited_for() -> None:
    async with asyncio.timeout(PATIENCE):
        listening = await asyncio.start_server(lambda _reader, _writer: None, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        client = KnowledgeClient(lambda: Address(url), answer_seconds=0.1)
        with pytest.raises(KnowledgeError, match="does not answer"):
            await client.find("query", level=2, target_uri="viking://resources/", limit=1)
        await client.aclose()
        listening.close()


async def test_embedding_may_take_longer_than_a_look_up() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65536)
        pass_time(60)
        await asyncio.sleep(0.05)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(DONE) + DONE)
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    client = KnowledgeClient(lambda: Address(url), answer_seconds=60, work_seconds=600, busy_waits=(0.0,))
    await client.batch_write("viking://resources/x", [], wait=True)
    with pytest.raises(KnowledgeError, match="does not answer"):
        await client.read("viking://resources/x")
    await client.aclose()
    listening.close()


MALFORMED = [
    b'{"result": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"result": {"resources": {"uri": "x"}}}',
    b'{"result": {"resources": ["x"], "status": []}}',
    b'{"result": {"resources": [{}], "status": {"summary": 3, "vector_count": "many"}}}',
    b'{"result": {"resources": [{"uri": "x", "score": NaN}], "status": {"summary": {"pending": []}}}}',
    b'{"result": {"resources": [{"uri": "x", "score": "near"}], "status": {"vector_count": Infinity}}}',
    b'{"result": 7}',
    b'{"error": {"message": [[]], "code": {}}}',
    b'{"error": "no", "detail": {"loc": ["body"]}}',
    b'"result"',
    b"\xff\xfe",
]


@pytest.mark.parametrize("content", MALFORMED, ids=range(len(MALFORMED)))
async def test_a_malformed_answer_to_any_call_is_an_error_of_the_knowledge_server(content: bytes) -> None:
    uri = "viking://resources/x"
    async with client_of([(200, content)]) as (client, _heads):
        for call in (client.ls, client.tree, client.read, client.abstract, client.overview):
            with pytest.raises(KnowledgeError):
                await call(uri)
        with pytest.raises(KnowledgeError):
            await client.find("query", level=2, target_uri=uri, limit=1)
        for count in (client.waiting, client.vectors):
            with suppress(KnowledgeError):  # some of the answers are no malformed ones to this question
                assert await count() == 0
        with suppress(KnowledgeError):
            assert not (await client.check_consistency(uri)).ok


@asynccontextmanager
async def endless(pieces: Callable[[], bytes]) -> AsyncIterator[str]:
    """The URL of a server whose answers go on until the client leaves."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
            while not writer.is_closing():
                writer.write(pieces())
                await writer.drain()
                await asyncio.sleep(0)
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    finally:
        listening.close()


async def test_an_answer_without_end_is_refused_at_its_limit() -> None:
    sent = 0

    def piece() -> bytes:
        nonlocal sent
        sent += 2**16
        return b" " * 2**16

    async with endless(piece) as url:
        client = KnowledgeClient(lambda: Address(url), answer_seconds=PATIENCE)
        with pytest.raises(KnowledgeError, match="cannot be read") as caught:
            await client.ls("viking://resources/")
        await client.aclose()
    assert "8 MB" in caught.value.detail
    assert sent < 32 * 2**20


async def test_a_text_may_be_as_long_as_an_imported_file() -> None:
    text = "x" * (20 << 20)
    async with client_of([(200, json.dumps({"result": text}).encode())]) as (client, _heads):
        assert await client.read("viking://resources/x") == text


async def test_an_answer_that_trickles_in_is_not_waited_for() -> None:
    pieces = 0

    def piece() -> bytes:
        nonlocal pieces
        pieces += 1
        if pieces < 10:
            pass_time(30)  # less than the silence that ends an answer
        return b" "

    async with endless(piece) as url, aclosing(KnowledgeClient(lambda: Address(url), answer_seconds=100)) as client:
        with pytest.raises(KnowledgeError, match="does not answer"):
            await client.ls("viking://resources/")


@pytest.mark.parametrize("key", ["密钥", "two\nlines"])
async def test_a_key_that_no_header_can_hold_is_an_error_without_the_key(key: str) -> None:
    async with aclosing(KnowledgeClient(lambda: Address("http://127.0.0.1:1", key))) as client:
        with pytest.raises(KnowledgeError, match="cannot be sent") as caught:
            await client.is_healthy()
    assert "api_key_env" in caught.value.advice and not caught.value.detail


@pytest.mark.parametrize("content", MALFORMED, ids=range(len(MALFORMED)))
async def test_the_status_of_a_server_elsewhere_tells_of_malformed_answers(content: bytes) -> None:
    statuses = Statuses()
    async with client_of([(200, content)]) as (client, _heads):
        external = ExternalKnowledge(client._address().url, statuses)
        await external.start()
        await statuses.wait_for(lambda status: isinstance(status, External) and bool(status.reason))
        await external.stop(wait=True)


async def test_a_server_elsewhere_that_comes_back_is_told() -> None:
    port, statuses = free_port(), Statuses()
    external = ExternalKnowledge(f"http://127.0.0.1:{port}", statuses, poll_seconds=0.05)
    await external.start()
    await statuses.wait_for(lambda status: isinstance(status, External) and bool(status.reason))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{"result":[]}')
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", port)
    await statuses.wait_for(lambda status: isinstance(status, External) and not status.reason)
    await external.stop(wait=True)
    listening.close()


def test_the_key_is_not_in_what_is_printed() -> None:
    assert KEY not in repr(Address("http://127.0.0.1:1", KEY))
