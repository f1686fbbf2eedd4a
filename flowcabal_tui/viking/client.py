"""Our own client of OpenViking's HTTP interface: the few calls that the book's tree needs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from flowcabal_tui.domain.addresses import is_loopback
from flowcabal_tui.domain.errors import KnowledgeError
from flowcabal_tui.domain.text import clean
from flowcabal_tui.locale import _

if TYPE_CHECKING:
    import httpx

WITHOUT_SUMMARISER: Final = "vectors_only"
_BUSY_WAITS: Final = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
_CONNECT_SECONDS: Final = 3.0
_ANSWER_SECONDS: Final = 10.0
_WORK_SECONDS: Final = 120.0
_PACK_SECONDS: Final = 1800.0
_ANSWER_BYTES: Final = 8 << 20
_LARGE_BYTES: Final = 64 << 20
_PACK_BYTES: Final = 1 << 30
_MOST_COUNTED: Final = 1 << 53
_MOST_SCORE: Final = 1000.0
_FILES_LISTED: Final = 100_000
_LEVELS_LISTED: Final = 20


class KnowledgeMissing(KnowledgeError):
    """There is no entry at that URI."""


class KnowledgeBusy(KnowledgeError):
    """The resource stayed locked by earlier work for longer than all our tries."""


@dataclass(frozen=True, slots=True)
class Address:
    """The URL of a server and our credentials. The key is never displayed."""

    url: str
    key: str = field(default="", repr=False)
    account: str = "default"
    user: str = "default"

    @property
    def loopback(self) -> bool:
        return is_loopback(self.url)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of `trusted` mode: the root key, an account, a user and a role."""
        who = {"Account": self.account, "User": self.user, "Role": "admin"}
        key = {"X-API-Key": self.key} if self.key else {}
        return key | {f"X-OpenViking-{name}": value for name, value in who.items()}


@dataclass(frozen=True, slots=True)
class FileWrite:
    """One file of a batch; an existing one is replaced. Tags are `key=value`."""

    uri: str
    content: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListingEntry:
    """One line of a listing."""

    uri: str
    directory: bool


@dataclass(frozen=True, slots=True)
class VectorHit:
    """A vector hit. `score` is a cosine mapped to 0..1 (unrelated texts: about 0.5)."""

    uri: str
    score: float


@dataclass(frozen=True, slots=True)
class Consistency:
    """Files and vector records under a URI; `ok` is False when some of the `expected` records are missing."""

    ok: bool
    expected: int
    missing: int


