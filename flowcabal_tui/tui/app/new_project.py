"""The form for a new project: name, folder, language, and a manuscript if there is one."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from flowcabal_tui.domain.text import slug
from flowcabal_tui.locale import _, mark
from flowcabal_tui.tui.shared.lists import PickList
from flowcabal_tui.tui.shared.trouble import attempt, attempted
from flowcabal_tui.tui.shared.typed_path import PathSuggester, typed_path
from flowcabal_tui.tui.widgets.typed_screen import TypedScreen

BOOK_LANGUAGES = (("zh", "中文"), ("en", "English"))


@dataclass(frozen=True, slots=True)
class NewProject:
    """The answers of the form. `manuscript` is a file or folder to import, or None."""

    name: str
    folder: Path
    language: str
    manuscript: Path | None = None


class NewProjectScreen(TypedScreen[NewProject]):
    """A form from top to bottom; Enter continues, Ctrl+s creates the project."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", mark("Cancel"), id="new.cancel"),
        Binding("ctrl+s,f2", "make", mark("Create"), id="new.create", priority=True),
    ]

    def __init__(self, parent: Path, language: str, *, manuscript: bool = False) -> None:
        """`parent` is the proposed location of the folder; with `manuscript` the form also asks for a file."""
        super().__init__()
        self._parent_folder, self._wants_manuscript = parent, manuscript
        self._book_language = "zh" if language.startswith("zh") else "en"
        self._folder_typed = self._language_chosen = False
        self._manuscript_read: Path | None = None

    def compose(self) -> ComposeResult:
        """Yields name, folder, language."""
        with VerticalScroll(classes="dialog"):
            yield Static(_("New project"), markup=False, classes="dialog-title")
            if self._wants_manuscript:
                yield Static(_("Manuscript (a file or folder: txt, md, docx, epub)"), markup=False)
                yield Input(id="new-manuscript", suggester=PathSuggester())
            yield Static(_("Name of the book"), markup=False)
            yield Input(id="new-name")
            yield Static(_("Folder"), markup=False)
            yield Input(
                str(self._parent_folder / slug("", fallback=_("novel"))), id="new-folder", suggester=PathSuggester()
            )
            yield Static(_("Language of the book"), markup=False)
            languages = PickList(id="new-language")
            languages.add_options(Option(words, id=code) for code, words in BOOK_LANGUAGES)
            yield languages
            yield Static("", markup=False, id="new-trouble")
            keys = _("Tab: next field   Right: complete   Ctrl+s: create   Esc: cancel")
            yield Static(keys, markup=False, classes="dialog-keys")

    def on_mount(self) -> None:
        """Focuses the first field and proposes the language of the screen."""
        languages = self.query_one("#new-language", OptionList)
        languages.highlighted = [code for code, _words in BOOK_LANGUAGES].index(self._book_language)
        self.query(Input).first().focus()

    @on(Input.Changed, "#new-name")
    def propose_folder(self, event: Input.Changed) -> None:
        """Derives the folder from the name until the writer types one."""
        folder = self.query_one("#new-folder", Input)
        if not (self._folder_typed or folder.has_focus):
            with folder.prevent(Input.Changed):
                folder.value = str(self._parent_folder / slug(event.value, fallback=_("novel")))

    @on(Input.Changed, "#new-folder")
    def own_folder(self, event: Input.Changed) -> None:
        """Stops deriving the folder, because the writer typed one."""
        if self.query_one("#new-folder", Input).has_focus:
            self._folder_typed = True

    @on(Input.Submitted)
    def go_on(self) -> None:
        """Goes to the next field on Enter."""
        self.focus_next()

    @on(Input.Blurred, "#new-manuscript")
    def look_into_manuscript(self) -> None:
        """Sets the language of the book to that of the manuscript, unless the writer chooses another."""
        attempt(self, self._follow_language(), group="language", exclusive=True)

    async def _follow_language(self) -> None:
        path, languages = self._manuscript(), self.query_one("#new-language", OptionList)
        if path is None or path == self._manuscript_read or self._language_chosen:
            return
        from flowcabal_tui.manuscript.reader import language_at  # the form is there sooner without

        language, self._manuscript_read = await asyncio.to_thread(language_at, path), path
        codes = [code for code, _words in BOOK_LANGUAGES]
        if language in codes and not self._language_chosen:
            languages.highlighted = codes.index(language)

    @on(OptionList.OptionHighlighted, "#new-language")
    def own_language(self, event: OptionList.OptionHighlighted) -> None:
        """Stops deriving the language, because the writer chose one."""
        self._language_chosen = self._language_chosen or event.option_list.has_focus

    @on(OptionList.OptionSelected, "#new-language")
    def choose_language(self) -> None:
        """Submits the form on Enter in the language field."""
        self.action_make()

    @attempted(group="make", exclusive=True)
    async def action_make(self) -> None:
        """Validates the form as far as possible here and returns it."""
        await self._follow_language()
        name = self.query_one("#new-name", Input).value.strip()
        folder = self.query_one("#new-folder", Input).value.strip()
        manuscript = self._manuscript()
        if self._wants_manuscript and (manuscript is None or not os.path.exists(manuscript)):
            self._complain(_("There is no such file."), "#new-manuscript")
        elif not (name or manuscript):
            self._complain(_("The book needs a name."), "#new-name")
        elif not folder:
            self._complain(_("The project needs a folder."), "#new-folder")
        else:
            chosen = self.query_one("#new-language", OptionList).highlighted or 0
            name = name or (manuscript.stem if manuscript else "")
            self.dismiss(NewProject(name, typed_path(folder), BOOK_LANGUAGES[chosen][0], manuscript))

    def _manuscript(self) -> Path | None:
        if not self._wants_manuscript:
            return None
        typed = self.query_one("#new-manuscript", Input).value.strip()
        return typed_path(typed) if typed else None

    def _complain(self, words: str, field: str) -> None:
        self.query_one("#new-trouble", Static).update(f"! {words}")
        self.query_one(field, Input).focus()
