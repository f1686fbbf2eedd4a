"""Profiles of platforms: built-in ones beside this module, the user's in the folder `platforms` of the settings."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.lengths import text_length
from flowcabal_tui.domain.manuscript import ImportedChapter
from flowcabal_tui.domain.platforms import Platform, PlatformExport
from flowcabal_tui.domain.text import clean, clean_line, slug
from flowcabal_tui.headings.rules import title_words
from flowcabal_tui.headings.scenes import break_line
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.manuscript.blocks import paragraphs
from flowcabal_tui.manuscript.chapters import named
from flowcabal_tui.proofing.marks import DASH, ELLIPSIS, half_width_marks
from flowcabal_tui.settings.file_text import read_toml

_FIELDS: Final = {field.name: field for field in fields(Platform)}
_CORNER: Final = str.maketrans("“”‘’", "「」『』")
_CURLY: Final = str.maketrans("「」『』", "“”‘’")
_EMPTY: Final = re.compile(r"（\s*）|\(\s*\)|【\s*】|\[\s*\]")


def load_platforms(own: Path | None = None) -> dict[str, Platform]:
    """The profiles by id, which is the name of the file; the user's replace built-in ones. Raises SettingsError."""
    found: dict[str, Platform] = {}
    for folder in (Path(__file__).parent, own):
        for path in sorted(folder.glob("*.toml")) if folder and folder.is_dir() else ():
            found[path.stem] = _read(path)
    return found


def _read(path: Path) -> Platform:
    try:
        values: dict[str, Any] = read_toml(path.read_text(encoding="utf-8"))
        unknown = sorted(values.keys() - _FIELDS.keys() | values.keys() & {"id"})
        wrong = [name for name, value in values.items() if name in _FIELDS and not _fits(name, value)]
        if unknown or wrong:
            raise ValueError(_("not understood: {names}").format(names=_(", ").join((*unknown, *wrong))))
        return Platform(id=slug(path.stem), **values)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValueError, TypeError) as error:
        title = _("The profile of a platform cannot be read: {file}").format(file=path.name)
        raise SettingsError(title, str(error), _("Correct the file: {path}").format(path=path)) from error


def _fits(name: str, value: object) -> bool:
    default = _FIELDS[name].default
    choices = {"title": ("numbered", "bare", "none"), "quotes": ("", "curly", "corner"),
               "counting": ("plain", "word", "platform")}  # fmt: skip
    kind = str if not isinstance(default, bool | int) else type(default)
    return type(value) is kind and (name not in choices or value in choices[name])


def laid_out(platform: Platform, chapters: Sequence[ImportedChapter]) -> PlatformExport:
    """The chapters as one text in the layout of a platform, with a report that blocks nothing."""
    parts = [_chapter(platform, chapter) for chapter in chapters]
    return PlatformExport("\n\n\n".join(parts) + "\n", len(parts), tuple(_report(platform, chapters)))


def _chapter(platform: Platform, chapter: ImportedChapter) -> str:
    title = clean_line(chapter.title)
    title = (title_words(title) or title) if platform.title == "bare" else title
    between = "\n" * (platform.blank_lines + 1)
    body = between.join(_paragraph(platform, each) for each in paragraphs(clean(chapter.text)))
    return body if platform.title == "none" else f"{title}{between}{body}"


def _paragraph(platform: Platform, words: str) -> str:
    if found := break_line(words):
        return f"{platform.scene_break} {found[1]}" if platform.scene_titles and found[1] else platform.scene_break
    if platform.full_width:
        words = DASH.sub("——", ELLIPSIS.sub("……", words))
        for at, full in half_width_marks(words):
            words = f"{words[:at]}{full}{words[at + 1 :]}"
    if platform.quotes:
        words = _paired(words).translate(_CORNER if platform.quotes == "corner" else _CURLY)
    return f"{platform.indent}{words.strip()}"


def _paired(words: str) -> str:
    """Straight quotes as “ and ” in turn, where their number is even."""
    if words.count('"') % 2:
        return words
    pieces = words.split('"')
    return "".join(
        piece + ("" if at == len(pieces) - 1 else "“" if at % 2 == 0 else "”") for at, piece in enumerate(pieces)
    )


def _report(platform: Platform, chapters: Sequence[ImportedChapter]) -> Iterator[str]:
    chinese = platform.language.startswith("zh")
    lengths = [text_length(chapter.text).count(platform.counting, chinese=chinese) for chapter in chapters]
    titles = [chapter.title for chapter in chapters]
    twice = [title for title, count in Counter(titles).items() if count > 1]
    pairs = list(zip(titles, lengths, strict=True))
    most = platform.most or max(lengths, default=0)
    for words, found in (
        (_("shorter than {n}").format(n=f"{platform.least:,}"), [t for t, n in pairs if n < platform.least]),
        (_("longer than {n}").format(n=f"{platform.most:,}"), [t for t, n in pairs if n > most]),
        (_("title longer than {n}").format(n=platform.longest_title),
         [t for t in titles if platform.longest_title and len(t) > platform.longest_title]),
        (_("the same title twice"), twice),
        (_("a paragraph longer than {n}").format(n=platform.longest_paragraph),
         [c.title for c in chapters if platform.longest_paragraph and _longest(c.text) > platform.longest_paragraph]),
        (_("empty brackets"), [c.title for c in chapters if _EMPTY.search(c.text)]),
        (_("unpaired straight quotes"), [c.title for c in chapters if platform.quotes and _odd_quotes(c.text)]),
    ):  # fmt: skip
        if found:
            yield _("{kind}: {words}").format(kind=words, words=named([clean_line(title) for title in found]))
    total = ngettext("{n} chapter", "{n} chapters", len(chapters)).format(n=len(chapters))
    known = _("as known on {date}; check the site").format(date=platform.known)
    count = sum(lengths)
    length = (
        ngettext("{count} character", "{count} characters", count) if chinese
        else ngettext("{count} word", "{count} words", count)
    )  # fmt: skip
    words = _("{name}: {chapters}, {length} ({known})")
    yield words.format(name=platform.name, chapters=total, length=length.format(count=f"{count:,}"), known=known)


def _longest(text: str) -> int:
    return max(map(len, text.split("\n")))


def _odd_quotes(text: str) -> bool:
    return any(line.count('"') % 2 for line in text.split("\n"))