class KnowledgeClient:
    """Calls the server at its current `address`, which changes when it restarts on another port.

    Every call raises KnowledgeError (KnowledgeMissing, KnowledgeBusy) and nothing else, also for an answer that is
    malformed, too large or too slow. Calls that look something up may take `answer_seconds`, those that embed or delete
    `work_seconds`, however steadily their answer arrives; only a pack may take longer.
    """

    def __init__(
        self,
        address: Callable[[], Address],
        *,
        answer_seconds: float = _ANSWER_SECONDS,
        work_seconds: float = _WORK_SECONDS,
        busy_waits: Sequence[float] = _BUSY_WAITS,
    ) -> None:
        self._address = address
        self._answer_seconds, self._work_seconds = answer_seconds, work_seconds
        self._busy_waits = busy_waits
        self._http: httpx.AsyncClient | None = None

    async def aclose(self) -> None:
        """Closes the kept connections."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def is_healthy(self) -> bool:
        """True when the server works. Needs no key."""
        status, content = await self._request("GET", "/health")
        answer = _checked(status, content, self._address().key)
        return bool(answer.get("status") == "ok")

    async def mkdir(self, uri: str, description: str) -> bool:
        """Makes a directory (and its parents) with `description` as its L0; returns False if it existed."""
        try:
            await self._call("POST", "fs/mkdir", {"uri": uri, "description": description})
        except _AlreadyThere:
            return False
        return True

    async def batch_write(self, root: str, writes: Sequence[FileWrite], *, wait: bool) -> None:
        """Writes files under the existing directory `root`. With `wait`, returns only when their vectors exist."""
        operations = [
            {"uri": write.uri, "content": write.content, "mode": "upsert"}
            | ({"tags": list(write.tags)} if write.tags else {})
            for write in writes
        ]
        body = {
            "root_uri": root,
            "operations": operations,
            "wait": wait,
            "processing_mode": WITHOUT_SUMMARISER,
        }
        await self._call("POST", "content/batch-write", body, seconds=self._work_seconds)

    async def read(self, uri: str) -> str:
        """The exact text of a file."""
        params = {"uri": uri, "raw": True}
        return _text(await self._call("GET", "content/read", params=params, most=_LARGE_BYTES))

    async def abstract(self, uri: str) -> str:
        """The L0 of a directory."""
        return _text(await self._call("GET", "content/abstract", params={"uri": uri}))

    async def overview(self, uri: str) -> str:
        """The L1 of a directory."""
        return _text(await self._call("GET", "content/overview", params={"uri": uri}))

    async def ls(self, uri: str) -> tuple[ListingEntry, ...]:
        """The entries of a directory, hidden files too."""
        params = {"uri": uri, "show_all_hidden": True, "node_limit": _FILES_LISTED}
        return _entries(await self._call("GET", "fs/ls", params=params))

    async def tree(self, uri: str) -> tuple[ListingEntry, ...]:
        """Everything below a directory, hidden files included."""
        params = {"uri": uri, "show_all_hidden": True, "node_limit": _FILES_LISTED, "level_limit": _LEVELS_LISTED}
        seconds = self._work_seconds
        return _entries(await self._call("GET", "fs/tree", params=params, seconds=seconds, most=_LARGE_BYTES))

    async def find(
        self,
        query: str,
        *,
        level: Literal[0, 1, 2],
        target_uri: str | Sequence[str],
        limit: int,
        tags: Sequence[str] = (),
    ) -> tuple[VectorHit, ...]:
        """The nearest files (or directory texts) of one level under `target_uri` with all `tags`, best first."""
        target = target_uri if isinstance(target_uri, str) else list(target_uri)
        body: dict[str, Any] = {"query": query, "target_uri": target, "limit": limit, "level": level}
        body |= {"tags": list(tags)} if tags else {}
        answer = _mapping(await self._call("POST", "search/find", body))
        hits = map(_mapping, _list(answer.get("resources")))
        return tuple(VectorHit(_text(hit.get("uri")), _number(hit.get("score"), _MOST_SCORE)) for hit in hits)

    async def rm(self, uri: str) -> bool:
        """Removes a directory with everything in it; returns False if it did not exist."""
        try:
            params = {"uri": uri, "recursive": True, "wait": False}
            await self._call("DELETE", "fs", params=params, seconds=self._work_seconds)
        except KnowledgeMissing:
            return False
        return True

    async def mv(self, uri: str, to: str) -> None:
        """Moves a directory with its tags and vectors to an unused place, since existing files there would be lost."""
        await self._call("POST", "fs/mv", {"from_uri": uri, "to_uri": to}, seconds=self._work_seconds)

    async def waiting(self) -> int:
        """The number of tasks that the server has accepted and not finished."""
        answer = _mapping(await self._call("GET", "observer/queue", params={"format": "json"}))
        summary = _mapping(_mapping(answer.get("status")).get("summary"))
        return _count(summary.get("pending")) + _count(summary.get("in_progress"))

    async def vectors(self) -> int:
        """The number of vectors in the server, over all its trees."""
        answer = _mapping(await self._call("GET", "observer/vikingdb", params={"format": "json"}))
        return _count(_mapping(answer.get("status")).get("vector_count"))

    async def check_consistency(self, uri: str) -> Consistency:
        """Compares files with vector records; does not detect outdated vectors."""
        body = {"uri": uri}
        answer = _mapping(await self._call("POST", "system/consistency", body, seconds=self._work_seconds))
        expected, missing = _count(answer.get("expected_count")), _count(answer.get("missing_record_count"))
        return Consistency(bool(answer.get("ok")), expected, missing)

    async def set_tags(self, uri: str, tags: Sequence[str]) -> None:
        """Replaces the tags of a file, or of a directory and everything in it."""
        await self._call("POST", "content/set_tags", {"uri": uri, "tags": list(tags), "recursive": True})

    async def export_pack(self, uri: str) -> bytes:
        """Everything below a directory with its vectors, as an ovpack: it has no tags."""
        body = {"uri": uri, "include_vectors": True}
        path = "/api/v1/pack/export"
        status, content = await self._request(
            "POST", path, body, seconds=self._work_seconds, in_all=_PACK_SECONDS, most=_PACK_BYTES
        )
        if status >= 400:
            _checked(status, content, self._address().key)
        return content

    async def import_pack(self, pack: bytes, parent: str) -> None:
        """Puts the content of an ovpack under `parent`, over existing files; missing vectors are made."""
        files = {"file": ("book.ovpack", pack)}
        path = "/api/v1/resources/temp_upload"
        status, content = await self._request(
            "POST", path, files=files, seconds=self._work_seconds, in_all=_PACK_SECONDS
        )
        uploaded = _mapping(_checked(status, content, self._address().key).get("result"))
        body = {
            "temp_file_id": uploaded.get("temp_file_id", ""),
            "parent": parent,
            "on_conflict": "overwrite",
            "vector_mode": "auto",
        }
        await self._call("POST", "pack/import", body, seconds=self._work_seconds)

    async def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        seconds: float | None = None,
        most: int = _ANSWER_BYTES,
    ) -> Any:
        """One call's `result`; waits and tries again while the resource is locked."""
        waits = iter(self._busy_waits)
        while True:
            status, content = await self._request(method, f"/api/v1/{path}", body, params, seconds=seconds, most=most)
            try:
                return _checked(status, content, self._address().key).get("result")
            except KnowledgeBusy:
                if (pause := next(waits, None)) is None:
                    raise
                await asyncio.sleep(pause)

    async def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        *,
        files: Mapping[str, tuple[str, bytes]] | None = None,
        seconds: float | None = None,
        in_all: float | None = None,
        most: int = _ANSWER_BYTES,
    ) -> tuple[int, bytes]:
        """Status and content of the answer, also of one that reports an error.

        The server may be silent for `seconds` and work for `in_all` of them (None: `seconds`); `most` is the limit of
        bytes.
        """
        import httpx

        address = self._address()
        if not (address.key.isascii() and address.key.isprintable()):
            raise KnowledgeError(
                _("The key of the knowledge server has characters that cannot be sent."),
                "",
                _("Set the environment variable named by [knowledge] api_key_env to the server's root key."),
            )
        seconds = seconds or self._answer_seconds
        content = bytearray()
        try:
            if self._http is None:
                self._http = httpx.AsyncClient(trust_env=not address.loopback, verify=not address.loopback)
            async with (
                asyncio.timeout(in_all or seconds),
                self._http.stream(
                    method,
                    address.url.rstrip("/") + path,
                    content=None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"),
                    params=params,
                    files=files,
                    headers=address.headers | ({} if files else {"Content-Type": "application/json"}),
                    timeout=httpx.Timeout(seconds, connect=_CONNECT_SECONDS),
                ) as answer,
            ):
                async for piece in answer.aiter_bytes():
                    content += piece
                    if len(content) > most:
                        raise _unreadable(_("It is larger than {n} MB.").format(n=most >> 20))
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError, ImportError) as error:
            # the last three: time is up, or settings of proxies and certificates cannot be used
            raise _unreachable(error, address.key) from error
        return answer.status_code, bytes(content)


