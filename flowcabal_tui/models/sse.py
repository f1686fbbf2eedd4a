"""Parses server-sent events from bytes that may be split anywhere."""

from __future__ import annotations

from typing import Final

LINE_LIMIT: Final = 4 * 2**20


class EventReader:
    """Collects lines into events: (name, payload); the payload of a comment (`: keep-alive`) is None."""

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._payload: list[bytes] = []

    def feed(self, piece: bytes, events: list[tuple[str, str | None]]) -> None:
        """Adds the events that `piece` completes.

        Raises ValueError on a line without end or on broken UTF-8; earlier events have been added.
        """
        if not piece:
            return
        whole = self._rest + piece if self._rest else piece
        lines = whole.splitlines()
        if whole.endswith(b"\n"):
            self._rest = b""
        else:  # a \r at the end may be half of \r\n
            self._rest = lines.pop() + (b"\r" if whole.endswith(b"\r") else b"")
        for line in lines:
            self._take(line, events)
        if len(self._rest) > LINE_LIMIT:
            raise ValueError("line without end")

    def end(self) -> list[tuple[str, str | None]]:
        """The remaining events after the end of the stream: the last one may lack its empty line."""
        events: list[tuple[str, str | None]] = []
        self._take(self._rest.rstrip(b"\r\n"), events)
        self._rest = b""
        if self._payload:
            self._take(b"", events)
        return events

    def _take(self, line: bytes, events: list[tuple[str, str | None]]) -> None:
        if not line:
            if self._payload:
                events.append((self._name, str(b"\n".join(self._payload), "utf-8")))
                self._payload = []
            self._name = ""
        elif line.startswith(b"data:"):
            self._payload.append(line[6:] if line[5:6] == b" " else line[5:])
        elif line.startswith(b":"):
            events.append(("", None))
        elif line.startswith(b"event:"):
            self._name = str(line[6:].strip(), "utf-8")
