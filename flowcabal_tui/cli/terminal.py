"""All output of the command line: removes control sequences, so that no text can command the terminal.

Titles, settings, rows and model text may come from a stranger. `domain.text.clean` removes control sequences,
bidirectional overrides and invisible marks; in JSON they are escaped, so that nothing is lost.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterable
from io import TextIOWrapper
from types import TracebackType
from typing import Any, Final, TextIO

from flowcabal_tui.domain.codec import to_plain
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.text import clean, clean_line

_HARMFUL: Final = late("[\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]")
"""Control characters that JSON allows in a string and a terminal may obey; JSON escapes those below U+0020."""
_BACK_TO_START: Final = "\r\x1b[K"


def accept_any_encoding() -> None:
    """Prints "?" for a character that the encoding of the terminal or of the receiver lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def say(*words: object, sep: str = " ", end: str = "\n", file: TextIO | None = None, flush: bool = False) -> None:
    """Prints like `print`, by default to standard output."""
    print(clean(sep.join(map(str, words)) + end), end="", file=file, flush=flush)


def say_row(cells: Iterable[object], file: TextIO | None = None) -> None:
    """Prints one line of a table: cells separated by tabs, without line breaks."""
    say("\t".join(clean_line(str(cell)) for cell in cells), file=file)


def say_rows(rows: Iterable[Iterable[object]]) -> None:
    """Prints the lines of a table."""
    for row in rows:
        say_row(row)


def say_json(value: Any, *, indent: int | None = None, file: TextIO | None = None, flush: bool = False) -> None:
    """Prints a JSON value; in an encoding that may lack characters it is ASCII, so that nothing is lost."""
    is_unicode = (getattr(file or sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    text = json_text(value, indent=indent) if is_unicode else json.dumps(value, indent=indent)
    say(text, file=file, flush=flush)


def json_text(value: Any, *, indent: int | None = None) -> str:
    """JSON in which every control character of a terminal is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say_list(values: Iterable[object], rows: Iterable[Iterable[object]], *, as_json: bool) -> None:
    """Prints the values as JSON, or the lines of a table."""
    if as_json:
        say_json([to_plain(value) for value in values], indent=2)
    else:
        say_rows(rows)


def say_over(words: str, file: TextIO | None = None) -> None:
    """Replaces the last printed line of a terminal; "" only removes it."""
    print(_BACK_TO_START + clean_line(words), end="", file=file, flush=True)


def give_bytes(content: bytes) -> None:
    """Writes binary content to standard output. Refuses a terminal."""
    sys.stdout.buffer.write(content)


def say_trace(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Replacement for `sys.excepthook` with cleaned text, since the message of an error may contain a stranger's
    words."""
    say("".join(traceback.format_exception(kind, error, trace)), end="", file=sys.stderr)
