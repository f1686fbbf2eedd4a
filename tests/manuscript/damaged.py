"""Files that do harm or are broken, made by code: the same bytes every time, and none of them large on disk."""

from __future__ import annotations

import io
import random
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.manuscript.packages import W, docx, epub, xhtml

PARAGRAPH = "<w:p><w:r><w:t>他推开门，雪落了一地。</w:t></w:r></w:p>"
PAGE = "<body><h1>第一章 雪</h1><p>他推开门，雪落了一地。</p></body>"
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
)


def good(folder: Path, suffix: str) -> bytes:
    """A file of that kind that is read without trouble."""
    file = folder / f"good{suffix}"
    if suffix == ".docx":
        table = f"<w:tbl><w:tr><w:tc>{PARAGRAPH}</w:tc></w:tr></w:tbl>"
        docx(file, (PARAGRAPH + table) * 20, parts={"styles": "", "numbering": "", "comments": "", "footnotes": ""})
    else:
        contents = "".join(f'<li><a href="{n}.xhtml">第{n}章</a></li>' for n in "12")
        pages = {f"{n}.xhtml": PAGE for n in "12"}
        epub(file, pages, nav=f'<nav epub:type="toc"><ol>{contents}</ol></nav>')
    return file.read_bytes()


def _with(data: bytes, parts: dict[str, bytes | str], **changes: object) -> bytes:
    """The archive with some parts replaced or added; `changes` are set on every entry's description."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in parts:
                new.writestr(name, old.read(name))
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            for key, value in changes.items():
                setattr(entry, key, value)
            new.writestr(entry, content)
    return out.getvalue()


def _document(body: str, head: str = "") -> str:
    return f'<?xml version="1.0"?>{head}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'


def _word(body: str | Callable[[], str], head: str = "") -> Callable[[bytes], bytes]:
    """A large body is a function, so that it exists only while it is needed."""
    return lambda data: _with(data, {"word/document.xml": _document(body if isinstance(body, str) else body(), head)})


def _spread(count: int, piece: Callable[[random.Random], str]) -> str:
    """Many pieces that are not all alike, so that they do not shrink to nothing."""
    numbers = random.Random(15)
    some = [piece(numbers) for _n in range(5_000)]
    return "".join(numbers.choice(some) for _n in range(count))


def _flagged(data: bytes) -> bytes:
    """Every entry says that it is encrypted."""
    changed = bytearray(data)
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = -1
        while (place := data.find(mark, place + 1)) >= 0:
            changed[place + at] |= 1
    return bytes(changed)


def _lying(data: bytes) -> bytes:
    """A part of 3 MB that says that it has 100 bytes."""
    big = _with(data, {"word/document.xml": _document(PARAGRAPH * 40_000)})
    changed = bytearray(big)
    place = big.rfind(b"PK\x01\x02", 0, big.rfind(b"word/document.xml"))
    struct.pack_into("<I", changed, place + 24, 100)
    return bytes(changed)


def _broken_sum(data: bytes) -> bytes:
    changed = bytearray(data)
    place = -1
    while (place := data.find(b"PK\x01\x02", place + 1)) >= 0:
        changed[place + 16] ^= 0xFF
    return bytes(changed)


def _deep(tag: str, depth: int) -> str:
    return f"<w:{tag}>" * depth + f"</w:{tag}>" * depth


def _table(depth: int) -> str:
    return "<w:tbl><w:tr><w:tc>" * depth + PARAGRAPH + "</w:tc></w:tr></w:tbl>" * depth


def _attributes(numbers: random.Random) -> str:
    return f'<w:p a="{numbers.randrange(10**6)}" b="{numbers.randrange(10**6)}"/>'


DOCX: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda _data: b"",
    "empty-archive": lambda _data: b"PK\x05\x06" + bytes(18),
    "text": lambda _data: "第一章 雪\n他推开门。".encode(),
    "old-word-or-password": lambda _data: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000),
    "truncated": lambda data: data[: len(data) // 2],
    "no-directory": lambda data: data[:-40],
    "bad-sums": _broken_sum,
    "encrypted": _flagged,
    "lying-size": _lying,
    "absolute-name": lambda data: _with(data, {"/etc/passwd": "x"}),
    "drive": lambda data: _with(data, {"C:\\x": "x"}),
    "parent-name": lambda data: _with(data, {"word/../../x": "x"}),
    "backslashes": lambda data: _with(data, {"word\\..\\..\\x": "x"}),
    "link": lambda data: _with(data, {"word/x": "/etc/passwd"}, external_attr=(stat.S_IFLNK | 0o777) << 16),
    "bzip2": lambda data: _with(data, {"word/x": "x" * 999}, compress_type=zipfile.ZIP_BZIP2),
    "lzma": lambda data: _with(data, {"word/x": "x" * 999}, compress_type=zipfile.ZIP_LZMA),
    "many-entries": lambda data: _with(data, {f"word/{n}": "" for n in range(10_001)}),
    "long-directory": lambda data: _with(data, {f"word/{'x' * 60_000}{n}": "" for n in range(80)}),
    "doctype": _word(PARAGRAPH, "<!DOCTYPE x>"),
    "entity-bomb": _word("<w:p><w:r><w:t>&j;</w:t></w:r></w:p>", f"{BOMB}]>"),
    "external-entity": _word(
        "<w:p><w:r><w:t>&e;</w:t></w:r></w:p>", '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    ),
    "doctype-in-styles": lambda data: _with(data, {"word/styles.xml": f"{BOMB}]><x>&j;</x>"}),
    "bomb-100-mb": _word(lambda: f"<w:p><w:r><w:t>{'雪' * 35_000_000}</w:t></w:r></w:p>"),
    "three-million-paragraphs": _word(lambda: "<w:p/>" * 3_000_000),
    "three-million-paragraphs-that-hardly-shrink": _word(lambda: _spread(2_200_000, _attributes)),
    "one-paragraph-of-megabytes": _word(
        lambda: "<w:p>" + _spread(400_000, lambda numbers: f"<w:r><w:t>{numbers.random()}</w:t></w:r>") + "</w:p>"
    ),
    "row-of-paragraphs": _word(lambda: "<w:tbl><w:tr><w:tc>" + _spread(60_000, _attributes) + "</w:tc></w:tr></w:tbl>"),
    "tables-500-deep": _word(_table(500)),
    "controls-500-deep": _word(_deep("sdt", 500)),
    "runs-500-deep": _word(f"<w:p>{_deep('ins', 500)}</w:p>"),
    "not-closed": _word("<w:p><w:r>"),
    "not-xml": lambda data: _with(data, {"word/document.xml": bytes(range(256)) * 40}),
    "unknown-encoding": lambda data: _with(
        data, {"word/document.xml": f'<?xml version="1.0" encoding="utf-7"?><w:document xmlns:w="{W}"/>'}
    ),
    "surrogate": lambda data: _with(
        data, {"word/document.xml": _document("<w:p><w:r><w:t>").encode() + b"\xed\xa0\x80" + b"</w:t></w:r></w:p>"}
    ),
    "spreadsheet": lambda data: _with(
        data,
        {
            "[Content_Types].xml": '<Types><Override PartName="/word/document.xml" ContentType="application/'
            'vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
        },
    ),
    "no-content-types": lambda data: data.replace(b"[Content_Types].xml", b"[Kontent_Types].xml"),
    "no-relations": lambda data: data.replace(b"_rels/.rels", b"_rels/.rals"),
    "no-text": _word(""),
    "only-deleted": _word("<w:p><w:del><w:r><w:delText>x</w:delText></w:r></w:del></w:p>"),
}
"""What to do to a good file. All of them end in a ManuscriptError."""


def _page(content: str | Callable[[], str]) -> Callable[[bytes], bytes]:
    def made(data: bytes) -> bytes:
        text = content if isinstance(content, str) else content()
        return _with(data, {"OPS/1.xhtml": text, "OPS/2.xhtml": text})

    return made


EPUB: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda _data: b"",
    "empty-archive": lambda _data: b"PK\x05\x06" + bytes(18),
    "truncated": lambda data: data[: len(data) // 2],
    "bad-sums": _broken_sum,
    "encrypted": _flagged,
    "no-container": lambda data: data.replace(b"META-INF/container.xml", b"META-INF/kontainer.xml"),
    "no-package": lambda data: data.replace(b"OPS/book.opf", b"OPS/buch.opf"),
    "package-with-doctype": lambda data: _with(data, {"OPS/book.opf": f"{BOMB}]><package>&j;</package>"}),
    "no-spine": lambda data: _with(data, {"OPS/book.opf": "<package><manifest/></package>"}),
    "entity-bomb": _page(f"<?xml version='1.0'?>{BOMB}]><html><body><p>&j;</p></body></html>"),
    "external-entity": _page(
        "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><html><body>&e;</body></html>"
    ),
    "bomb-100-mb": _page(lambda: xhtml("<body><p>" + "雪" * 35_000_000 + "</p></body>")),
    "too-many-elements": _page(
        lambda: xhtml("<body>" + _spread(1_100_000, lambda numbers: f"<i>{numbers.randrange(10**6)}</i>") + "</body>")
    ),
    "attributes": _page(
        lambda: xhtml("<body>" + _spread(400_000, lambda n: f'<i a="{n.random()}" b="{n.random()}"/>') + "</body>")
    ),
    "pictures-only": _page(xhtml("<body><img src='a.png' alt=''/></body>")),
}


LARGE = frozenset(
    [
        "bomb-100-mb",
        "entity-bomb",
        "three-million-paragraphs",
        "three-million-paragraphs-that-hardly-shrink",
        "one-paragraph-of-megabytes",
        "row-of-paragraphs",
        "tables-500-deep",
        "too-many-elements",
        "attributes",
    ]
)
"""Those that took too much time or memory before there were limits."""


def mutations(data: bytes, count: int) -> Iterator[bytes]:
    """The bytes with pieces cut off, overwritten, doubled or taken out; always the same ones."""
    for seed in range(count):
        numbers = random.Random(seed)
        changed = bytearray(data)
        for _change in range(numbers.randint(1, 8)):
            at, length = numbers.randrange(len(changed) + 1), numbers.randint(1, 64)
            match numbers.randrange(4):
                case 0:
                    del changed[at : at + length]
                case 1:
                    changed[at : at + length] = numbers.randbytes(length)
                case 2:
                    changed[at:at] = changed[at : at + length]
                case _:
                    changed = changed[: max(at, 30)]
        yield bytes(changed)
