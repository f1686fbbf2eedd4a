"""Export from the screen: the book, a chapter or a range, to a file or to the clipboard."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from textual.screen import Screen

from flowcabal_tui.domain.comments import CommentFilter
from flowcabal_tui.domain.errors import SettingsError
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.late_pattern import late
from flowcabal_tui.domain.manuscript import Chapter
from flowcabal_tui.domain.platforms import Platform
from flowcabal_tui.domain.value_class import dataclass
from flowcabal_tui.locale import _, ngettext
from flowcabal_tui.manuscript.writer import EXPORT_FORMATS
from flowcabal_tui.project.project import Project
from flowcabal_tui.tui.shared.form import Field, FormScreen, Typed, Unreadable
from flowcabal_tui.tui.shared.typed_path import typed_path
from flowcabal_tui.tui.widgets.clipboard import CopyText
from flowcabal_tui.tui.widgets.confirm import ConfirmScreen

_LAST: Final = "export"
"""Under this key: the form, the chapters ("this" or "all") and the destination of the last export."""
_RANGE: Final = late(r"(?P<first>[0-9]{0,7})\s*(?P<to>\.\.|[-–—~～至到]|)\s*(?P<last>[0-9]{0,7})")


@dataclass(frozen=True, slots=True)
class _Export:
    """The values of the form. `path` None: to the clipboard; `chapters` (): all."""

    form: str
    chapters: tuple[ChapterId, ...]
    path: Path | None
    comments: bool

    @property
    def goes_to(self) -> str:
        """ "file" or "clipboard"."""
        return "clipboard" if self.path is None else "file"


class BookExport:
    """Asks for the options of an export, and carries it out."""

    def __init__(self, screen: Screen[Any], project: Project) -> None:
        self._screen, self._project = screen, project

    async def ask(self, chapters: Sequence[Chapter], open_one: Chapter | None) -> _Export | None:
        """Asks for the options; None when the writer leaves the form."""
        try:
            platforms = await self._project.book.platforms()
        except SettingsError as error:  # the other forms need no profile
            platforms = ()
            self._screen.notify(f"{error.title} {error.advice}", severity="warning", markup=False)
        comments = len(await self._project.revision.comments(CommentFilter()))
        last = (await self._project.drafts.draft(_LAST) or "").split("\n")
        fields = _fields(platforms, open_one, comments, last)
        info, names = self._project.info, frozenset(each.id for each in platforms)

        def read(typed: Typed) -> _Export:
            form, to_clipboard = typed.text("form"), typed.text("to") == "clipboard"
            if to_clipboard and form not in names:
                raise Unreadable(_("Only the layout of a platform can be copied. Choose one, or a file."))
            path = None if to_clipboard else typed_path(typed.text("file") or str(info.path / info.path.name))
            if path is not None and not path.suffix:
                path = path.with_suffix(".txt" if form in names else f".{form}")
            wanted = _chapters(typed, chapters, open_one)
            taken = form in EXPORT_FORMATS and EXPORT_FORMATS[form].takes_comments
            with_comments = comments > 0 and taken and typed.tick("comments")
            return _Export(form, wanted, path, with_comments)

        form = FormScreen(_("Export"), fields, read)
        choice: _Export | None = await self._screen.app.push_screen_wait(form)
        if choice is not None and not self._project.info.read_only:
            which = "this" if open_one is not None and choice.chapters == (open_one.id,) else "all"
            await self._project.drafts.put_draft(_LAST, "\n".join((choice.form, which, choice.goes_to)))
        return choice

    async def write(self, export: _Export) -> None:
        """Writes or copies the export. Problems that a platform may have with it are reported but do not stop it."""
        book = self._project.book
        if (path := export.path) is not None and await asyncio.to_thread(path.exists):
            title = _("Replace {path}?").format(path=path)
            words = _("A file with this name exists. It will be overwritten.")
            if not await self._screen.app.push_screen_wait(ConfirmScreen(title, words)):
                return
        if export.form not in EXPORT_FORMATS:
            laid = await book.lay_out(export.form, export.chapters, path)
            for line in laid.report[:-1]:
                self._screen.notify(line, severity="warning", markup=False)
            self._screen.notify(laid.report[-1], markup=False)
            if path is None:
                self._screen.post_message(CopyText(laid.text))
        elif path is not None:
            path = await book.export(path, export.form, export.chapters, comments=export.comments)
        if path is not None:
            self._screen.notify(_("Written: {path}").format(path=path), markup=False)


def _fields(platforms: Sequence[Platform], open_one: Chapter | None, comments: int, last: Sequence[str]) -> list[Field]:
    """The fields of the form; the `last` choices are selected if they still exist."""
    forms = [*((form, form) for form in EXPORT_FORMATS), *((each.id, each.name) for each in platforms)]
    which = [("all", _("all chapters")), ("range", _("the chapters of the next row"))]
    goes = (("file", _("a file")), ("clipboard", _("the clipboard")))
    if open_one is not None:
        which.insert(1, ("this", f"{open_one.position} {open_one.title}"))
    fields = [
        Field("form", _("Format or platform"), _chosen(forms, last), choices=tuple(forms)),
        Field("which", _("Chapters"), _chosen(which, last), choices=tuple(which)),
        Field("range", _("From, to"), "", _("as 12 or 3..7")),
        Field("to", _("Destination"), _chosen(goes, last), choices=goes),
        Field("file", _("File"), "", _("empty: in the folder of the project"), path=True),
    ]
    if comments:
        words = ngettext("With the {n} open comment", "With the {n} open comments", comments).format(n=comments)
        fields.append(Field("comments", words, False))
    return fields


def _chosen(choices: Sequence[tuple[str, str]], last: Sequence[str]) -> str:
    """The choice that was taken last, or the first."""
    return next((key for key, _words in choices if key in last), choices[0][0])


def _chapters(typed: Typed, chapters: Sequence[Chapter], open_one: Chapter | None) -> tuple[ChapterId, ...]:
    match typed.text("which"):
        case "this" if open_one is not None:
            found = [open_one]
        case "range":
            found = _between(typed.text("range"), chapters)
        case _:
            return ()
    if not any(each.digest for each in found):
        raise Unreadable(_("There is no text in these chapters yet."))
    return tuple(each.id for each in found)


def _between(words: str, chapters: Sequence[Chapter]) -> list[Chapter]:
    """The chapters of `7`, `7..9`, `7..` or `..9`. Raises Unreadable."""
    found = _RANGE.fullmatch(words)
    if found is None or not (found["first"] or found["last"]):
        raise Unreadable(_("{text} is not a range of chapters: write 7, 7..9, 7.. or ..9.").format(text=words or "“”"))
    first = int(found["first"] or 1)
    last = int(found["last"] or (len(chapters) if found["to"] else first))
    inside = [each for each in chapters if first <= each.position <= last]
    if not inside:
        raise Unreadable(_("The book has {n} chapters.").format(n=len(chapters)))
    return inside
