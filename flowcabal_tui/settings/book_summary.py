"""Summaries of books for the start page: one small file for each book in the user's state folder, written while the
book is open.

The start page never opens a project: it reads these files, and examines at most whether a folder, its `flowcabal.toml`
and its lock exist.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final, Literal

from flowcabal_tui.domain.text import clean, digest
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.settings import paths
from flowcabal_tui.settings.file_text import read_toml
from flowcabal_tui.system.files import Folder, open_own, write_whole

FORM: Final = "flowcabal-book/1"
"""A file with another form is ignored."""
_LARGEST: Final = 64 * 1024
_LARGEST_TOML: Final = 4 * 1024 * 1024
_HELD_BY_OTHERS: Final = (errno.EACCES, errno.EAGAIN)
LOCK: Final = "lock"

BookState = Literal["there", "open", "missing", "damaged"]
"""open: another program has the book open for writing; damaged: its `flowcabal.toml` cannot be read."""


@dataclass(frozen=True, slots=True)
class BookSummary:
    """The state of a book when it was last edited.

    `length` and `today` are characters (Chinese) or words; `today` counts for the writing day `day` (ISO) only, which
    begins at the hour `day_begins`. `chapter` is the id of the open chapter, `place` the character of its text at the
    cursor, `is_editing`: in the editor.
    `decisions`, `findings` and `proposals` wait for the writer; `unsaved` counts chapters.
    """

    name: str
    language: str = ""
    length: int = 0
    chapters: int = 0
    chapter: str = ""
    position: int = 0
    title: str = ""
    place: int = 0
    is_editing: bool = False
    day: str = ""
    day_begins: int = 0
    today: int = 0
    goal: int = 0
    decisions: int = 0
    findings: int = 0
    proposals: int = 0
    unsaved: int = 0
    seen_at: str = ""
    """ISO time."""


def summary_file(folder: Path) -> Path:
    """The file with the summary of the book in a folder."""
    return paths.state_folder() / "books" / f"{digest(str(folder.resolve()))}.json"


def read_summary(folder: Path) -> BookSummary | None:
    """The summary of the book in a folder; None if there is none or it is damaged. Its texts are not cleaned."""
    file = summary_file(folder)
    try:
        text = Folder(file.parent).text(file.name, limit=_LARGEST)
        kept = json.loads(text)
        summary = _checked(kept["summary"])
        is_its_own = (kept["form"], kept["path"]) == (FORM, str(folder.resolve()))
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return summary if is_its_own else None


def _checked(values: dict[str, object]) -> BookSummary:
    """The summary in a file's values, validated without pydantic. Raises ValueError, LookupError or TypeError."""
    known = {item.name: item.type for item in fields(BookSummary) if item.name in values}
    if wrong := [name for name, kind in known.items() if type(values[name]).__name__ != kind]:
        raise ValueError(wrong)
    given: dict[str, Any] = {name: values[name] for name in known}
    return BookSummary(**given)


def keep_summary(folder: Path, summary: BookSummary) -> None:
    """Replaces the summary of a book. Raises OSError."""
    kept = {"form": FORM, "path": str(folder.resolve()), "summary": asdict(summary)}
    write_whole(summary_file(folder), json.dumps(kept, ensure_ascii=False, indent=0).encode())


def forget_summary(folder: Path) -> None:
    """Deletes the summary, if there is one; the book is not changed."""
    with suppress(OSError):
        summary_file(folder).unlink(missing_ok=True)


def book_name(folder: Path) -> str:
    """The name that a book's `flowcabal.toml` gives it; "" for none. Raises OSError or ValueError."""
    table = read_toml(Folder(folder).text(paths.PROJECT_FILE, limit=_LARGEST_TOML)).get("project")
    return clean(str(table.get("name", ""))) if isinstance(table, dict) else ""


def book_state(folder: Path) -> BookState:
    """The state of a book without opening it. Changes nothing."""
    try:
        book_name(folder)
    except (FileNotFoundError, NotADirectoryError):
        return "missing"
    except (OSError, ValueError):
        return "damaged"
    return "open" if _is_locked(folder / paths.PROJECT_STATE / LOCK) else "there"


def _is_locked(path: Path) -> bool:
    """True when another process holds the POSIX lock on this file. False when this process holds it."""
    try:
        file = open_own(path, os.O_RDONLY, owner=path.parent.stat().st_uid)
    except OSError:
        return False
    try:
        fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _HELD_BY_OTHERS
    finally:
        os.close(file)
    return False
