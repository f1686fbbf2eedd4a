"""Search in the whole book, and replacement in the manuscript."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.ids import Generation
from flowcabal_tui.domain.search import SearchHit, TextPlace
from flowcabal_tui.locale import _, ngettext, sentences
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.words import unsaved_words
from flowcabal_tui.protocol.book import ReplaceText, RevertChange
from flowcabal_tui.tui.shared.words import one_line
from flowcabal_tui.tui.widgets.prompt_line import PromptLine


class SearchController:
    """Finds and replaces. `query` and `last_hit` are the state in which the search was closed."""

    def __init__(self, screen: Screen[Any], project: Project) -> None:
        self._screen, self.project = screen, project
        self.query = ""
        self.last_hit: SearchHit | None = None
        self._replaced: Generation | None = None

    async def replace(self, words: str) -> None:
        """Asks for the replacement, shows every place, and replaces the chosen ones at once."""
        from flowcabal_tui.tui.book.replace import ReplaceScreen

        places = await self.project.book.occurrences(words)
        if not places:
            message = _("The manuscript does not contain {words} as whole words in exactly this spelling.")
            self._screen.notify(message.format(words=one_line(words)), markup=False)
            return
        title = _("Replace {words} with (empty: remove them)").format(words=one_line(words))
        by = await self._screen.app.push_screen_wait(PromptLine(title, value=words))
        if by is None or by == words:
            return
        unsaved = unsaved_words([chapter for chapter, _draft in await self.project.drafts.all()])
        note = sentences(unsaved, _("It is not searched and not changed: save it first.")) if unsaved else ""
        chosen = await self._screen.app.push_screen_wait(ReplaceScreen(words, by, places, self._text_of, note))
        if chosen:
            self._replaced = Generation(int(await self.project.carry_out(ReplaceText(words, by, chosen))))
            count = ngettext("Replaced at {n} place", "Replaced at {n} places", len(chosen)).format(n=len(chosen))
            message = _("{count}. Ctrl+z in the search undoes it.").format(count=count)
            self._screen.notify(sentences(message, await self._left(words)), markup=False)

    async def _left(self, words: str) -> str:
        """Where titles and listed names, which are not replaced, still contain the words; "" if nowhere."""
        from flowcabal_tui.project.book.matching import places

        def holding(texts: Iterable[str]) -> int:
            return sum(bool([*places(each, words, whole=True)]) for each in texts)

        titles = holding(chapter.title for chapter in await self.project.book.chapters())
        names = holding(name for entity in await self.project.story.entities() for name in entity.names)
        parts = [ngettext("{n} chapter title", "{n} chapter titles", titles).format(n=titles)] if titles else []
        parts += [ngettext("{n} listed name", "{n} listed names", names).format(n=names)] if names else []
        return _("The old words are still in {places}.").format(places=_(", ").join(parts)) if parts else ""

    async def _text_of(self, place: TextPlace) -> str:
        return await self.project.book.chapter_text(place.chapter, place.version)

    async def take_back(self) -> None:
        """Undoes the last replacement of this session in all chapters."""
        if self._replaced is None:
            self._screen.notify(_("Nothing was replaced since the project was opened."), markup=False)
            return
        await self.project.carry_out(RevertChange(self._replaced))
        self._replaced = None
        self._screen.notify(_("The replacement was undone."), markup=False)
