"""Rows of planted contradictions: the input of a checker for each, and the place of a draft inside a chapter."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, Field, ValidationError

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.domain.os_errors import os_reason
from flowcabal_tui.locale import _

_MOST_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CheckRow:
    """The input of a checker, without the row's labels. `draft` None: the true chapter `now` is the draft."""

    id: str
    language: str
    novel: str
    now: int
    draft: str | None


@dataclass(frozen=True, slots=True)
class Checked:
    """The text that is checked for a row; the row's own draft extends from `start` to `end`."""

    text: str
    start: int
    end: int

    def own(self, start: int, end: int) -> tuple[int, int] | None:
        """A place of the text as offsets in the row's draft; None for a place outside it."""
        first, last = max(start, self.start), min(end, self.end)
        return (first - self.start, last - self.start) if first < last else None


class _Line(BaseModel, strict=True, extra="ignore"):
    """A line of the file. Only these fields are read; `span` only to check it."""

    id: str = Field(min_length=1)
    lang: Literal["zh", "en"]
    novel: str
    now: int = Field(ge=1)
    kind: str = ""
    draft: str | None = None
    span: list[int] | None = None


def read_rows(file: Path, novels: Path) -> tuple[CheckRow, ...]:
    """The rows of a file, or of all `.jsonl` files of a folder. Raises ManuscriptError naming the file and the line."""
    try:
        counts = {each.name: len(list(each.glob("*.txt"))) for each in novels.iterdir() if each.is_dir()}
        files = sorted(file.rglob("*.jsonl")) if file.is_dir() else [file]
        texts = {each: _bounded(each) for each in files}
    except OSError as error:
        where = Path(error.filename or file).name
        raise ManuscriptError(_("Cannot read {file}.").format(file=where), os_reason(error)) from error
    rows: dict[str, CheckRow] = {}
    for each, body in texts.items():
        for number, line in _lines(body):
            place = f"{each.name}:{number}"
            row = _row(line, counts, place)
            if row.id in rows:
                raise _wrong(place, _("the id {id} occurs twice").format(id=row.id))
            rows[row.id] = row
    if not rows:
        raise ManuscriptError(_("There are no rows in {file}.").format(file=file.name))
    return tuple(rows.values())


def checked(row: CheckRow, chapter: str, *, inside: bool) -> Checked:
    """The draft alone, the chapter for a clean row, or, with `inside`, the chapter with the draft as a paragraph after
    half of its lines."""
    if row.draft is None:
        return Checked(chapter, 0, len(chapter))
    if not inside:
        return Checked(row.draft, 0, len(row.draft))
    lines = chapter.split("\n")
    before = "".join(f"{line}\n" for line in lines[: len(lines) // 2])
    rest = "".join(f"\n{line}" for line in lines[len(lines) // 2 :])
    return Checked(before + row.draft + rest, len(before), len(before) + len(row.draft))


def _bounded(file: Path) -> bytes:
    if file.stat().st_size > _MOST_BYTES:
        raise ManuscriptError(_("{file} is too large.").format(file=file.name))
    return file.read_bytes()


def _lines(body: bytes) -> Iterator[tuple[int, bytes]]:
    return ((number, line) for number, line in enumerate(body.split(b"\n"), 1) if line.strip())


def _row(line: bytes, chapters: dict[str, int], place: str) -> CheckRow:
    """Reads a row; `chapters` maps novels to their numbers of chapters."""
    try:
        value: Any = json.loads(line.decode("utf-8"))
        read = _Line.model_validate(value)
    except ValidationError as error:
        (first, *_rest) = error.errors()
        raise _wrong(place, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise _wrong(place, _("this is not a JSON object")) from error
    if read.novel not in chapters:
        raise _wrong(place, _("there is no novel {name}").format(name=read.novel))
    if read.now > chapters[read.novel]:
        raise _wrong(place, _("{name} has {n} chapters").format(name=read.novel, n=chapters[read.novel]))
    is_clean = read.kind == "clean"
    if not is_clean and not (read.draft or "").strip():
        raise _wrong(place, _("there is no draft"))
    if read.span is not None and not _is_within(read.span, read.draft or ""):
        raise _wrong(place, _("the span is outside the draft"))
    return CheckRow(read.id, read.lang, read.novel, read.now, None if is_clean else read.draft)


def _is_within(span: list[int], draft: str) -> bool:
    return len(span) == 2 and 0 <= span[0] < span[1] <= len(draft)


def _wrong(place: str, why: str) -> ManuscriptError:
    return ManuscriptError(_("This row cannot be used: {place}").format(place=place), why)
