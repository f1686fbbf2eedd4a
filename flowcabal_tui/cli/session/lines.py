"""Reads messages from standard input: bounded lines, strict JSON, one typed error for each invalid line."""

from __future__ import annotations

import asyncio
import json
import os
import re
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from flowcabal_tui.domain.errors import RunError
from flowcabal_tui.domain.json_errors import json_reason
from flowcabal_tui.locale import _

MOST_BYTES: Final = 1_000_000
"""Maximum bytes of a line, without its end."""
DEPTH: Final = 200
"""Lists and objects inside each other: a line that reaches it is refused."""
_PIECE: Final = 65_536
_PIECES_WAITING: Final = 4
_MOST_NUMBER: Final = 2**63 - 1
_ID_NUMBER: Final = 2**53 - 1
_ID_LENGTH: Final = 200
_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_FIRST_ID: Final = re.compile(rb'\s*\{\s*"id"\s*:\s*(-?\d{1,15}|"[^"\\\x00-\x1f]{0,200}")\s*[,}]')

Identity = str | int | None
"""A client's id for a message: text of at most 200 characters or a number of at most 53 bits; None: no id."""


class BadLine(RunError):
    """A line that is not a message. `kind` names the error for programs; `identity` is the id, if known."""

    def __init__(self, kind: str, title: str, detail: str = "", identity: Identity = None) -> None:
        super().__init__(title, detail, _("The line was ignored."))
        self.kind, self.identity = kind, identity


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A line without its end. Of one that is longer than MOST_BYTES, `content` is the beginning."""

    content: bytes
    whole: bool = True


class LineSplitter:
    """Divides bytes into lines; never holds more than one line of MOST_BYTES."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._whole = True

    def feed(self, piece: bytes) -> Iterator[SessionLine]:
        """The lines that end in `piece`."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._hold(part)
            yield from self.end()
        self._hold(rest)

    def end(self) -> Iterator[SessionLine]:
        """The rest as a line: the input, or the line, has ended."""
        if self._buffer:
            yield SessionLine(bytes(self._buffer), self._whole)
        self._buffer.clear()
        self._whole = True

    def _hold(self, part: bytes) -> None:
        space = MOST_BYTES - len(self._buffer)
        self._whole = self._whole and len(part) <= space
        self._buffer += part[:space]


async def lines_of(source: int) -> AsyncIterator[SessionLine]:
    """The lines of a file descriptor; a thread waits for them, and reads no further than they are taken."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[bytes] = asyncio.Queue(_PIECES_WAITING)

    def pump() -> None:
        piece = b"-"
        with suppress(RuntimeError, asyncio.CancelledError):  # the loop has ended before the input
            while piece:
                try:
                    piece = os.read(source, _PIECE)
                except OSError:  # it is closed: the input ends here too
                    piece = b""
                asyncio.run_coroutine_threadsafe(pieces.put(piece), loop).result()

    threading.Thread(target=pump, name="session-input", daemon=True).start()
    splitter = LineSplitter()
    while piece := await pieces.get():
        for line in splitter.feed(piece):
            yield line
    for line in splitter.end():
        yield line


def read_message(line: SessionLine) -> tuple[Identity, dict[str, Any]]:
    """The id and the other fields of a message. Raises BadLine."""
    raw = line.content
    early = _id_at_start(raw)
    if not line.whole:
        title = _("The line is longer than {n} bytes.").format(n=f"{MOST_BYTES:,}")
        raise BadLine("LineTooLong", title, identity=early)
    if _depth(raw) >= DEPTH:
        raise BadLine("LineTooDeep", _("The line is nested {n} levels deep or more.").format(n=DEPTH), identity=early)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise BadLine("NotText", _("The line is not UTF-8."), identity=early) from error
    try:
        value = json.loads(text, parse_constant=_refused)
    except json.JSONDecodeError as error:
        place = _("column {n}").format(n=error.colno) + f": {json_reason(error)}"
        raise BadLine("NotJson", _("The line is not JSON."), place, early) from error
    except (ValueError, RecursionError) as error:  # such as a number of 5,000 digits
        raise BadLine("NotJson", _("The line contains a number that cannot be read."), identity=early) from error
    if not isinstance(value, dict):
        raise BadLine("UnknownMessage", _("A message is a JSON object with a type."))
    identity = _identity(value.pop("id", None))
    if problem := _problem_in(value):
        raise BadLine("BadValue", problem, identity=identity)
    return identity, value


def _refused(_constant: str) -> Any:
    raise ValueError


def _depth(raw: bytes) -> int:
    """The nesting depth of lists and objects, counted before the recursive parser reads them."""
    depth = deepest = 0
    for bracket in re.findall(rb"[\[{]|[\]}]", _STRING.sub(b"", raw)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _id_at_start(raw: bytes) -> Identity:
    """The id of a line that cannot be read, where it is its first field."""
    found = _FIRST_ID.match(raw)
    try:
        return None if found is None else _identity(json.loads(found[1]))
    except (ValueError, BadLine):
        return None


def _identity(value: Any) -> Identity:
    is_text = isinstance(value, str) and len(value) <= _ID_LENGTH and not _problem_in(value)
    is_number = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _ID_NUMBER
    if not (value is None or is_text or is_number):
        raise BadLine(
            "BadId", _("An id is null, text of at most {n} characters, or a whole number.").format(n=_ID_LENGTH)
        )
    identity: Identity = value
    return identity


def _problem_in(value: Any) -> str:
    """The reason why no text, file or database could store this JSON value; "" if they can."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list):
            waiting += part
        elif isinstance(part, str) and ("\0" in part or any("\ud800" <= each <= "\udfff" for each in part)):
            return _("A text contains a character that is not allowed: NUL, or half of a surrogate pair.")
        elif isinstance(part, int | float) and not abs(part) <= _MOST_NUMBER:
            return _("A number is out of range.")
    return ""
