"""What the knowledge server has been given, so that nothing is written twice."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from flowcabal_tui.domain.ids import Digest


@dataclass(frozen=True, slots=True)
class Record:
    """One directory of the tree. `files` maps each file's name to the digest of its text.

    `subject` is a chapter id (then `chapter` is True) or a resource's kind and identity; `position` is
    the chapter position that the text is from; `scenes` are the offsets of `scene-001.md` and so on.
    """

    subject: str
    chapter: bool
    position: int
    files: dict[str, Digest]
    scenes: tuple[tuple[int, int], ...] = ()


class Manifest:
    """Path -> Record, in memory and as JSON lines on disk: a change is one appended line.

    Asking the server instead would cost a call a file. A line that a crash tore is one directory written
    again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._records: dict[str, Record] = {}
        lines: list[str] = []
        with contextlib.suppress(FileNotFoundError):
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        for line in lines:
            self._replay(line)
        torn = bool(lines) and not lines[-1].endswith("\n")  # what is appended to it would be lost too
        if torn or len(lines) > 2 * len(self._records) + 100:
            self._rewrite()

    def __iter__(self) -> Iterator[tuple[str, Record]]:
        return iter(sorted(self._records.items()))

    def get(self, path: str) -> Record | None:
        """The record of the directory at `path`."""
        return self._records.get(path)

    def paths_of(self, subject: str) -> list[str]:
        """Every directory of a subject: two while a renamed chapter moves."""
        return [path for path, record in self if record.subject == subject]

    def put(self, path: str, record: Record) -> None:
        """Remembers that `record` is all there."""
        self._records[path] = record
        self._append({"path": path, **asdict(record)})

    def forget(self, path: str) -> None:
        """From here on nothing is known about `path`: called before it is changed."""
        if self._records.pop(path, None) is not None:
            self._append({"path": path})

    def _replay(self, line: str) -> None:
        try:
            fields = json.loads(line)
            path = fields.pop("path")
            self._records.pop(path, None)
            if fields:
                fields["scenes"] = tuple((start, end) for start, end in fields["scenes"])
                self._records[path] = Record(**fields)
        except (ValueError, KeyError, TypeError, AttributeError):
            return

    def _append(self, fields: dict[str, object]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")

    def _rewrite(self) -> None:
        whole = self._path.with_suffix(".new")
        lines = (json.dumps({"path": path, **asdict(record)}, ensure_ascii=False) + "\n" for path, record in self)
        whole.write_text("".join(lines), encoding="utf-8")
        os.replace(whole, self._path)
