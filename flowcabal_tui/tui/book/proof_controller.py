"""Proofing on the screen: the list on request, and hints in the editor while typing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from textual.screen import Screen

from flowcabal_tui.domain.errors import HelperFailed
from flowcabal_tui.domain.ids import ChapterId
from flowcabal_tui.domain.proofing import ProofedChapter, ProofMark, ProofRule
from flowcabal_tui.domain.search import TextPlace
from flowcabal_tui.locale import _
from flowcabal_tui.project.project import Project
from flowcabal_tui.project.proof_words import RULES, proof_words
from flowcabal_tui.protocol.book import ReplaceText, SwitchProofRule
from flowcabal_tui.tui.book.controller import BookController
from flowcabal_tui.tui.book.manuscript import ManuscriptPane
from flowcabal_tui.tui.shared.subscriptions import on_request
from flowcabal_tui.tui.shared.trouble import attempt


class ProofController:
    """Asks the engine for the marks of the rules."""

    def __init__(self, screen: Screen[Any], project: Project, book: BookController) -> None:
        self._screen, self._project, self._book = screen, project, book

    def follow_editor(self) -> None:
        """Shows hints as soon as the editor opens."""
        self._screen.watch(self._screen.query_one(ManuscriptPane), "face", self._face_changed, init=False)

    def _face_changed(self, face: str) -> None:
        if face == "edit":
            attempt(self._screen, self._hint(), group="hints", exclusive=True)

    @on_request(ManuscriptPane.DraftEdited)
    def typed(self, chapter: ChapterId, text: str | None, base: int | None) -> None:
        """Updates the hints after typing has stopped."""
        if self._screen.query_one(ManuscriptPane).face == "edit":
            attempt(self._screen, self._hint(), group="hints", exclusive=True)

    async def _hint(self) -> None:
        area = self._screen.query_one(ManuscriptPane).area
        text = area.text
        marks: tuple[ProofMark, ...] = ()
        with suppress(HelperFailed):  # hints are no reason to stop anybody
            marks = await self._project.book.proof_text(text)
        if area.text == text:  # what was typed meanwhile is proofed when typing stops
            area.show_hints((mark.start, mark.end, proof_words(mark)) for mark in marks)

    @property
    def has_unsaved(self) -> bool:
        """True when any chapter has unsaved text."""
        return bool(self._book.drafts.chapters)

    async def proof(self, *, whole: bool, repeats: bool) -> tuple[ProofedChapter, ...]:
        """The marks in the open chapter, or in the `whole` book."""
        chapter = self._book.chapter
        chapters = () if whole or chapter is None else (chapter.id,)
        found = await self._project.book.proof(chapters)
        if not repeats:
            return found
        again = {each.chapter: each for each in await self._project.book.proof(chapters, ("repeats",))}
        return tuple(_together(each, again[each.chapter]) for each in found if each.chapter in again)

    async def text_of(self, chapter: ProofedChapter) -> str:
        """The newest saved text of a chapter."""
        return await self._project.book.chapter_text(chapter.chapter)

    async def apply(self, chapter: ProofedChapter, found: ProofMark) -> bool:
        """Inserts the proposed words, unless the chapter has unsaved text; returns True when they were inserted."""
        if chapter.chapter in self._book.drafts.chapters:
            words = _("The chapter has unsaved text: Enter opens the place in the editor.")
            self._screen.notify(words, severity="warning", markup=False)
            return False
        place = TextPlace(chapter.chapter, chapter.version, found.start)
        await self._project.carry_out(ReplaceText(found.words, found.suggestion, (place,)))
        return True

    async def rules_off(self) -> tuple[ProofRule, ...]:
        """The rules that were switched off in this book."""
        return await self._project.book.proof_rules_off()

    async def switch(self, rule: ProofRule, *, on: bool) -> None:
        """Switches a rule on or off for this book."""
        await self._project.carry_out(SwitchProofRule(rule, on=on))
        words = _("Switched on for this book: {rule}.") if on else _("Switched off for this book: {rule}.")
        self._screen.notify(words.format(rule=_(RULES[rule])), markup=False)


def _together(one: ProofedChapter, other: ProofedChapter) -> ProofedChapter:
    """Two lists of marks of one chapter as one, in the order of the text."""
    marks = {*zip(one.marks, one.around, strict=True), *zip(other.marks, other.around, strict=True)}
    ordered = sorted(marks, key=lambda each: (each[0].start, each[0].end, each[0].rule))
    return ProofedChapter(
        one.chapter, one.position, one.title, one.version,
        tuple(mark for mark, _around in ordered), tuple(around for _mark, around in ordered),
    )  # fmt: skip
