"""Bytes of a text file to text, for the encodings that novels come in."""

from __future__ import annotations

import re
from typing import Final

from flowcabal_tui.domain.errors import ManuscriptError
from flowcabal_tui.locale import _

_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_SAMPLE: Final = 1 << 16
_LOST_AT_MOST: Final = 0.002
_COMMON: Final = frozenset(
    "的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还"
    "发成事只作当想看文无开手十用主行方又如前所本见经头面起同三已老从动两长把点知问什给话身走见水风门眼听回声叫夜雪山城江船灯字笔"
    "這個來說們為時會著過學對裡後麼沒於還發當開無見經頭動兩長點問給話門聽聲書燈筆從樣東歲"
    "，。！？：；、“”‘’「」『』《》（）…—\u3000"
)
_ISOLATED: Final = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_HIGH: Final = re.compile(rb"[\x80-\xff]")


def decode(data: bytes, name: str) -> tuple[str, str]:
    """The text and the name of its encoding.

    Raises ManuscriptError when `data` is empty, is no text, or its encoding cannot be told; `name` is
    the file's name for that message.
    """
    if not data.strip():
        raise ManuscriptError(_("The file is empty: {name}").format(name=name), "", _("Choose another file."))
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data.decode(encoding, "replace"), encoding.removesuffix("-sig")
    if wide := _utf16_without_bom(data):
        return data.decode(wide, "replace"), wide
    if b"\0" in data:
        raise ManuscriptError(
            _("This is not a text file: {name}").format(name=name),
            _("It holds bytes that no text has."),
            _("Save the novel as TXT, Markdown, DOCX or EPUB and import that."),
        )
    if (text := _tolerant(data, "utf-8")) is not None:
        return text, "utf-8"
    return _legacy(data, name)


def _tolerant(data: bytes, encoding: str) -> str | None:
    """Decoded, when at most two in a thousand characters beyond ASCII are damaged."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
    beyond = sum(1 for c in text if c > "\x7f")
    return text if text.count("\ufffd") <= beyond * _LOST_AT_MOST else None


def _likeness(text: str) -> float:
    """Share of the characters beyond ASCII that are common in Chinese prose."""
    beyond = [c for c in text if c > "\x7f"]
    return sum(c in _COMMON for c in beyond) / len(beyond) if beyond else 0.0


def _utf16_without_bom(data: bytes) -> str | None:
    """Every second byte of a line end is zero, and the reading looks like prose."""
    if len(data) % 2 or len(data) < 4:
        return None
    sample = data[:_SAMPLE]
    zeros = (sample[0::2].count(0), sample[1::2].count(0))
    for encoding, here, there in (("utf-16-le", zeros[1], zeros[0]), ("utf-16-be", zeros[0], zeros[1])):
        try:
            text = sample.decode(encoding)
        except UnicodeDecodeError:
            continue
        if (here * 4 > len(sample) and not there) or (
            _likeness(text) > 0.2 and all(c >= " " or c in "\r\n\t" for c in text)
        ):
            return encoding
    return None


def _legacy(data: bytes, name: str) -> tuple[str, str]:
    """GB18030 or Big5 by the share of common characters, which also tells in short files; then the rest."""
    high = len(_HIGH.findall(data[:_SAMPLE]))
    isolated = len(_ISOLATED.findall(data[:_SAMPLE]))
    if isolated * 2 > high:
        return data.decode("cp1252", "replace"), "cp1252"
    readings = [(text, e) for e in ("gb18030", "big5hkscs") if (text := _tolerant(data, e)) is not None]
    best = max(readings, key=lambda reading: _likeness(reading[0][:_SAMPLE]), default=None)
    if best and _likeness(best[0][:_SAMPLE]) > 0.15:
        return best
    from charset_normalizer import from_bytes

    guess = from_bytes(data).best()
    if guess is not None:
        return str(guess), guess.encoding
    raise ManuscriptError(
        _("The encoding of this file cannot be told: {name}").format(name=name),
        _("It is not UTF-8, UTF-16, GB18030, Big5 or another known one."),
        _("Open it in a text editor, save it as UTF-8, and import that."),
    )
