"""Decodes the bytes of a text file in the usual encodings of novels."""

from __future__ import annotations

from typing import Final

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.manuscript import ImportReport
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _
from flowcabal_tui.manuscript.words import word_table

_BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_CHINESE: Final = ("gb18030", "big5hkscs")
_KNOWN: Final = frozenset(("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", *_CHINESE))
_AND: Final = " + "
_SAMPLE: Final = 1 << 16
_LOST_AT_MOST: Final = 0.002
_LEAST_MIXED: Final = 0.02
_LIKE_PROSE: Final = 0.2
_COMMON: Final = frozenset(word_table("characters")["common"])
_ISOLATED: Final = late(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_HIGH: Final = late(rb"[\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text, its encoding, and a warning about the encoding ("": none)."""

    text: str
    encoding: str
    warning: str = ""
    report: ImportReport = ImportReport()


def decode(data: bytes, name: str) -> Decoded:
    """Converts bytes to text, with a warning when the encoding is a guess, is mixed, or characters are damaged.

    Raises ManuscriptError when `data` is empty or not text, or its encoding cannot be determined; `name` is the file's
    name for that message and for the warning.
    """
    if not data.strip():
        raise ManuscriptError(_("The file is empty: {name}").format(name=name), "", _("Choose another file."))
    text, encoding = _read(data, name)
    damaged, words = text.count("\ufffd"), ""
    line = 1 + text[: max(0, text.find("\ufffd"))].count("\n")
    if encoding in _KNOWN and damaged:
        words = _("{name}: {n} characters are damaged and appear as �, the first in line {line}.")
    elif _AND in encoding:
        words = _("{name}: its lines are in more than one encoding ({encoding}).")
    elif encoding not in _KNOWN:
        words = _("{name}: the encoding is a guess ({encoding}); check that the text reads well.")
    return Decoded(text, encoding, words.format(name=name, n=damaged, line=line, encoding=encoding))


def _read(data: bytes, name: str) -> tuple[str, str]:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace"), encoding.removesuffix("-sig")
    if wide := _wide_without_bom(data):
        return data.decode(wide, "replace"), wide
    if b"\0" in data:
        raise ManuscriptError(
            _("This is not a text file: {name}").format(name=name),
            _("It contains bytes that cannot occur in text."),
            _("Save the novel as TXT, Markdown, DOCX or EPUB and import that."),
        )
    if (text := _tolerant(data, "utf-8")) is not None:
        return text, "utf-8"
    return _mixed(data) or _legacy(data, name)


def _mixed(data: bytes) -> tuple[str, str] | None:
    """The text when its lines are in two encodings, as in a file that was joined from others; else None.

    Both kinds must read like Chinese prose, since a short line of one encoding may be one of the other by accident.
    """
    lines = data.split(b"\n")
    others = [line for line in lines if not _is_utf8(line)]
    unicode_lines = b"\n".join(line for line in lines if not line.isascii() and _is_utf8(line))
    if min(len(unicode_lines), sum(map(len, others))) < len(data) * _LEAST_MIXED:
        return None
    likeness, encoding = max((_likeness(b"\n".join(others).decode(e, "replace")), e) for e in _CHINESE)
    if min(likeness, _likeness(unicode_lines.decode())) < _LIKE_PROSE:
        return None
    text = "\n".join(line.decode("utf-8" if _is_utf8(line) else encoding, "replace") for line in lines)
    return text, f"utf-8{_AND}{encoding}"


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _is_utf8(line: bytes) -> bool:
    return _strict(line, "utf-8") is not None


def _tolerant(data: bytes, encoding: str) -> str | None:
    """Decoded, when at most two in a thousand characters beyond ASCII are damaged."""
    if (whole := _strict(data, encoding)) is not None:
        return whole
    text = data.decode(encoding, "replace")
    beyond = sum(1 for c in text if c > "\x7f")
    return text if text.count("\ufffd") <= beyond * _LOST_AT_MOST else None


def _likeness(text: str) -> float:
    """Share of the characters beyond ASCII that are common in Chinese prose."""
    beyond = [c for c in text if c > "\x7f"]
    return sum(c in _COMMON for c in beyond) / len(beyond) if beyond else 0.0


def _wide_without_bom(data: bytes) -> str | None:
    """UTF-32, if it can be; UTF-16, if every second byte of many is zero, or the text looks like prose."""
    sample = data[:_SAMPLE]
    for encoding in ("utf-32-le", "utf-32-be") if len(data) % 4 == 0 else ():
        if _strict(sample, encoding) is not None:
            return encoding
    if len(data) % 2 or len(data) < 4:
        return None
    zeros = (sample[0::2].count(0), sample[1::2].count(0))
    for encoding, here, there in (("utf-16-le", zeros[1], zeros[0]), ("utf-16-be", zeros[0], zeros[1])):
        text = _strict(sample, encoding)
        if text is None:
            continue
        is_prose = _likeness(text) > _LIKE_PROSE and all(c >= " " or c in "\r\n\t" for c in text)
        if (here * 4 > len(sample) and not there) or is_prose:
            return encoding
    return None


def _legacy(data: bytes, name: str) -> tuple[str, str]:
    """GB18030 or Big5 by the share of common characters, which works for short files too; then the other encodings."""
    high = len(_HIGH.findall(data[:_SAMPLE]))
    isolated = len(_ISOLATED.findall(data[:_SAMPLE]))
    if isolated * 2 > high:
        return data.decode("cp1252", "replace"), "cp1252"
    readings = [(text, e) for e in _CHINESE if (text := _tolerant(data, e)) is not None]
    best = max(readings, key=lambda reading: _likeness(reading[0][:_SAMPLE]), default=None)
    if best and _likeness(best[0][:_SAMPLE]) > 0.15:
        return best
    from charset_normalizer import from_bytes

    guess = from_bytes(data).best()
    if guess is not None:
        return str(guess), guess.encoding
    raise ManuscriptError(
        _("The encoding of this file cannot be determined: {name}").format(name=name),
        _("It is not in UTF-8, UTF-16, GB18030, Big5 or another known encoding."),
        _("Open it in a text editor, save it as UTF-8, and import that."),
    )
