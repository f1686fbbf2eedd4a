"""Records the texts that were sent to the knowledge server, so that no text is sent twice."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.domain.ids import ChapterId, Digest
from flowcabal_tui.locale import _
from flowcabal_tui.system.files import write_whole
from flowcabal_tui.viking.layout import VERSION

MANIFEST: Final = "manifest.jsonl"


@dataclass(frozen=True, slots=True)
class Record:
    """One directory of the tree. `files` maps each file's name to the digest of its text.

    `subject` identifies its subject, whatever its place (`manuscript/<chapter id>`, the uri of a resource); `source` is
    the digest of the request that it fulfils; `position` is the chapter position of the text; `scenes` are the offsets
    of `scene-001.md` and so on.
    """

    subject: str
    position: int
    files: dict[str, Digest]
    scenes: tuple[tuple[int, int], ...] = ()
    source: str = ""

    @property
    def chapter(self) -> ChapterId | None:
        """The chapter with this text; None for everything else."""
        root, _slash, rest = self.subject.partition("/")
        return ChapterId(rest) if root == "manuscript" else None

    @property
    def place(self) -> ChapterId | None:
        """The chapter that gives the text its place in story order: its own, or the one where the records begin."""
        root, _slash, rest = self.subject.partition("/")
        return ChapterId(rest) if root in ("manuscript", "story") else None


@dataclass(frozen=True, slots=True)
class Head:
    """The properties shared by all records of a manifest: the tree's root and form, the book's language, and the
    embedder, since vectors of two embedders cannot be compared."""

    root: str
    language: str
    embedder: str
    layout: int = VERSION


class Manifest:
    """Path -> Record, in memory and as JSON lines on disk: a change is one appended line.

    The first line is `head`; records of another head are dropped, and `former` is that head. Querying the server
    instead would cost a call per file. A line damaged by a crash causes one directory to be written again.
    """

    def __init__(self, path: Path, head: Head) -> None:
        self._path, self._head = path, {"head": asdict(head)}
        self._records: dict[str, Record] = {}
        self.former: Head | None = None
        lines: list[str] = []
        with contextlib.suppress(FileNotFoundError):
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        if lines and _parsed(lines[0]) != self._head:
            self.former, lines = head_of(lines[0]), []
            self._rewrite()
        for line in lines[1:]:
            self._replay(line)
        torn = bool(lines) and not lines[-1].endswith("\n")  # lines appended to it would be lost too
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
        """Records that `record` is completely written."""
        self._records[path] = record
        self._append({"path": path, **asdict(record)})

    def forget(self, path: str) -> None:
        """Drops the record of `path`; called before the directory is changed."""
        if self._records.pop(path, None) is not None:
            self._append({"path": path})

    def text(self) -> str:
        """The manifest in the form of its file."""
        lines = (self._head, *({"path": path, **asdict(record)} for path, record in self))
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)

    def take(self, text: str) -> None:
        """Replaces all records by those of another manifest's `text`."""
        self._records = {}
        for line in text.splitlines()[1:]:
            self._replay(line)
        self._rewrite()

    def _replay(self, line: str) -> None:
        fields = _parsed(line)
        path = fields.pop("path", "")
        self._records.pop(path, None)
        try:
            if fields:
                fields["scenes"] = tuple((start, end) for start, end in fields["scenes"])
                self._records[path] = Record(**fields)
        except (ValueError, KeyError, TypeError):
            return

    def _append(self, fields: dict[str, object]) -> None:
        if not self._path.exists():  # the first line, or the folder was taken from under us
            self._rewrite()
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")

    def _rewrite(self) -> None:
        write_whole(self._path, self.text().encode())


def empty_if_other(workspace: Path, head: Head) -> str:
    """Empties a local server's workspace that was filled with another head; returns the reason for the user ("":
    nothing was emptied).

    The server itself cannot change the length of its vectors, and would compare those of two models.
    """
    former = None
    with contextlib.suppress(FileNotFoundError):
        former = head_of((workspace / MANIFEST).read_text(encoding="utf-8", errors="replace"))
    if former == head or not workspace.exists():
        return ""
    shutil.rmtree(workspace, ignore_errors=True)
    if former is None or former.embedder != head.embedder:
        return _("everything is indexed again for the embedding model {name}").format(name=head.embedder)
    return _("everything is indexed again")


def head_of(text: str) -> Head | None:
    """The head of a manifest's text; None if it cannot be read."""
    try:
        return Head(**_parsed(text.partition("\n")[0])["head"])
    except (KeyError, TypeError):
        return None


def _parsed(line: str) -> dict[str, Any]:
    """The fields of a line; {} when the line is incomplete."""
    try:
        fields = json.loads(line)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}
