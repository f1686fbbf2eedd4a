"""Text functions: digests, counting, and removal of hostile characters."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable
from itertools import accumulate, pairwise
from typing import Any, Final

from flowcabal_tui.domain.ids import Digest
from flowcabal_tui.domain.late_pattern import late

_ESCAPES: Final = late(
    r"\x1b\][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[PX^_][^\x1b\x9c]*(?:\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]"
)
_CONTROLS: Final = late(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb]"
)
_LINE_ENDS: Final = late("[\t\n\u2028\u2029]+")
_SURROGATES: Final = late("[\ud800-\udfff]")
_HAN: Final = late(r"[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_WORD: Final = late(r"[A-Za-z0-9\u00c0-\u024f]+(?:['’\-][A-Za-z0-9\u00c0-\u024f]+)*")
_NO_BLANK: Final = late("(?<=[。！？；…”’」』]) (?=[“‘「『《]*[\u4e00-\u9fff])")
_UNSAFE_NAME: Final = late(r"[^\w\-]+", re.UNICODE)
_QUOTATION_MARKS: Final = frozenset('"\u201c\u201d\u2018\u300c\u300d\u300e\u300f')
_LOGIN: Final = late(r"(?<=//)[^/?#]*@")
NOT_SHORT: Final = r"(?<!\b[A-HJ-Z])(?<!\b[DMS][rt])(?<!\b(?:Mrs|Mme|Col|Gen|Rev|Hon))(?<!\bCapt|\bProf)"
"""Before a full stop: excludes titles and initials, which do not end a sentence. Tested only at a full stop, which
saves time."""


FACTS_APART: Final = "   "
"""Separates facts on one line."""


def digest(text: str) -> Digest:
    """blake2b-128 of the UTF-8 bytes, in hexadecimal."""
    return Digest(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest())


def digest_of(value: Any) -> Digest:
    """The digest of a JSON value in canonical form (sorted keys, no spaces)."""
    return digest(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def without_login(url: str) -> str:
    """An address that is safe to log: without a login, and without the query after the ?."""
    return re.split("[?#]", _LOGIN.sub("", url), maxsplit=1)[0]


def clean(text: str) -> str:
    """`text` without terminal control sequences, bidirectional overrides and invisible marks.

    Line ends become `\\n`; tabs stay; a lone surrogate becomes U+FFFD. Applied to all text that comes from a model or a
    file before it is stored, so offsets into stored text are offsets into what is shown.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", _ESCAPES.sub("", text)))


def clean_value(value: Any, cleaned: Callable[[str], str] = clean) -> Any:
    """A JSON value with all its texts and keys cleaned: escapes such as `\\u001b` appear only after parsing."""
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, list):
        return [clean_value(each, cleaned) for each in value]
    if isinstance(value, dict):
        return {cleaned(key): clean_value(each, cleaned) for key, each in value.items()}
    return value


def clean_line(text: str) -> str:
    """A title or a name: `clean`, on one line, without blanks around it. Wide spaces inside it stay."""
    return _LINE_ENDS.sub(" ", clean(text)).strip()


def unbroken(text: str) -> str:
    """The text on one line: a blank for all white space, but none between Chinese sentences."""
    return _NO_BLANK.sub("", " ".join(text.split()))


def slug(name: str, *, fallback: str = "untitled", limit: int = 60) -> str:
    """A name that is safe as one part of a path: letters and digits of any script, `-` and `_`.

    Never empty, never `.` or `..`, at most `limit` characters and 200 UTF-8 bytes.
    """
    safe = _UNSAFE_NAME.sub("-", unicodedata.normalize("NFC", clean(name))).strip("-_")[:limit].strip("-_")
    while len(safe.encode()) > 200:
        safe = safe[:-1]
    return safe or fallback


def lowered(text: str) -> str:
    """The text in lower case, every character at its place: a letter that would become two stays as it is."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(one if len(one := each.lower()) == 1 else each for each in text)


def han_count(text: str) -> int:
    """Chinese characters in `text`, punctuation not counted."""
    return len(_HAN.findall(text))


def foreign_words(text: str) -> int:
    """Words in Latin letters, and numbers."""
    return len(_WORD.findall(text))


def word_count(text: str) -> int:
    """The length in a writer's terms: Chinese characters and foreign words together."""
    return han_count(text) + foreign_words(text)


def says_same(one: str, other: str) -> bool:
    """True when two texts differ only in punctuation and blanks. Quotation marks show who speaks, so they count."""
    return _letters(one) == _letters(other)


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum() or char in _QUOTATION_MARKS)


def span_of_letters(text: str, words: str) -> tuple[int, int] | None:
    """The span of the text that has the same letters as `words`, regardless of other characters between them."""
    places = [at for at, char in enumerate(text) if char.isalnum()]
    wanted = "".join(char for char in words if char.isalnum())
    found = "".join(text[at] for at in places).find(wanted) if wanted else -1
    return None if found < 0 else (places[found], places[found + len(wanted) - 1] + 1)


def shared_start(one: str, other: str) -> int:
    """The length of the beginning that both have."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def line_spans(text: str) -> list[tuple[int, int]]:
    """The spans of the lines that are not blank, with their line ends."""
    ends = accumulate(map(len, text.splitlines(keepends=True)), initial=0)
    return [(start, end) for start, end in pairwise(ends) if not text[start:end].isspace()]


def line_around(text: str, start: int, end: int | None = None) -> tuple[int, int]:
    """The start of the line with the character at `start`, and the end of the one at `end` (default: the same)."""
    last = text.find("\n", start if end is None else end)
    return text.rfind("\n", 0, start) + 1, last if last >= 0 else len(text)


def nearest(text: str, words: str, start: int) -> int:
    """The occurrence of the words nearest to an earlier place; -1: none."""
    if text.startswith(words, start):
        return start
    before, after = text.rfind(words, 0, start + len(words)), text.find(words, start)
    if before < 0 or after < 0:
        return max(before, after)
    return before if start - before <= after - start else after
