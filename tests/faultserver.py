"""A model server on loopback that fails as told: OpenAI chat and embeddings, Anthropic messages.

    python tests/faultserver.py --port 0 [--script faults.json] [--api-key KEY]

In a test: `async with FaultServer() as server:`, then `server.url`, `server.push({...})`, `server.log`.
The OpenAI base_url is `<url>/v1`, Anthropic's is `<url>`. Nothing is random: the answer follows from the request.

Each request takes the first fault in the queue and uses it up; `times` lets it be used more often (-1: for ever).
  status, body, headers      an answer with this HTTP status, this text or JSON, these headers besides
  ttft, delay                seconds before the first event, and before each one
  header_delay               seconds before the status line
  stall_after                events, then silence until the client goes
  reset_after, eof_after     events, then a TCP reset or a clean early end (-1 resets before the status line)
  bad_json_at, empty_choices_at, error_event_at, comment_at      what event number N becomes (a comment comes before it)
  comments                   keep-alive comments before the first event, one every `comment_delay` seconds
  raw                        text sent as the whole stream, or a list of its pieces; also as the body of an error
  type                       the content type of the stream
  split                      the stream in pieces of that many bytes
  content, reasoning, tool_calls, finish, usage (False: none; OpenAI: counts), no_done        what the answer is made of
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import math
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.waiting import PATIENCE

PROSE = "夜色落在长街上，灯火一点一点亮起来。少年推开茶馆的门，听见雨声。The old ferry had already gone. "
DIMENSIONS = 64
FINISHES = {"tool": "tool_calls"}
STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal", "tool": "tool_use"}
TOGETHER = 16
"""Events in one chunk of an answer whose fault names only its content: a test of answers needs no test of chunks."""
PIECES, PIECE = 64, 8
"""Pieces of a text in such an answer, and the characters of a piece then, at most: costs are counted as they arrive."""
CONTENT = frozenset(["content", "reasoning", "tool_calls", "finish", "usage", "no_done", "times"])
Json = dict[str, Any]


class Closing(Exception):
    """The scripted end of a connection; its text is the outcome in the log."""


class FaultServer:
    """Serves until the context ends. `log` has one entry a request, with `outcome`."""

    def __init__(self, port: int = 0, api_key: str = "") -> None:
        self._port, self._api_key = port, api_key
        self._faults: list[Json] = []
        self.log: list[Json] = []
        self.asked: list[str] = []
        """Addresses of requests that only look: they take no fault, unless `looks_take_faults`."""
        self.looks_take_faults = False
        self.listed: Json = {}
        """What the list of models says of the model besides its name."""
        self._connections: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Condition()
        self.connections = 0
        self.longest_input: int | None = None
        """Characters of a text that the embedding model takes, as llama.cpp refuses a longer one."""

    async def __aenter__(self) -> FaultServer:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", self._port, limit=2**26)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def push(self, *faults: Json) -> None:
        """Queues faults, one a request."""
        self._faults += [dict(fault) for fault in faults]

    def clear(self) -> None:
        """Forgets the faults that no request took."""
        self._faults.clear()

    async def wait_for(self, outcome: str) -> Json:
        """The first log entry that ends so, as soon as it has."""
        async with asyncio.timeout(PATIENCE), self._changed:
            while not (found := [entry for entry in self.log if entry["outcome"] == outcome]):
                await self._changed.wait()
            return found[0]

    def _take(self) -> Json:
        if not self._faults:
            return {}
        fault = self._faults[0]
        fault["times"] = fault.get("times", 1) - 1
        if fault["times"] == 0:
            self._faults.pop(0)
        return fault

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if task := asyncio.current_task():
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._request(reader, writer):
                    pass
        finally:
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _version = lines[0].split(" ", 2)
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        entry: Json = {"method": method, "path": path, "headers": headers, "body": json.loads(raw or b"{}")}
        entry |= {"outcome": "open", "events": 0}
        looks = method == "GET"
        if looks:
            self.asked.append(path)
        if not looks or self.looks_take_faults:
            self.log.append(entry)
        fault = {} if looks and not self.looks_take_faults else self._take()
        serving = asyncio.create_task(self._serve(writer, entry, fault))
        gone = asyncio.create_task(reader.read(1))  # a client sends nothing while it is served: this is its end
        try:
            await asyncio.wait({serving, gone}, return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                entry["outcome"] = serving.result()
                gone.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await gone
                return True
            entry["outcome"] = "client_closed"
        except Closing as end:
            entry["outcome"] = str(end)
        except ConnectionError:
            entry["outcome"] = "client_closed"
        finally:
            serving.cancel()
            gone.cancel()
            await asyncio.gather(serving, gone, return_exceptions=True)
            async with self._changed:
                self._changed.notify_all()
        return False

    async def _serve(self, writer: asyncio.StreamWriter, entry: Json, fault: Json) -> str:
        await asyncio.sleep(fault.get("header_delay", 0))
        if fault.get("reset_after") == -1:
            reset(writer)
        headers, path, body = entry["headers"], entry["path"], entry["body"]
        key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        status = fault.get("status", 401 if self._api_key and key != self._api_key else 200)
        if "body" in fault or (status != 200 and "raw" not in fault):
            said = fault.get("body", {"error": {"type": "scripted", "message": f"scripted {status}"}})
            return reply(writer, status, said, fault.get("headers"))
        if path == "/v1/models":
            return reply(writer, 200, {"object": "list", "data": [{"id": "mock", "object": "model", **self.listed}]})
        if path == "/v1/embeddings":
            longest = max(map(len, [body["input"]] if isinstance(body["input"], str) else body["input"]))
            if self.longest_input is not None and longest > self.longest_input:
                words = f"input ({longest} tokens) is too large to process. increase the physical batch size"
                return reply(writer, 500, {"error": {"code": 500, "message": words, "type": "server_error"}})
            return reply(writer, 200, embeddings(body))
        if path not in DIALECTS:
            return reply(writer, 404, {"error": {"type": "not_found_error", "message": f"no {path}"}})
        dialect = DIALECTS[path](body, fault)
        if not body.get("stream"):
            await asyncio.sleep(fault.get("ttft", 0))
            return reply(writer, 200, dialect.whole())
        await stream(writer, dialect, fault, entry)
        return "complete"


def reset(writer: asyncio.StreamWriter) -> None:
    """A TCP RST instead of an orderly end."""
    linger = struct.pack("ii", 1, 0)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()
    raise Closing("reset")


def reply(writer: asyncio.StreamWriter, status: int, said: Json | str, headers: Json | None = None) -> str:
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    kind = "text/html" if text.startswith("<") else "application/json"
    lines = [f"HTTP/1.1 {status} X", f"content-type: {kind}", f"content-length: {len(text.encode())}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write("\r\n".join([*lines, "", text]).encode())
    return f"status {status}"


async def stream(writer: asyncio.StreamWriter, dialect: Dialect, fault: Json, entry: Json) -> None:
    kind = fault.get("type", "text/event-stream")
    writer.write(
        f"HTTP/1.1 {fault.get('status', 200)} X\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
    )
    await writer.drain()
    await asyncio.sleep(fault.get("ttft", 0))
    for _ in range(fault.get("comments", 0)):
        await send(writer, b": keep-alive\n\n", 0)
        await asyncio.sleep(fault.get("comment_delay", 0))
    raw = fault.get("raw")
    each = 1 if fault.keys() - CONTENT else TOGETHER
    together = b""
    for number, event in enumerate([raw] if isinstance(raw, str) else raw or dialect.events()):
        if number == fault.get("stall_after"):
            await writer.drain()
            await asyncio.Event().wait()
        if number == fault.get("reset_after"):
            await writer.drain()
            await asyncio.sleep(0.05)  # what was sent must have been read: a reset throws the rest away
            reset(writer)
        if number == fault.get("eof_after"):
            writer.write(b"0\r\n\r\n")
            raise Closing("early_eof")
        together += dialect.broken(number, event).encode()
        entry["events"] = number + 1
        if number % each:
            continue
        await send(writer, together, fault.get("split", 0))
        together = b""
        if fault.get("delay") or number % 64 == 0:
            await writer.drain()
            await asyncio.sleep(fault.get("delay", 0))
    if together:
        await send(writer, together, 0)
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def send(writer: asyncio.StreamWriter, event: bytes, split: int) -> None:
    for start in range(0, len(event), split or len(event)):
        piece = event[start : start + split] if split else event
        writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if split:
            await writer.drain()
            await asyncio.sleep(0)


def embeddings(body: Json) -> Json:
    """Hashed character pairs: similar texts get similar vectors."""
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    size = body.get("dimensions", DIMENSIONS)
    rows = [{"object": "embedding", "index": n, "embedding": vector(text, size)} for n, text in enumerate(texts)]
    return {"object": "list", "data": rows, "model": body["model"], "usage": {"prompt_tokens": len("".join(texts))}}


def vector(text: str, size: int) -> list[float]:
    counts = [0.0] * size
    for pair in zip(text, text[1:] + " ", strict=True):
        counts[int.from_bytes(hashlib.blake2b("".join(pair).encode(), digest_size=4).digest()) % size] += 1
    length = math.sqrt(sum(count * count for count in counts)) or 1.0
    return [count / length for count in counts]


def sample(schema: Json, root: Json) -> Any:
    """A small value that fits a schema of the kind that pydantic makes."""
    if reference := schema.get("$ref"):
        return sample(root["$defs"][reference.rpartition("/")[2]], root)
    if "enum" in schema or "const" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: sample(each, root) for name, each in schema.get("properties", {}).items()}
        case "array":
            return [sample(schema["items"], root)]
        case kind:
            number = schema.get("minimum", 1)
            return {"integer": number, "number": number, "boolean": True, "null": None}.get(str(kind), "sample")


class Dialect:
    """One answer in one provider's words."""

    def __init__(self, body: Json, fault: Json) -> None:
        self.body, self.fault = body, fault
        tools = [tool.get("function", tool) for tool in body.get("tools", ())]
        forced = choice if isinstance(choice := body.get("tool_choice"), dict) else {}
        name = forced.get("name") or forced.get("function", {}).get("name")
        calls = fault.get("tool_calls")
        if calls is None and name and "content" not in fault:
            tool = next(tool for tool in tools if tool["name"] == name)
            schema = tool.get("parameters") or tool["input_schema"]
            calls = [{"name": name, "arguments": sample(schema, schema)}]
        self.calls: list[Json] = calls or []
        text: str = fault.get("content", "" if calls else self._prose())
        self.text = self.pieces(text, 2)
        thought: str = fault.get("reasoning", "")
        self.thought = self.pieces(thought, 4)
        self.finish: str = fault.get("finish", "tool" if self.calls else "stop")
        self.tokens_in = fault.get("tokens_in", len(json.dumps(body["messages"], ensure_ascii=False)))
        self.tokens_out = fault.get("tokens_out", max(1, len(text)))

    def pieces(self, text: str, size: int) -> list[str]:
        """The text in pieces of so many characters; of more where the fault is in no piece."""
        size = size if self.fault.keys() - CONTENT else max(size, min(len(text) // PIECES, PIECE))
        return [text[start : start + size] for start in range(0, len(text), size)]

    def events(self) -> Iterator[str]:
        raise NotImplementedError

    def whole(self) -> Json:
        raise NotImplementedError

    def broken(self, number: int, event: str) -> str:
        """The event that the fault makes of event `number`."""
        if number == self.fault.get("bad_json_at"):
            return event.rstrip("\n")[:-12] + "\n\n"
        if number == self.fault.get("empty_choices_at"):
            return 'data: {"choices": []}\n\n'
        if number == self.fault.get("error_event_at"):
            error = {"type": "overloaded_error", "message": "scripted error"}
            return f"event: error\ndata: {json.dumps({'type': 'error', 'error': error})}\n\n"
        return f": keep-alive\n\n{event}" if number == self.fault.get("comment_at") else event

    def _prose(self) -> str:
        schema = (self.body.get("response_format") or {}).get("json_schema", {}).get("schema")
        schema = schema or (self.body.get("output_config") or {}).get("format", {}).get("schema")
        return json.dumps(sample(schema, schema)) if schema else PROSE


def arguments(call: Json) -> str:
    value = call["arguments"]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class OpenAI(Dialect):
    def usage(self) -> Json:
        counts = {"prompt_tokens": self.tokens_in, "completion_tokens": self.tokens_out}
        said = self.fault.get("usage", counts)
        return {} if said is False else {"usage": said}

    def whole(self) -> Json:
        message: Json = {"role": "assistant", "content": "".join(self.text), "reasoning_content": "".join(self.thought)}
        if self.calls:
            message["tool_calls"] = [self._call(number, arguments(call)) for number, call in enumerate(self.calls)]
        choice = {"index": 0, "message": message, "finish_reason": FINISHES.get(self.finish, self.finish)}
        return {"object": "chat.completion", "model": self.body["model"], "choices": [choice], **self.usage()}

    def events(self) -> Iterator[str]:
        yield self._chunk({"role": "assistant", "content": ""})
        for piece in self.thought:
            yield self._chunk({"reasoning_content": piece})
        for piece in self.text:
            yield self._chunk({"content": piece})
        for number, call in enumerate(self.calls):
            yield self._chunk({"tool_calls": [self._call(number, "")]})
            for piece in self.pieces(arguments(call), 16):
                part = {"index": number, "function": {"arguments": piece}}
                yield self._chunk({"tool_calls": [part]})
        yield self._chunk({}, FINISHES.get(self.finish, self.finish))
        if (self.body.get("stream_options") or {}).get("include_usage") and self.usage():
            yield self._event({"choices": [], **self.usage()})
        if not self.fault.get("no_done"):
            yield "data: [DONE]\n\n"

    def _call(self, number: int, text: str) -> Json:
        function = {"name": self.calls[number]["name"], "arguments": text}
        return {"index": number, "id": f"call_{number}", "type": "function", "function": function}

    def _chunk(self, delta: Json, finish: str | None = None) -> str:
        return self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def _event(self, fields: Json) -> str:
        chunk = {"object": "chat.completion.chunk", "model": self.body["model"], **fields}
        return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"


class Anthropic(Dialect):
    def usage(self, out: int) -> Json:
        counts = {"input_tokens": self.tokens_in - 3, "cache_read_input_tokens": 3, "output_tokens": out}
        return {} if self.fault.get("usage") is False else {"usage": counts}

    def whole(self) -> Json:
        message = {"type": "message", "role": "assistant", "model": self.body["model"]}
        blocks: list[Json] = [{"type": "text", "text": "".join(self.text)}] if self.text else []
        blocks += [self._tool(number) | {"input": call["arguments"]} for number, call in enumerate(self.calls)]
        stop = STOPS.get(self.finish, self.finish)
        return {**message, "content": blocks, "stop_reason": stop, **self.usage(self.tokens_out)}

    def events(self) -> Iterator[str]:
        yield self._event("message_start", message={"model": self.body["model"], "content": [], **self.usage(1)})
        yield self._event("ping")
        for index, (block, deltas) in enumerate(self._blocks()):
            yield self._event("content_block_start", index=index, content_block=block)
            for delta in deltas:
                yield self._event("content_block_delta", index=index, delta=delta)
            yield self._event("content_block_stop", index=index)
        usage = {} if self.fault.get("usage") is False else {"usage": {"output_tokens": self.tokens_out}}
        yield self._event("message_delta", delta={"stop_reason": STOPS.get(self.finish, self.finish)}, **usage)
        yield self._event("message_stop")

    def _blocks(self) -> Iterator[tuple[Json, list[Json]]]:
        if self.thought:
            deltas: list[Json] = [{"type": "thinking_delta", "thinking": piece} for piece in self.thought]
            deltas += [{"type": "signature_delta", "signature": piece} for piece in ("c2ln", "bmVk")]
            yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
        if self.text:
            yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in self.text]
        for number, call in enumerate(self.calls):
            pieces = self.pieces(arguments(call), 16)
            yield self._tool(number), [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]

    def _tool(self, number: int) -> Json:
        return {"type": "tool_use", "id": f"toolu_{number}", "name": self.calls[number]["name"], "input": {}}

    @staticmethod
    def _event(kind: str, **fields: Any) -> str:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields}, ensure_ascii=False)}\n\n"


DIALECTS: dict[str, type[Dialect]] = {"/v1/chat/completions": OpenAI, "/v1/messages": Anthropic}


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--script", type=Path, help="a JSON file with a list of faults")
    parser.add_argument("--api-key", default="", help="any other key is answered with 401")
    options = parser.parse_args()
    faults = json.loads(options.script.read_text(encoding="utf-8")) if options.script else []
    async with FaultServer(options.port, options.api_key) as server:
        server.push(*faults)
        print("listening", server.url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