class _AlreadyThere(KnowledgeError):
    """`mkdir` of an existing directory: no lock is involved, so the call is not repeated."""


def _mapping(value: Any) -> Mapping[str, Any]:
    """A JSON object; empty for none, like the other parts of an answer."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise _unreadable()
    return value


def _list(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _unreadable()
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _unreadable()
    return value


def _number(value: Any, most: float) -> float:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not -most <= value <= most:
        raise _unreadable()
    return value


def _count(value: Any) -> int:
    return int(_number(value, _MOST_COUNTED))


def _entries(value: Any) -> tuple[ListingEntry, ...]:
    return tuple(ListingEntry(_text(line.get("uri")), bool(line.get("isDir"))) for line in map(_mapping, _list(value)))


def _unreadable(detail: str = "") -> KnowledgeError:
    return KnowledgeError(
        _("The knowledge server sent an answer that cannot be read."),
        detail,
        _("Check that the address in [knowledge] url is an OpenViking server."),
    )


def _checked(status: int, content: bytes, key: str) -> dict[str, Any]:
    """The answer's JSON object, or the KnowledgeError that it means."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise _unreadable(_("HTTP status {status}.").format(status=status))
    error = answer.get("error")
    if status < 400 and not error:
        return answer
    fault = error if isinstance(error, Mapping) else {}
    reason = fault.get("message") or answer.get("detail")
    message = _without(key, clean(_words(reason) or f"HTTP {status}"))[:400]
    raise _fault(status, _words(fault.get("code")), message)


def _words(value: Any) -> str:
    try:
        return str(value or "")
    except RecursionError:
        return ""


def _without(key: str, text: str) -> str:
    return text.replace(key, "***") if key else text


def _fault(status: int, code: str, message: str) -> KnowledgeError:
    if code == "CONFLICT" or status == 409:
        kind = _AlreadyThere if "already exists" in message else KnowledgeBusy
        return kind(
            _("The knowledge server is still working on this text."), message, _("The program tries again later.")
        )
    if code == "NOT_FOUND" or status == 404:
        return KnowledgeMissing(_("The knowledge server does not have this text."), message)
    if status in {401, 403} or code in {"UNAUTHENTICATED", "PERMISSION_DENIED"}:
        return KnowledgeError(
            _("The knowledge server refused the key."),
            message,
            _("Set the environment variable named by [knowledge] api_key_env to the server's root key."),
        )
    return KnowledgeError(
        _("The knowledge server could not do this."),
        message,
        _("Everything is saved; the program tries again later."),
    )


def _unreachable(error: Exception, key: str) -> KnowledgeError:
    return KnowledgeError(
        _("The knowledge server does not answer."),
        _without(key, clean(str(error))) or type(error).__name__,
        _("Everything continues without it; missing texts are sent when it is back."),
    )
