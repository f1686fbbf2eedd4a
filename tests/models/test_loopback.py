"""The endpoint that the knowledge server calls."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

import httpx
import pytest
import pytest_asyncio

from flowcabal_tui.domain.endpoints import Endpoint
from flowcabal_tui.domain.errors import BudgetExceeded, ModelError, ModelFault
from flowcabal_tui.domain.model_calls import (
    Answer,
    Finished,
    ModelEvent,
    ModelRequest,
    Queued,
    TextDelta,
    Usage,
)
from flowcabal_tui.domain.model_ports import T
from flowcabal_tui.models.collect import collect
from flowcabal_tui.models.lexical import LexicalEmbedder
from flowcabal_tui.models.loopback import LoopbackEndpoint
from tests.waiting import PATIENCE, soon

CHAT = {"model": "any", "messages": [{"role": "user", "content": [{"type": "text", "text": "Sum up."}]}]}


class Script:
    """A model that says two words, or fails as told."""

    endpoint = Endpoint(provider="offline", model="script")

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self.failure: Exception | None = None
        self.failure_after = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        for number, event in enumerate((Queued(), TextDelta("雨"), TextDelta("声"), Finished("stop", Usage(5, 2)))):
            if self.failure and number == self.failure_after:
                raise self.failure
            yield event

    async def answer(self, request: ModelRequest) -> Answer:
        return await collect(self, request)

    async def structured(self, request: ModelRequest, shape: type[T]) -> tuple[T, Answer]:
        raise NotImplementedError


class Meeting:
    """An embedder that answers when `together` callers are there; `first_came` is set by the first of them."""

    identity, dimensions = "meeting", 2

    def __init__(self, together: int) -> None:
        self._barrier = asyncio.Barrier(together)
        self.first_came = asyncio.Event()

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.first_came.set()
        async with asyncio.timeout(PATIENCE):
            await self._barrier.wait()
        return [[1.0, 0.0] for _ in texts]


@pytest.fixture
def script() -> Script:
    return Script()


@pytest_asyncio.fixture
async def endpoint(script: Script) -> AsyncIterator[LoopbackEndpoint]:
    async with LoopbackEndpoint(LexicalEmbedder(16), script, body_limit=100_000) as endpoint:
        yield endpoint


@pytest_asyncio.fixture
async def client(endpoint: LoopbackEndpoint) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"authorization": f"Bearer {endpoint.token}"}
    async with httpx.AsyncClient(base_url=endpoint.url, headers=headers, trust_env=False) as client:
        yield client


async def test_one_text_and_many_are_embedded(client: httpx.AsyncClient, endpoint: LoopbackEndpoint) -> None:
    one = (await client.post("/embeddings", json={"model": "m", "input": "夜色"})).json()
    many = (await client.post("/embeddings", json={"input": ["rain", "夜色"], "dimensions": 16})).json()
    assert one["data"][0]["embedding"] == LexicalEmbedder(16).vector("夜色")
    assert [row["index"] for row in many["data"]] == [0, 1]
    assert many["data"][1]["embedding"] == one["data"][0]["embedding"]
    assert endpoint.calls == {"embeddings": 2, "texts": 3}


async def test_base64_carries_the_same_numbers(client: httpx.AsyncClient) -> None:
    answer = await client.post("/embeddings", json={"input": "夜色", "encoding_format": "base64"})
    packed = base64.b64decode(answer.json()["data"][0]["embedding"])
    assert struct.unpack("<16f", packed) == pytest.approx(LexicalEmbedder(16).vector("夜色"))


async def test_a_chat_is_answered_whole(client: httpx.AsyncClient, script: Script) -> None:
    answer = (await client.post("/chat/completions", json=CHAT | {"max_tokens": 9})).json()
    assert answer["choices"][0]["message"]["content"] == "雨声"
    assert answer["usage"]["total_tokens"] == 7
    assert script.requests[0].messages[0].content == "Sum up."
    assert script.requests[0].max_tokens == 9


async def test_a_chat_is_answered_as_a_stream(client: httpx.AsyncClient) -> None:
    answer = await client.post("/chat/completions", json=CHAT | {"stream": True})
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    choices = [json.loads(line)["choices"][0] for line in lines[:-1]]
    assert "".join(choice["delta"].get("content", "") for choice in choices) == "雨声"
    assert choices[-1]["finish_reason"] == "stop"


@pytest.mark.parametrize("header", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic eDp4"}])
async def test_without_the_token_nothing_is_read(
    endpoint: LoopbackEndpoint, script: Script, header: dict[str, str]
) -> None:
    async with httpx.AsyncClient(trust_env=False) as stranger:
        answer = await stranger.post(f"{endpoint.url}/chat/completions", json=CHAT, headers=header)
    assert answer.status_code == 401
    assert answer.json()["error"]["message"]
    assert script.requests == [] and endpoint.calls == {"refused": 1}


async def test_the_token_is_random_and_not_in_the_repr() -> None:
    async with LoopbackEndpoint(LexicalEmbedder(), None) as one, LoopbackEndpoint(LexicalEmbedder(), None) as other:
        assert one.token != other.token and one.url != other.url
        assert one.token not in repr(one)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/embeddings", {"input": []}, 400),
        ("/embeddings", {"input": [1, 2]}, 400),
        ("/embeddings", {"input": "x", "dimensions": 99}, 400),
        ("/embeddings", {"input": "x", "encoding_format": "hex"}, 400),
        ("/embeddings", {"input": ["x"] * 3000}, 400),
        ("/embeddings", {"input": "x" * 200_000}, 413),
        ("/embeddings", [], 400),
        ("/chat/completions", {"messages": []}, 400),
        ("/chat/completions", {"messages": [{"role": "wizard", "content": "x"}]}, 400),
        ("/chat/completions", {"messages": [7]}, 400),
        ("/chat/completions", CHAT | {"max_tokens": "many"}, 400),
        ("/chat/completions", CHAT | {"tools": [{}]}, 400),
        ("/models", {}, 404),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_bad_request_is_answered_with_an_error(
    client: httpx.AsyncClient, path: str, body: Any, status: int
) -> None:
    answer = await client.post(path, json=body)
    assert answer.status_code == status
    assert set(answer.json()["error"]) >= {"message", "type"}
    assert (await client.post("/embeddings", json={"input": "夜色"})).status_code == 200


async def test_a_body_that_is_no_json_and_a_get_are_refused(client: httpx.AsyncClient) -> None:
    assert (await client.post("/embeddings", content=b"{")).status_code == 400
    assert (await client.get("/embeddings")).status_code == 405


@pytest.mark.parametrize(("fault", "status"), [(ModelFault.RATE_LIMIT, 429), (ModelFault.SERVER, 502)])
@pytest.mark.parametrize("stream", [False, True])
async def test_the_models_failure_has_a_status(
    client: httpx.AsyncClient,
    script: Script,
    endpoint: LoopbackEndpoint,
    fault: ModelFault,
    status: int,
    stream: bool,
) -> None:
    script.failure = ModelError(fault, "Wait", retry_after=7)
    answer = await client.post("/chat/completions", json=CHAT | {"stream": stream})
    assert answer.status_code == status
    assert answer.headers["retry-after"] == "7"
    assert answer.json()["error"]["code"] == fault
    assert endpoint.calls["failed"] == 1


@pytest.mark.parametrize(
    ("failure", "status"), [(BudgetExceeded("The cap is reached"), 403), (ZeroDivisionError("a fault of ours"), 500)]
)
async def test_any_other_failure_has_a_status_too(
    client: httpx.AsyncClient, script: Script, failure: Exception, status: int
) -> None:
    script.failure = failure
    answer = await client.post("/chat/completions", json=CHAT)
    assert answer.status_code == status
    assert "a fault of ours" not in answer.text
    assert (await client.post("/embeddings", json={"input": "夜色"})).status_code == 200


async def test_a_failure_in_the_middle_of_a_stream_is_an_error_event(client: httpx.AsyncClient, script: Script) -> None:
    script.failure, script.failure_after = ModelError(ModelFault.NETWORK, "Gone"), 2
    answer = await client.post("/chat/completions", json=CHAT | {"stream": True})
    assert '"Gone"' in answer.text and "[DONE]" not in answer.text


async def test_eight_requests_are_served_side_by_side() -> None:
    async with LoopbackEndpoint(Meeting(8), None) as endpoint:
        headers = {"authorization": f"Bearer {endpoint.token}"}
        async with httpx.AsyncClient(headers=headers, trust_env=False) as client:
            posts = (client.post(f"{endpoint.url}/embeddings", json={"input": "夜色"}) for _ in range(8))
            answers = await asyncio.gather(*posts)
    assert [answer.status_code for answer in answers] == [200] * 8


async def test_without_a_chat_model_chat_is_refused() -> None:
    async with LoopbackEndpoint(LexicalEmbedder(), None) as endpoint, httpx.AsyncClient(trust_env=False) as client:
        headers = {"authorization": f"Bearer {endpoint.token}"}
        answer = await client.post(f"{endpoint.url}/chat/completions", json=CHAT, headers=headers)
    assert answer.status_code == 503


@pytest.mark.parametrize("octets", [b"\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"POST /v1/embeddings HTTP/1.1\r\n"])
async def test_garbage_on_the_wire_ends_only_that_connection(endpoint: LoopbackEndpoint, octets: bytes) -> None:
    port = int(endpoint.url.split(":")[2].split("/")[0])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(octets)
    writer.write_eof()
    assert await soon(reader.read()) == b""
    writer.close()
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(endpoint.url)).status_code == 401


async def test_leaving_the_context_ends_waiting_connections_quietly(caplog: pytest.LogCaptureFixture) -> None:
    embedder = Meeting(2)
    async with httpx.AsyncClient(trust_env=False) as client:
        async with LoopbackEndpoint(embedder, None) as endpoint:
            headers = {"authorization": f"Bearer {endpoint.token}"}
            post = asyncio.create_task(client.post(f"{endpoint.url}/embeddings", json={"input": "x"}, headers=headers))
            await embedder.first_came.wait()
        with pytest.raises(httpx.HTTPError):
            await post
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
